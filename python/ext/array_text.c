/* array_text.c: an array as text, for repr(): all elements if they are few, or else the ends of each dimension. */
#include <stdio.h>

#include "array.h"

enum { FEW = 1000, EDGE = 3 };

typedef struct text {
    const array *a;
    PyObject *parts; /* list of str */
    bool is_cut;
    int indent;
} text;

static int put(text *t, const char *part)
{
    PyObject *str = PyUnicode_FromString(part);
    int result = str ? PyList_Append(t->parts, str) : -1;
    Py_XDECREF(str);
    return result;
}

static int put_element(text *t, const char *at)
{
    char number[32];
    if (t->a->is_int)
        snprintf(number, sizeof number, "%d", (int)*(const int32_t *)(const void *)at);
    else
        snprintf(number, sizeof number, "%.5g", (double)*(const float *)(const void *)at);
    return put(t, number);
}

/* What stands between two items of dimension d. */
static int put_separator(text *t, int d)
{
    char line[32];
    if (d == t->a->ndim - 1)
        return put(t, ", ");
    snprintf(line, sizeof line, ",\n%*s", t->indent + d + 1, "");
    return put(t, line);
}

static int put_items(text *t, int d, const char *at)
{
    if (d == t->a->ndim)
        return put_element(t, at);
    const Py_ssize_t count = t->a->shape[d];
    if (put(t, "[") < 0)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i && put_separator(t, d) < 0)
            return -1;
        if (t->is_cut && count > 2 * EDGE && i == EDGE) {
            if (put(t, "...") < 0 || put_separator(t, d) < 0)
                return -1;
            i = count - EDGE;
        }
        if (put_items(t, d + 1, at + i * t->a->strides[d]) < 0)
            return -1;
    }
    return put(t, "]");
}

static PyObject *join(text *t)
{
    PyObject *nothing = PyUnicode_FromString(""), *joined = nothing ? PyUnicode_Join(nothing, t->parts) : NULL;
    Py_XDECREF(nothing);
    return joined;
}

/* The shape unless all elements are there, and the name. */
static PyObject *with_rest(PyObject *self, PyObject *type, const text *t, PyObject *elements)
{
    PyObject *shape = t->is_cut ? PyObject_GetAttrString(self, "shape") : Py_NewRef(Py_None), *result = NULL;
    if (!shape)
        return NULL;
    if (t->is_cut && t->a->name != Py_None)
        result = PyUnicode_FromFormat("%U(%U, shape=%R, name=%R)", type, elements, shape, t->a->name);
    else if (t->is_cut)
        result = PyUnicode_FromFormat("%U(%U, shape=%R)", type, elements, shape);
    else if (t->a->name != Py_None)
        result = PyUnicode_FromFormat("%U(%U, name=%R)", type, elements, t->a->name);
    else
        result = PyUnicode_FromFormat("%U(%U)", type, elements);
    Py_DECREF(shape);
    return result;
}

PyObject *array_repr(PyObject *self)
{
    text t = {.a = (array *)self, .parts = PyList_New(0)};
    PyObject *type = PyType_GetName(Py_TYPE(self)), *elements = NULL, *result = NULL;
    Py_ssize_t count = 1;
    for (int i = 0; i < t.a->ndim; i++)
        count *= t.a->shape[i];
    t.is_cut = count > FEW;
    t.indent = type ? (int)PyUnicode_GetLength(type) + 1 : 0;
    if (type && t.parts && put_items(&t, 0, t.a->data) == 0 && (elements = join(&t)))
        result = with_rest(self, type, &t, elements);
    Py_XDECREF(elements);
    Py_XDECREF(type);
    Py_XDECREF(t.parts);
    return result;
}
