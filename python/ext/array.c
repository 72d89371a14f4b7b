/* array.c: rapt.Array: elements of the library's memory, in place, by Python's buffer protocol; row-major unless a slice
 * has made gaps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static PyObject *words_of(const char *text)
{
    PyObject *line = PyUnicode_FromString(text ? text : ""), *list = line ? PyUnicode_Split(line, NULL, -1) : NULL;
    PyObject *tuple = list ? PySequence_Tuple(list) : NULL;
    Py_XDECREF(line);
    Py_XDECREF(list);
    return tuple;
}

PyObject *array_new(const ext_state *s, const array_of *of, PyObject *owner)
{
    return array_new_typed(s->array, of, owner);
}

PyObject *array_new_typed(PyTypeObject *type, const array_of *of, PyObject *owner)
{
    array *a = (array *)ext_new(type);
    if (!a)
        return NULL;
    a->data = of->data;
    a->ndim = of->ndim;
    a->is_int = of->is_int;
    a->writable = of->writable;
    Py_ssize_t stride = 4;
    for (int i = a->ndim; i-- > 0; stride *= a->shape[i]) {
        a->shape[i] = (Py_ssize_t)of->shape[i];
        a->strides[i] = stride;
    }
    a->owner = Py_NewRef(owner);
    a->name = of->name ? PyUnicode_FromString(of->name) : Py_NewRef(Py_None);
    a->axes = words_of(of->axes);
    if (!a->name || !a->axes) {
        Py_DECREF(a);
        return NULL;
    }
    return (PyObject *)a;
}

PyObject *array_make(const ext_state *s, int ndim, const size_t *shape, float **data)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] && count > PTRDIFF_MAX / 4 / shape[i])
            return PyErr_NoMemory();
        count *= shape[i];
    }
    float *memory = calloc(count ? count : 1, sizeof *memory);
    PyObject *owner = memory ? owner_new(s, memory, free, NULL) : PyErr_NoMemory();
    array_of of = {.data = memory, .ndim = ndim, .writable = true};
    memcpy(of.shape, shape, (size_t)ndim * sizeof *shape);
    PyObject *a = owner ? array_new(s, &of, owner) : NULL;
    Py_XDECREF(owner);
    *data = a ? memory : NULL;
    return a;
}

void array_dealloc(PyObject *self)
{
    array *a = (array *)self;
    Py_XDECREF(a->owner);
    Py_XDECREF(a->name);
    Py_XDECREF(a->axes);
    ext_free(self);
}

static Py_ssize_t count_of(const array *a)
{
    Py_ssize_t count = 1;
    for (int i = 0; i < a->ndim; i++)
        count *= a->shape[i];
    return count;
}

static bool has_gaps(const array *a)
{
    Py_ssize_t stride = 4;
    for (int i = a->ndim; i-- > 0; stride *= a->shape[i]) {
        if (a->shape[i] != 1 && a->strides[i] != stride)
            return true;
    }
    return false;
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    array *a = (array *)self;
    const char *refusal = (flags & PyBUF_WRITABLE) && !a->writable ? "the array is read-only"
                        : (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && a->ndim > 1
                            ? "the array is row-major"
                        : (flags & PyBUF_STRIDES) != PyBUF_STRIDES && has_gaps(a) ? "the slice is not contiguous" : NULL;
    const int contiguous = (PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES;
    if (refusal || ((flags & contiguous) && has_gaps(a))) {
        PyErr_SetString(PyExc_BufferError, refusal ? refusal : "the slice is not contiguous");
        view->obj = NULL;
        return -1;
    }
    bool has_shape = (flags & PyBUF_ND) == PyBUF_ND;
    *view = (Py_buffer){
        .buf = a->data, .obj = Py_NewRef(self), .len = count_of(a) * 4, .itemsize = 4, .readonly = !a->writable,
        .ndim = has_shape ? a->ndim : 1, .format = flags & PyBUF_FORMAT ? (a->is_int ? "i" : "f") : NULL,
        .shape = has_shape ? a->shape : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL};
    return 0;
}

/* A view of a part: `at` points to its first element. Dimensions are added by add_dimension. */
static array *view_of(array *a)
{
    array *v = (array *)ext_new(Py_TYPE((PyObject *)a));
    if (!v)
        return NULL;
    *v = (array){.ob_base = v->ob_base, .data = a->data, .is_int = a->is_int, .writable = a->writable,
                 .owner = Py_NewRef(a->owner), .name = Py_NewRef(a->name), .axes = Py_NewRef(a->axes)};
    return v;
}

static void add_dimension(array *v, Py_ssize_t shape, Py_ssize_t stride)
{
    v->shape[v->ndim] = shape;
    v->strides[v->ndim] = stride;
    v->ndim++;
}

