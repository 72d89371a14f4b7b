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

/* The elements as text, abbreviated if they are many. */
PyObject *array_repr(PyObject *self);
/* The elements as PyTorch prints them. */
PyObject *array_str(PyObject *self);
/* array_new for a type that is derived from it. */
PyObject *array_new_typed(PyTypeObject *type, const array_of *of, PyObject *owner);
void array_dealloc(PyObject *self);

/* Numbers that a Python object holds: an array of any kind (buffer protocol, or __array__), nested lists or tuples, or one
 * number, which has no dimensions. Copied to `data` (malloc'd): float32, or int32. */
typedef struct array_like {
    void *data;
    int ndim;
    size_t shape[RAPT_MAX_DIMS], count;
} array_like;
/* -1 with an exception set: TypeError (no numbers, or fractions or bools for integers), ValueError (lists of unequal lengths,
 * more than 4 dimensions, an integer out of range). */
int array_like_read(PyObject *o, const char *name, bool ints, array_like *out);
/* "[2, 3]"; returns `text`. */
char *array_like_shape(const array_like *a, char *text, size_t size);

#endif
