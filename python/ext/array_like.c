/* array_like.c: numbers of Python objects as float32 or int32: arrays of other packages, nested lists, single numbers. Always a
 * copy: what the library reads then cannot change, nor be resized, while the interpreter's lock is not held. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

typedef struct reader {
    const char *name;
    bool ints;
    bool takes_whole; /* floats that are whole numbers count as integers: a tensor has no others */
    char *to; /* the next element */
} reader;

static int put_integer(reader *r, long long value)
{
    if (!r->ints) {
        const float number = (float)value;
        memcpy(r->to, &number, 4);
    } else if (value < INT32_MIN || value > INT32_MAX) {
        ext_invalid("%s has a number out of range: %lld", r->name, value);
        return -1;
    } else {
        const int32_t number = (int32_t)value;
        memcpy(r->to, &number, 4);
    }
    r->to += 4;
    return 0;
}

static int put_double(reader *r, double value)
{
    if (r->takes_whole && fabs(value) <= 1 << 24 && floor(value) == value) // above, not every integer is a float32
        return put_integer(r, (long long)value);
    if (r->ints) {
        PyErr_Format(PyExc_TypeError, "%s must be integers, not floats", r->name);
        return -1;
    }
    const float number = (float)value;
    memcpy(r->to, &number, 4);
    r->to += 4;
    return 0;
}

/* A mask of bools, read as integers, would be lengths of 0 and 1, and ids 0 and 1. */
static int refuse_bools(const reader *r)
{
    PyErr_Format(PyExc_TypeError, "%s must be integers, not bools%s", r->name,
                 strcmp(r->name, "valid_lens") ? "" : ": numbers of valid keys, not a mask");
    return -1;
}

static int allocate(array_like *out, const char *name)
{
    out->count = 1;
    for (int i = 0; i < out->ndim; i++) {
        if (out->shape[i] && out->count > PTRDIFF_MAX / 4 / out->shape[i]) {
            ext_invalid("%s has too many elements", name);
            return -1;
        }
        out->count *= out->shape[i];
    }
    if ((out->data = malloc(4 * (out->count ? out->count : 1))))
        return 0;
    PyErr_NoMemory();
    return -1;
}

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

static int put_element(reader *r, char kind, size_t size, const char *at)
{
    long long number = 0;
    if (kind == 'f' || kind == 'd') {
        double real;
        float narrow;
        memcpy(kind == 'd' ? (void *)&real : &narrow, at, size);
        return put_double(r, kind == 'd' ? real : (double)narrow);
    }
    bool is_signed = strchr("bhilqn", kind) != NULL;
    memcpy(&number, at, size); /* little-endian, as all machines that the library runs on */
    if (is_signed && size < sizeof number && (number >> (8 * size - 1)) & 1)
        number |= (long long)(~0ULL << (8 * size));
    if (!is_signed && number < 0) {
        if (!r->ints)
            return put_double(r, (double)(unsigned long long)number);
        number = INT64_MAX; /* refused */
    }
    return put_integer(r, number);
}

static int put_buffer(reader *r, const Py_buffer *view, char kind, int d, const char *at)
{
    if (d == view->ndim)
        return put_element(r, kind, (size_t)view->itemsize, at);
    for (Py_ssize_t i = 0; i < view->shape[d]; i++) {
        if (put_buffer(r, view, kind, d + 1, at + i * view->strides[d]) < 0)
            return -1;
    }
    return 0;
}

static int read_view(const Py_buffer *view, reader *r, array_like *out)
{
    const char *format = view->format ? view->format : "B";
    format += *format == '@' || *format == '=' || *format == '<';
    const bool fits = *format && !format[1] && strchr("fdbBhHiIlLqQnN?", *format) && view->itemsize <= 8 &&
                      (*format != 'f' || view->itemsize == 4) && (*format != 'd' || view->itemsize == 8);
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "%s has elements of type '%s': float32, float64 and integers can be read", r->name,
                     view->format ? view->format : "B");
        return -1;
    }
    if (r->ints && *format == '?')
        return refuse_bools(r);
    if (view->ndim > RAPT_MAX_DIMS) {
        ext_invalid("%s has %d dimensions; tensors have at most 4", r->name, view->ndim);
        return -1;
    }
    out->ndim = view->ndim;
    for (int i = 0; i < view->ndim; i++)
        out->shape[i] = (size_t)view->shape[i];
    if (allocate(out, r->name) < 0)
        return -1;
    r->to = out->data;
    return put_buffer(r, view, *format, 0, view->buf);
}

