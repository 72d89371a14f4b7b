/* texts.c: bytes, ids, and lists of numbers. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ext.h"

static int read_copy(PyObject *bytes, ext_bytes *out)
{
    *out = (ext_bytes){.data = PyBytes_AsString(bytes), .size = (size_t)PyBytes_Size(bytes), .text = bytes};
    return 0;
}

int ext_bytes_read(PyObject *data, const char *name, bool may_be_text, ext_bytes *out)
{
    *out = (ext_bytes){0};
    if (may_be_text && PyUnicode_Check(data)) {
        Py_ssize_t size;
        if (!(out->data = PyUnicode_AsUTF8AndSize(data, &size)))
            return -1;
        out->size = (size_t)size;
        out->text = Py_NewRef(data);
        return 0;
    }
    if (!PyObject_CheckBuffer(data)) {
        ext_wrong_type(name, may_be_text ? "a str or bytes" : "bytes", data);
        return -1;
    }
    if (PyObject_GetBuffer(data, &out->view, PyBUF_SIMPLE) < 0)
        return -1;
    if (!PyBytes_Check(data)) { // another thread could change it while the library reads it, once it has checked it
        PyObject *copy = PyBytes_FromStringAndSize(out->view.buf, out->view.len);
        PyBuffer_Release(&out->view);
        return copy ? read_copy(copy, out) : -1;
    }
    out->data = out->view.buf;
    out->size = (size_t)out->view.len;
    return 0;
}

void ext_bytes_free(ext_bytes *b)
{
    if (b->view.obj)
        PyBuffer_Release(&b->view);
    Py_XDECREF(b->text);
    *b = (ext_bytes){0};
}

int ext_id_read(PyObject *number, const char *name, int32_t *id)
{
    PyObject *index = ext_integer(number, name);
    if (!index)
        return -1;
    int overflow;
    long value = PyLong_AsLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || value < INT32_MIN || value > INT32_MAX) {
        ext_invalid("%s is out of range: %S", name, number);
        return -1;
    }
    *id = (int32_t)value;
    return 0;
}

/* The elements of a buffer, list or other iterable, but not of a text or of a dict's keys. */
static PyObject *ids_tuple(PyObject *ids, const char *name)
{
    if (PyUnicode_Check(ids) || PyBytes_Check(ids) || PyByteArray_Check(ids) || PyDict_Check(ids)) {
        ext_wrong_type(name, "a sequence of int", ids);
        return NULL;
    }
    if (!PyObject_CheckBuffer(ids))
        return PySequence_Tuple(ids);
    PyObject *view = PyMemoryView_FromObject(ids), *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
    PyObject *tuple = list ? PySequence_Tuple(list) : NULL;
    Py_XDECREF(view);
    Py_XDECREF(list);
    return tuple;
}

int ext_ids_read(PyObject *list, const char *name, ext_ids *out)
{
    *out = (ext_ids){0};
    PyObject *tuple = ids_tuple(list, name);
    if (!tuple)
        return -1;
    size_t count = (size_t)PyTuple_Size(tuple);
    if (!(out->ids = PyMem_Malloc((count + 1) * sizeof *out->ids))) {
        PyErr_NoMemory();
        goto failed;
    }
    for (size_t i = 0; i < count; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s[%zu]", name, i);
        if (ext_id_read(PyTuple_GetItem(tuple, (Py_ssize_t)i), place, &out->ids[i]) < 0)
            goto failed;
    }
    out->count = count;
    Py_DECREF(tuple);
    return 0;
failed:
    ext_ids_free(out);
    Py_DECREF(tuple);
    return -1;
}

void ext_ids_free(ext_ids *i)
{
    PyMem_Free(i->ids);
    *i = (ext_ids){0};
}

PyObject *ext_string(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *ext_ids_list(const int32_t *ids, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *id = PyLong_FromLong(ids[i]);
        if (!id || PyList_SetItem(list, (Py_ssize_t)i, id) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

PyObject *ext_doubles_list(const double *values, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}
