/* sine.c: sine and cosine of a number, the library's own: they have the same bits on every machine, which those of C libraries,
 * and so Python's, have not. Internal to the library, hence compiled from its source here (../CMakeLists.txt). */
#include <math.h>

#include "base/math.h"
#include "ext.h"

static PyObject *of_number(PyObject *number, double (*function)(double))
{
    const double x = PyFloat_AsDouble(number);
    if (PyErr_Occurred())
        return NULL;
    if (!(fabs(x) < 1e6)) /* the range of base/math.h */
        return ext_invalid("sine or cosine of %S: the argument is below a million", number);
    return PyFloat_FromDouble(function(x));
}

static PyObject *sine(PyObject *module, PyObject *x)
{
    (void)module;
    return of_number(x, math_sin);
}

static PyObject *cosine(PyObject *module, PyObject *x)
{
    (void)module;
    return of_number(x, math_cos);
}

PyMethodDef sine_functions[] = {{"sine", sine, METH_O, NULL}, {"cosine", cosine, METH_O, NULL}, {0}};