/* Applies one index, of dimension `d` of `a`, to the view. */
static int apply_index(const array *a, array *v, int d, PyObject *index)
{
    if (PySlice_Check(index)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(index, &start, &stop, &step) < 0)
            return -1;
        Py_ssize_t count = PySlice_AdjustIndices(a->shape[d], &start, &stop, step);
        v->data += count ? start * a->strides[d] : 0;
        add_dimension(v, count, count > 1 ? step * a->strides[d] : a->strides[d]); // a single step may be of any size
        return 0;
    }
    if (!PyIndex_Check(index)) {
        ext_wrong_type("an index", "an int or a slice", index);
        return -1;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < -a->shape[d] || i >= a->shape[d]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of range: dimension %d has %zd elements", i, d, a->shape[d]);
        return -1;
    }
    v->data += (i < 0 ? i + a->shape[d] : i) * a->strides[d];
    return 0;
}

/* The names of the axes that a view has kept: an index drops its axis; a slice keeps it, and axes without either stay. */
static PyObject *kept_axes(const array *a, PyObject *indices)
{
    Py_ssize_t named = PyTuple_Size(a->axes), count = PyTuple_Size(indices);
    PyObject *list = PyList_New(0);
    for (Py_ssize_t d = 0; list && d < named; d++) {
        if ((d >= count || PySlice_Check(PyTuple_GetItem(indices, d))) && PyList_Append(list, PyTuple_GetItem(a->axes, d)) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *array_subscript(PyObject *self, PyObject *index)
{
    array *a = (array *)self, *v = NULL;
    PyObject *indices = PyTuple_Check(index) ? Py_NewRef(index) : PyTuple_Pack(1, index);
    if (!indices)
        return NULL;
    Py_ssize_t count = PyTuple_Size(indices);
    if (count > a->ndim) {
        PyErr_Format(PyExc_IndexError, "%zd indices; the array has %d dimensions", count, a->ndim);
        goto failed;
    }
    if (!(v = view_of(a)))
        goto failed;
    for (Py_ssize_t d = 0; d < count; d++) {
        if (apply_index(a, v, (int)d, PyTuple_GetItem(indices, d)) < 0)
            goto failed;
    }
    for (int d = (int)count; d < a->ndim; d++)
        add_dimension(v, a->shape[d], a->strides[d]);
    PyObject *axes = kept_axes(a, indices);
    if (!axes)
        goto failed;
    Py_DECREF(v->axes);
    v->axes = axes;
    Py_DECREF(indices);
    return (PyObject *)v;
failed:
    Py_XDECREF((PyObject *)v);
    Py_DECREF(indices);
    return NULL;
}

/* For iteration. */
static PyObject *array_item(PyObject *self, Py_ssize_t i)
{
    PyObject *index = PyLong_FromSsize_t(i), *item = index ? array_subscript(self, index) : NULL;
    Py_XDECREF(index);
    return item;
}

/* One element as a Python number. */
static PyObject *element(const array *a, const char *at)
{
    if (a->is_int)
        return PyLong_FromLong(*(const int32_t *)(const void *)at);
    return PyFloat_FromDouble(*(const float *)(const void *)at);
}

static PyObject *list_of(const array *a, int d, const char *at)
{
    if (d == a->ndim)
        return element(a, at);
    PyObject *list = PyList_New(a->shape[d]);
    for (Py_ssize_t i = 0; list && i < a->shape[d]; i++) {
        PyObject *item = list_of(a, d + 1, at + i * a->strides[d]);
        if (!item || PyList_SetItem(list, i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *array_tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of((array *)self, 0, ((array *)self)->data);
}

static void copy_elements(const array *a, int d, const char *at, char **out)
{
    if (d == a->ndim) {
        memcpy(*out, at, 4);
        *out += 4;
        return;
    }
    for (Py_ssize_t i = 0; i < a->shape[d]; i++)
        copy_elements(a, d + 1, at + i * a->strides[d], out);
}

PyObject *array_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    array *a = (array *)self;
    size_t shape[RAPT_MAX_DIMS];
    for (int i = 0; i < a->ndim; i++)
        shape[i] = (size_t)a->shape[i];
    float *data;
    array *copy = (array *)array_make(ext_state_of(self), a->ndim, shape, &data);
    if (!copy)
        return NULL;
    char *out = (char *)data;
    copy_elements(a, 0, a->data, &out);
    copy->is_int = a->is_int;
    Py_DECREF(copy->name);
    Py_DECREF(copy->axes);
    copy->name = Py_NewRef(a->name);
    copy->axes = Py_NewRef(a->axes);
    return (PyObject *)copy;
}

/* The only element, for float() and int(). */
static const char *only_element(const array *a)
{
    if (count_of(a) == 1)
        return a->data;
    PyErr_Format(PyExc_TypeError, "only an array of one element is a number; this one has %zd", count_of(a));
    return NULL;
}

static PyObject *array_float(PyObject *self)
{
    const array *a = (array *)self;
    const char *at = only_element(a);
    if (!at)
        return NULL;
    return PyFloat_FromDouble(a->is_int ? *(const int32_t *)(const void *)at : *(const float *)(const void *)at);
}

/* Without it int() would read the bytes of the elements as the digits of a number. */
static PyObject *array_int(PyObject *self)
{
    const array *a = (array *)self;
    const char *at = only_element(a);
    if (!at)
        return NULL;
    return a->is_int ? element(a, at) : PyLong_FromDouble((double)*(const float *)(const void *)at);
}

/* The only element as a Python number: array.item(). */
static PyObject *array_number(PyObject *self, PyObject *unused)
{
    (void)unused;
    const char *at = only_element((array *)self);
    return at ? element((array *)self, at) : NULL;
}

/* A whole number without dimensions is an index of lists and tensors, and a count for range(). */
static PyObject *array_index(PyObject *self)
{
    const array *a = (array *)self;
    if (a->ndim) {
        PyErr_SetString(PyExc_TypeError, "an array with dimensions is no index");
        return NULL;
    }
    const float number = a->is_int ? 0 : *(const float *)(const void *)a->data;
    if (fabsf(number) < 0x1p31f && floorf(number) == number)
        return array_int(self);
    PyErr_SetString(PyExc_TypeError, "a fraction is no index");
    return NULL;
}

/* Whether the only element is not 0, as in NumPy and PyTorch. */
static int array_bool(PyObject *self)
{
    const array *a = (array *)self;
    const char *at = only_element(a);
    if (!at)
        return -1;
    return a->is_int ? *(const int32_t *)(const void *)at != 0 : *(const float *)(const void *)at != 0;
}

static Py_ssize_t array_length(PyObject *self)
{
    const array *a = (array *)self;
    if (a->ndim)
        return a->shape[0];
    PyErr_SetString(PyExc_TypeError, "an array without dimensions has no length");
    return -1;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    array *a = (array *)self;
    PyObject *tuple = PyTuple_New(a->ndim);
    for (int i = 0; tuple && i < a->ndim; i++) {
        PyObject *size = PyLong_FromSsize_t(a->shape[i]);
        if (!size || PyTuple_SetItem(tuple, i, size) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((array *)self)->is_int ? "int32" : "float32");
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((array *)self)->name);
}

static PyObject *get_axes(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((array *)self)->axes);
}

static PyObject *get_readonly(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((array *)self)->writable);
}

static PyObject *get_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((array *)self)->data);
}

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void *)array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule of DLPack, without a copy."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU."},
    {"tolist", array_tolist, METH_NOARGS, "tolist($self, /)\n--\n\nThe elements as nested lists of Python numbers."},
    {"item", array_number, METH_NOARGS, "item($self, /)\n--\n\nThe only element as a Python number."},
    {"copy", array_copy, METH_NOARGS, "copy($self, /)\n--\n\nA writable array with memory of its own."},
    {0}};
