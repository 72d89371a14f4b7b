/* array.h: the object behind rapt.Array, for the files that make and export it. */
#ifndef RAPT_PYTHON_ARRAY_H
#define RAPT_PYTHON_ARRAY_H

#include "ext.h"

typedef struct array {
    PyObject_HEAD
    char *data;
    int ndim;
    Py_ssize_t shape[RAPT_MAX_DIMS], strides[RAPT_MAX_DIMS]; /* strides in bytes */
    bool is_int, writable;
    PyObject *owner;        /* keeps `data` alive */
    PyObject *name, *axes;  /* str and tuple of str, or None and () */
} array;

/* array.__dlpack__ and array.__dlpack_device__. */
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);
/* An array with the same elements in memory of its own, without gaps. */
PyObject *array_copy(PyObject *self, PyObject *unused);

#endif
