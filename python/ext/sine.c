/* sine.c: sine and cosine of a number by the library's own functions: the same bits on every machine. Sines of C libraries, which
 * Python uses, differ. The functions are internal to the library, so their source is compiled here, too (../CMakeLists.txt). */
#include <math.h>

#include "base/math.h"
#include "ext.h"

static PyObject *of_number(PyObject *number, double (*function)(double))
{
    const double x = PyFloat_AsDouble(number);
    if (PyErr_Occurred())
        return NULL;
    if (!(fabs(x) < 1e6)) /* the range of base/math.h */
        return ext_invalid("sine or cosine of %S: the argument must be a number below a million", number);
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