static PyGetSetDef array_members[] = {
    {"shape", get_shape, NULL, "The size of each dimension.", NULL},
    {"dtype", get_dtype, NULL, "'float32' or 'int32'.", NULL},
    {"name", get_name, NULL, "The name in the model ('encoder.0.attention.weights'), or None.", NULL},
    {"axes", get_axes, NULL, "The name of each dimension ('batch', 'head', 'query', 'key'), or ().", NULL},
    {"readonly", get_readonly, NULL, "Whether elements cannot be written.", NULL},
    {"address", get_address, NULL, "Where the first element lies in memory.", NULL},
    {0}};
static PyType_Slot array_slots[] = {
    {Py_tp_doc, "An array of float32 or int32 in the library's memory, for memoryview, numpy.asarray and from_dlpack, without a\n"
                "copy. It keeps its memory alive."},
    {Py_tp_dealloc, array_dealloc}, {Py_tp_repr, array_repr}, {Py_tp_str, array_str},
    {Py_bf_getbuffer, array_getbuffer}, {Py_tp_methods, array_methods},
    {Py_tp_getset, array_members}, {Py_mp_subscript, array_subscript}, {Py_mp_length, array_length},
    {Py_sq_item, array_item},    {Py_nb_float, array_float}, {Py_nb_int, array_int}, {Py_nb_bool, array_bool},
    {Py_nb_index, array_index}, {0}};
PyType_Spec array_spec = {"rapt.Array", sizeof(array), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};