static int read_buffer(PyObject *o, reader *r, array_like *out)
{
    Py_buffer view;
    PyObject *plain = PyMemoryView_FromObject(o); // arrays of ctypes have no strides, though they are asked for
    if (!plain || PyObject_GetBuffer(plain, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        Py_XDECREF(plain);
        return -1;
    }
    int result = read_view(&view, r, out);
    PyBuffer_Release(&view);
    Py_DECREF(plain);
    return result;
}

/* An array of another package without the buffer protocol, such as a tensor of PyTorch, by its __array__. */
static int read_foreign(PyObject *o, reader *r, array_like *out)
{
    PyObject *plain = PyObject_HasAttrString(o, "detach") ? PyObject_CallMethod(o, "detach", NULL) : Py_NewRef(o);
    PyObject *given = plain ? PyObject_CallMethod(plain, "__array__", NULL) : NULL;
    int result = -1;
    if (given && PyObject_CheckBuffer(given))
        result = read_buffer(given, r, out);
    else if (given)
        ext_wrong_type(r->name, "an array or nested lists of numbers", o);
    Py_XDECREF(plain);
    Py_XDECREF(given);
    return result;
}

/* ---- lists and numbers ---------------------------------------------------------------------------------------------- */

static bool is_list(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o);
}

static int put_number(reader *r, PyObject *o)
{
    if (PyFloat_Check(o))
        return put_double(r, PyFloat_AsDouble(o));
    if (r->ints && ext_is_bool(o))
        return refuse_bools(r);
    PyObject *index = PyIndex_Check(o) ? PyNumber_Index(o) : NULL;
    if (index) {
        long long value = PyLong_AsLongLong(index);
        Py_DECREF(index);
        return value == -1 && PyErr_Occurred() ? -1 : put_integer(r, value);
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear(); // an array that is a fraction
    }
    if (is_list(o) || PyUnicode_Check(o) || !PyNumber_Check(o)) {
        if (is_list(o))
            ext_invalid("%s has lists of unequal depths", r->name);
        else
            ext_wrong_type(r->name, "an array or nested lists of numbers", o);
        return -1;
    }
    double value = PyFloat_AsDouble(o);
    return value == -1 && PyErr_Occurred() ? -1 : put_double(r, value);
}

static int put_list(reader *r, const array_like *out, int d, PyObject *o)
{
    if (d == out->ndim)
        return put_number(r, o);
    PyObject *items = is_list(o) ? PySequence_Tuple(o) : NULL; // a number's __float__ cannot change it
    if (!items || (size_t)PyTuple_Size(items) != out->shape[d]) {
        if (!PyErr_Occurred())
            ext_invalid("%s has lists of unequal lengths", r->name);
        Py_XDECREF(items);
        return -1;
    }
    int result = 0;
    for (size_t i = 0; i < out->shape[d] && result == 0; i++)
        result = put_list(r, out, d + 1, PyTuple_GetItem(items, (Py_ssize_t)i));
    Py_DECREF(items);
    return result;
}

static int read_lists(PyObject *o, reader *r, array_like *out)
{
    PyObject *first = o;
    for (out->ndim = 0; is_list(first); out->ndim++) {
        if (out->ndim == RAPT_MAX_DIMS) {
            ext_invalid("%s has more than 4 dimensions", r->name);
            return -1;
        }
        Py_ssize_t size = PyList_Check(first) ? PyList_Size(first) : PyTuple_Size(first); // a class may have a len() of its own
        out->shape[out->ndim] = (size_t)size;
        if (size == 0) {
            out->ndim++;
            break;
        }
        first = PyList_Check(first) ? PyList_GetItem(first, 0) : PyTuple_GetItem(first, 0);
    }
    if (allocate(out, r->name) < 0)
        return -1;
    r->to = out->data;
    return put_list(r, out, 0, o);
}

int array_like_read(PyObject *o, const char *name, bool ints, array_like *out)
{
    *out = (array_like){0};
    const bool is_tensor = PyType_GetSlot(Py_TYPE(o), Py_tp_dealloc) == (void *)tensor_dealloc;
    reader r = {.name = name, .ints = ints, .takes_whole = ints && is_tensor};
    int result = PyObject_CheckBuffer(o) && !PyBytes_Check(o) ? read_buffer(o, &r, out)
               : !is_list(o) && PyObject_HasAttrString(o, "__array__") ? read_foreign(o, &r, out)
                                                                       : read_lists(o, &r, out);
    if (result < 0) {
        free(out->data);
        *out = (array_like){0};
    }
    return result;
}

char *array_like_shape(const array_like *a, char *text, size_t size)
{
    rapt_tensor shape = {.ndim = a->ndim};
    memcpy(shape.shape, a->shape, sizeof shape.shape);
    return rapt_shape_text(&shape, text, size);
}
