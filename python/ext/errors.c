/* errors.c: the library's codes as exceptions. Each has the built-in parent that a Python program expects, and the message of
 * the library, word for word. */
#include <stdio.h>

#include "ext.h"

/* The parent of each code's exception; PyExc_* are no constants. */
static PyObject *parent_of(rapt_code code)
{
    switch (code) {
    case RAPT_ERR_MEMORY: return PyExc_MemoryError;
    case RAPT_ERR_IO: return PyExc_OSError;
    case RAPT_ERR_NOT_FOUND: return PyExc_FileNotFoundError;
    case RAPT_ERR_NOT_FINITE: return PyExc_ArithmeticError;
    case RAPT_ERR_FORMAT:
    case RAPT_ERR_SHAPE:
    case RAPT_ERR_VALUE: return PyExc_ValueError;
    default: return NULL;
    }
}

static const struct {
    const char *name, *doc;
} classes[] = {
    [RAPT_OK] = {"Error", "What rapt could not do. `code` is the library's word for the kind of failure."},
    [RAPT_ERR_MEMORY] = {"OutOfMemoryError", "There is not enough memory."},
    [RAPT_ERR_IO] = {"IOFailure", "A file could not be read or written."},
    [RAPT_ERR_FORMAT] = {"FormatError", "A file or a text is not what it should be."},
    [RAPT_ERR_SHAPE] = {"ShapeError", "The shapes of arrays do not fit each other."},
    [RAPT_ERR_VALUE] = {"InvalidValueError", "An option or a value is out of its range."},
    [RAPT_ERR_NOT_FOUND] = {"NotFoundError", "A file, or a name, does not exist."},
    [RAPT_ERR_NOT_FINITE] = {"NotFiniteError", "A computation gave a value that is not a finite number."},
    [RAPT_ERR_INTERRUPTED] = {"InterruptedRunError", "The call was cancelled."},
};

int ext_add_errors(PyObject *module, ext_state *s)
{
    for (rapt_code code = RAPT_OK; code <= RAPT_ERR_INTERRUPTED; code++) {
        char name[64];
        snprintf(name, sizeof name, "rapt.%s", classes[code].name);
        PyObject *parent = parent_of(code), *base = code == RAPT_OK ? PyExc_Exception : s->errors[RAPT_OK];
        PyObject *bases = parent ? PyTuple_Pack(2, base, parent) : PyTuple_Pack(1, base);
        PyObject *members = Py_BuildValue("{ss}", "code", rapt_code_name(code));
        s->errors[code] = bases && members ? PyErr_NewExceptionWithDoc(name, classes[code].doc, bases, members) : NULL;
        Py_XDECREF(bases);
        Py_XDECREF(members);
        if (!s->errors[code] || PyModule_AddObjectRef(module, classes[code].name, s->errors[code]) < 0)
            return -1;
    }
    return 0;
}

PyObject *ext_raise(const ext_state *s, const rapt_error *err)
{
    if (!PyErr_Occurred())
        PyErr_SetString(s->errors[err->code], err->message);
    return NULL;
}

PyObject *ext_wrong_type(const char *name, const char *expected, PyObject *got)
{
    PyObject *type = PyType_GetName(Py_TYPE(got));
    if (type)
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", name, expected, type);
    Py_XDECREF(type);
    return NULL;
}
