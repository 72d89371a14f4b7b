/* array_text.c: an array as text. repr() has all elements if they are few, or else the ends of each dimension; str() is what
 * PyTorch prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#include "rapt/print.h"

enum { FEW = 1000, EDGE = 3, MOST_COLUMNS = 1000000 };

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

/* ---- as PyTorch prints ------------------------------------------------------------------------------------------ */

/* What set_printoptions has set; the interpreter's lock guards it. */
static rapt_tensor_text_options chosen;

static const rapt_tensor_text_options *chosen_options(void)
{
    if (!chosen.size)
        chosen = rapt_tensor_text_options_default();
    return &chosen;
}

/* The library's text without its newline and, if there are no dimensions, without the brackets: "tensor([3.])" is tensor(3.). */
static PyObject *printed(char *shown, bool has_dimensions)
{
    size_t size = strlen(shown) - 1;
    char *open = has_dimensions ? NULL : strchr(shown, '[');
    if (open) {
        memmove(open, open + 1, (size_t)(shown + size - open));
        size -= 2;
        shown[size - 1] = ')';
    }
    return PyUnicode_FromStringAndSize(shown, (Py_ssize_t)size);
}

PyObject *array_str(PyObject *self)
{
    const array *a = (const array *)self;
    rapt_error err = {0};
    array_like x;
    char *shown = NULL;
    if (a->is_int && a->ndim > 2)
        return array_repr(self);
    if (array_like_read(self, "array", a->is_int, &x) < 0)
        return NULL;
    const bool has_dimensions = x.ndim > 0;
    if (!has_dimensions)
        x.shape[x.ndim++] = 1;
    if (x.count == 0) {
        free(x.data);
        return array_repr(self);
    }
    if (a->is_int) {
        const rapt_tokens tokens = {.ids = x.data, .batch = x.ndim == 2 ? x.shape[0] : 0, .time = x.shape[x.ndim - 1]};
        shown = rapt_tokens_text(tokens, chosen_options(), &err);
    } else {
        rapt_tensor values = {.data = x.data, .ndim = x.ndim};
        memcpy(values.shape, x.shape, sizeof values.shape);
        shown = rapt_tensor_text(&values, chosen_options(), &err);
    }
    free(x.data);
    PyObject *result = shown ? printed(shown, has_dimensions) : ext_raise(ext_state_of(self), &err);
    free(shown);
    return result;
}

/* set_printoptions(precision, threshold, edgeitems, linewidth): each None, which leaves it, or an int that the library takes. */
static PyObject *set_printoptions(PyObject *module, PyObject *args)
{
    static const char *const names[] = {"precision", "threshold", "edgeitems", "linewidth"};
    rapt_tensor_text_options o = *chosen_options();
    size_t *const at[] = {&o.precision, &o.threshold, &o.edge_items, &o.line_width};
    PyObject *given[4];
    rapt_error err = {0};
    if (!PyArg_ParseTuple(args, "OOOO:set_printoptions", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    for (int i = 0; i < 4; i++) {
        if (given[i] == Py_None)
            continue;
        PyObject *integer = ext_integer(given[i], names[i]);
        if (!integer)
            return NULL;
        const Py_ssize_t value = PyLong_AsSsize_t(integer);
        Py_DECREF(integer);
        if (value < 0 || (i == 3 && value > MOST_COLUMNS)) {
            PyErr_Clear();
            ext_invalid("%s is out of range: %S", names[i], given[i]);
            return NULL;
        }
        *at[i] = (size_t)value;
    }
    rapt_real zero = 0;
    char *shown = rapt_tensor_text(&(rapt_tensor){.data = &zero, .ndim = 1, .shape = {1}}, &o, &err);
    if (!shown)
        return ext_raise(PyModule_GetState(module), &err);
    free(shown);
    chosen = o;
    Py_RETURN_NONE;
}

PyMethodDef array_text_functions[] = {{"set_printoptions", set_printoptions, METH_VARARGS, NULL}, {0}};
