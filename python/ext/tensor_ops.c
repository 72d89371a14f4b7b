/* tensor_ops.c: the methods of tensors, each an operation of rapt/tape.h or a few. tensor_operators.c has + and the like. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "nn.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

typedef struct sizes {
    int count;
    long long at[RAPT_MAX_DIMS];
} sizes;

/* Sizes or axes: arguments, or one tuple or list of them. */
static int read_sizes(PyObject *args, const char *what, sizes *out)
{
    PyObject *first = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *list = first && (PyTuple_Check(first) || PyList_Check(first)) ? PySequence_Tuple(first) : Py_NewRef(args);
    if (!list)
        return -1;
    out->count = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(list); i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        if (!PyIndex_Check(item)) {
            ext_wrong_type(what, "ints", item);
        } else if (i == RAPT_MAX_DIMS) {
            ext_invalid("%s: tensors have at most 4 dimensions", what);
        } else {
            out->at[out->count++] = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        }
        if (PyErr_Occurred()) {
            Py_DECREF(list);
            return -1;
        }
    }
    Py_DECREF(list);
    return 0;
}

typedef struct shape {
    int ndim; /* 1 or more: no dimensions are one of size 1 */
    size_t size[RAPT_MAX_DIMS];
} shape;

static rapt_tensor *reshape(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const shape *to = context;
    (void)count;
    return rapt_op_reshape(t, x[0], to->ndim, to->size, NULL);
}

static PyObject *reshaped(PyObject *self, int ndim, const size_t *size)
{
    shape to = {.ndim = ndim ? ndim : 1, .size = {1}};
    memcpy(to.size, size, (size_t)ndim * sizeof *size);
    return op_apply(ext_state_of(self), 1, &self, reshape, &to, ndim == 0);
}

static PyObject *tensor_reshape(PyObject *self, PyObject *args)
{
    sizes given;
    size_t size[RAPT_MAX_DIMS], known = 1;
    int open = -1;
    if (read_sizes(args, "shape", &given) < 0)
        return NULL;
    for (int i = 0; i < given.count; i++) {
        if (given.at[i] < -1 || (given.at[i] == -1 && open >= 0)) {
            ext_invalid("reshape: one size may be -1, the others are 0 or more");
            return NULL;
        }
        size[i] = (size_t)given.at[i];
        if (given.at[i] == -1)
            open = i;
        else if (size[i] && known > SIZE_MAX / 16 / size[i])
            known = SIZE_MAX / 16; // fits nothing
        else
            known *= size[i];
    }
    const size_t count = rapt_tensor_size(&((tensor *)self)->value);
    if (open >= 0 && (!known || count % known)) {
        PyErr_Format(ext_state_of(self)->errors[RAPT_ERR_SHAPE],
                     "reshape: %zu elements are no multiple of %zu, so that -1 has no size", count, known);
        return NULL;
    }
    if (open >= 0)
        size[open] = count / known;
    return reshaped(self, given.count, size);
}

/* An axis of x, from its end if negative. -1 with an exception set. */
static int axis_of(PyObject *self, long long axis, int ndim)
{
    if (axis < -ndim || axis >= ndim) {
        PyErr_Format(ext_state_of(self)->errors[RAPT_ERR_SHAPE], "axis %lld is not one of %d dimensions", axis, ndim);
        return -1;
    }
    return (int)(axis < 0 ? axis + ndim : axis);
}

static rapt_tensor *permute(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count;
    return rapt_op_permute(t, x[0], context);
}

static PyObject *tensor_permute(PyObject *self, PyObject *args)
{
    sizes given;
    int order[RAPT_MAX_DIMS];
    const int ndim = ((tensor *)self)->base.ndim;
    if (read_sizes(args, "axes", &given) < 0)
        return NULL;
    if (given.count != ndim || ndim == 0) {
        PyErr_Format(ext_state_of(self)->errors[RAPT_ERR_SHAPE], "permute: %d axes for %d dimensions", given.count, ndim);
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        if ((order[i] = axis_of(self, given.at[i], ndim)) < 0)
            return NULL;
    }
    return op_apply(ext_state_of(self), 1, &self, permute, order, false);
}

static PyObject *tensor_transpose(PyObject *self, PyObject *args)
{
    int a, b, order[RAPT_MAX_DIMS] = {0, 1, 2, 3};
    const int ndim = ((tensor *)self)->base.ndim;
    if (!PyArg_ParseTuple(args, "ii:transpose", &a, &b) || (a = axis_of(self, a, ndim)) < 0 || (b = axis_of(self, b, ndim)) < 0)
        return NULL;
    order[a] = b;
    order[b] = a;
    return op_apply(ext_state_of(self), 1, &self, permute, order, false);
}

static rapt_tensor *expand(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const shape *to = context;
    (void)count;
    return rapt_op_expand(t, x[0], to->ndim, to->size);
}

static PyObject *tensor_expand(PyObject *self, PyObject *args)
{
    sizes given;
    const tensor *x = (tensor *)self;
    if (read_sizes(args, "shape", &given) < 0)
        return NULL;
    shape to = {.ndim = given.count};
    for (int i = 0; i < given.count; i++) {
        const int own = i - given.count + x->base.ndim;
        if (given.at[i] < -1 || given.at[i] == 0 || (given.at[i] == -1 && own < 0)) {
            ext_invalid("expand: sizes are 1 or more, or -1 for a dimension that stays");
            return NULL;
        }
        to.size[i] = given.at[i] == -1 ? x->value.shape[own] : (size_t)given.at[i];
    }
    if (given.count < x->base.ndim || given.count == 0) {
        PyErr_Format(ext_state_of(self)->errors[RAPT_ERR_SHAPE], "expand: %d sizes for %d dimensions", given.count, x->base.ndim);
        return NULL;
    }
    return op_apply(ext_state_of(self), 1, &self, expand, &to, false);
}

static PyObject *tensor_unsqueeze(PyObject *self, PyObject *args)
{
    int axis;
    const tensor *x = (tensor *)self;
    const int ndim = x->base.ndim;
    size_t size[RAPT_MAX_DIMS + 1];
    if (!PyArg_ParseTuple(args, "i:unsqueeze", &axis) || (axis = axis_of(self, axis, ndim + 1)) < 0)
        return NULL;
    if (ndim == RAPT_MAX_DIMS) {
        PyErr_SetString(ext_state_of(self)->errors[RAPT_ERR_SHAPE], "unsqueeze: tensors have at most 4 dimensions");
        return NULL;
    }
    memcpy(size, x->value.shape, (size_t)axis * sizeof *size);
    size[axis] = 1;
    memcpy(size + axis + 1, x->value.shape + axis, (size_t)(ndim - axis) * sizeof *size);
    return reshaped(self, ndim + 1, size);
}

static PyObject *tensor_squeeze(PyObject *self, PyObject *args)
{
    int axis;
    const tensor *x = (tensor *)self;
    size_t size[RAPT_MAX_DIMS];
    int ndim = 0;
    if (!PyArg_ParseTuple(args, "i:squeeze", &axis) || (axis = axis_of(self, axis, x->base.ndim)) < 0)
        return NULL;
    for (int i = 0; i < x->base.ndim; i++) {
        if (i != axis || x->value.shape[i] != 1)
            size[ndim++] = x->value.shape[i];
    }
    return reshaped(self, ndim, size);
}

/* ---- slices --------------------------------------------------------------------------------------------------------- */

typedef struct cut {
    int count;
    size_t first[RAPT_MAX_DIMS], size[RAPT_MAX_DIMS]; /* of each dimension that is cut */
    shape to;
} cut;

static rapt_tensor *slice(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const cut *c = context;
    rapt_tensor *y = x[0];
    (void)count;
    for (int i = 0; i < c->count; i++) {
        if (!rapt_tape_error(t)->code && c->size[i] != y->shape[i])
            y = rapt_op_slice(t, y, i, c->first[i], c->size[i]);
    }
    return rapt_tape_error(t)->code ? y : rapt_op_reshape(t, y, c->to.ndim, c->to.size, NULL);
}

static int cut_dimension(PyObject *self, PyObject *index, cut *c)
{
    const int d = c->count;
    const Py_ssize_t size = (Py_ssize_t)((tensor *)self)->value.shape[d];
    Py_ssize_t start, stop, step, count = 1;
    if (PySlice_Check(index)) {
        if (PySlice_Unpack(index, &start, &stop, &step) < 0)
            return -1;
        count = PySlice_AdjustIndices(size, &start, &stop, step);
        if (step != 1 || count == 0) {
            PyErr_SetString(PyExc_IndexError, step != 1 ? "slices of tensors have step 1; nn.stack puts what belongs "
                                                            "between other elements there" : "a slice of a tensor is not empty");
            return -1;
        }
        c->to.size[c->to.ndim++] = (size_t)count;
    } else if (PyIndex_Check(index)) {
        start = PyNumber_AsSsize_t(index, PyExc_IndexError);
        if (start == -1 && PyErr_Occurred())
            return -1;
        if (start < -size || start >= size) {
            PyErr_Format(PyExc_IndexError, "index %zd is out of range: dimension %d has %zd elements", start, d, size);
            return -1;
        }
        start += start < 0 ? size : 0;
    } else {
        ext_wrong_type("an index", "an int, a slice or ...", index);
        return -1;
    }
    c->first[d] = (size_t)start;
    c->size[d] = (size_t)count;
    c->count++;
    return 0;
}

/* The next dimensions as they are. */
static void keep_dimensions(PyObject *self, Py_ssize_t count, cut *c)
{
    const tensor *x = (tensor *)self;
    for (; count > 0; count--, c->count++)
        c->to.size[c->to.ndim++] = c->size[c->count] = x->value.shape[c->count];
}

PyObject *tensor_subscript(PyObject *self, PyObject *index)
{
    const tensor *x = (tensor *)self;
    cut c = {0};
    const Py_ssize_t count = PyTuple_Check(index) ? PyTuple_Size(index) : 1;
    Py_ssize_t dots = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        dots += (PyTuple_Check(index) ? PyTuple_GetItem(index, i) : index) == Py_Ellipsis;
    if (dots > 1 || count - dots > x->base.ndim) {
        PyErr_Format(PyExc_IndexError, dots > 1 ? "an index has one ..." : "%zd indices; the tensor has %d dimensions",
                     count - dots, x->base.ndim);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *at = PyTuple_Check(index) ? PyTuple_GetItem(index, i) : index;
        if (at == Py_Ellipsis)
            keep_dimensions(self, x->base.ndim - (count - 1), &c);
        else if (cut_dimension(self, at, &c) < 0)
            return NULL;
    }
    keep_dimensions(self, x->base.ndim - c.count, &c);
    const bool scalar = c.to.ndim == 0;
    if (scalar)
        c.to = (shape){1, {1}};
    return op_apply(ext_state_of(self), 1, &self, slice, &c, scalar);
}

PyObject *tensor_item(PyObject *self, Py_ssize_t i)
{
    PyObject *index = PyLong_FromSsize_t(i), *item = index ? tensor_subscript(self, index) : NULL;
    Py_XDECREF(index);
    return item;
}

/* ---- functions of elements and rows ------------------------------------------------------------------------------------ */

#define UNARY(name, expression)                                                                    \
    static rapt_tensor *name##_of(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context) \
    {                                                                                              \
        (void)count, (void)context;                                                                \
        return expression;                                                                         \
    }                                                                                              \
    static PyObject *tensor_##name(PyObject *self, PyObject *unused)                               \
    {                                                                                              \
        (void)unused;                                                                              \
        return op_apply(ext_state_of(self), 1, &self, name##_of, NULL, !((tensor *)self)->base.ndim); \
    }
UNARY(relu, rapt_op_relu(t, x[0]))
UNARY(gelu, rapt_op_activate(t, x[0], RAPT_ACTIVATION_GELU))
UNARY(tanh, rapt_op_tanh(t, x[0]))
UNARY(exp, rapt_op_exp(t, x[0]))
UNARY(log, rapt_op_log(t, x[0]))

static rapt_tensor *sum_all(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count;
    rapt_tensor *y = rapt_op_sum(t, x[0]);
    return context ? rapt_op_scale(t, y, 1 / (double)rapt_tensor_size(x[0])) : y;
}

typedef struct reduction {
    int axis;
    bool mean, keepdim;
} reduction;

static rapt_tensor *reduce(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const reduction *r = context;
    (void)count;
    rapt_tensor *y = r->mean ? rapt_op_mean_axis(t, x[0], r->axis) : rapt_op_sum_axis(t, x[0], r->axis);
    size_t size[RAPT_MAX_DIMS];
    if (!r->keepdim || rapt_tape_error(t)->code)
        return y;
    memcpy(size, x[0]->shape, sizeof size);
    size[r->axis] = 1;
    return rapt_op_reshape(t, y, x[0]->ndim, size, NULL);
}

static PyObject *reduced(PyObject *self, PyObject *args, PyObject *keywords, bool mean)
{
    static char *names[] = {"axis", "keepdim", "dim", NULL};
    PyObject *axis = Py_None, *dim = Py_None;
    int keepdim = 0;
    const int ndim = ((tensor *)self)->base.ndim;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Op$O", names, &axis, &keepdim, &dim))
        return NULL;
    axis = axis == Py_None ? dim : axis;
    if (axis == Py_None || ndim == 0)
        return op_apply(ext_state_of(self), 1, &self, sum_all, mean ? &mean : NULL, true);
    if (!PyIndex_Check(axis))
        return ext_wrong_type("axis", "an int", axis);
    Py_ssize_t given = PyNumber_AsSsize_t(axis, PyExc_OverflowError);
    if (given == -1 && PyErr_Occurred())
        return NULL;
    reduction r = {axis_of(self, given, ndim), mean, keepdim};
    return r.axis < 0 ? NULL : op_apply(ext_state_of(self), 1, &self, reduce, &r, ndim == 1 && !keepdim);
}

static PyObject *tensor_sum(PyObject *self, PyObject *args, PyObject *keywords)
{
    return reduced(self, args, keywords, false);
}

static PyObject *tensor_mean(PyObject *self, PyObject *args, PyObject *keywords)
{
    return reduced(self, args, keywords, true);
}

/* Softmax over the axis in *context. */
static rapt_tensor *softmax(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const int ndim = x[0]->ndim, axis = *(const int *)context;
    (void)count;
    rapt_tensor *y = axis == ndim - 1 ? x[0] : rapt_op_transpose(t, x[0], axis, ndim - 1);
    if (rapt_tape_error(t)->code)
        return y;
    const size_t rows[] = {rapt_tensor_rows(y), rapt_tensor_features(y)};
    rapt_tensor *p = rapt_op_masked_softmax(t, rapt_op_reshape(t, y, 2, rows, NULL), NULL);
    if (rapt_tape_error(t)->code)
        return p;
    p = rapt_op_reshape(t, p, ndim, y->shape, NULL);
    return axis == ndim - 1 ? p : rapt_op_transpose(t, p, axis, ndim - 1);
}

/* (axis=-1, *, dim=None), where dim counts if it is given; -1: an exception is set. */
static int read_axis(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"axis", "dim", NULL};
    Py_ssize_t axis = -1;
    PyObject *dim = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|n$O", names, &axis, &dim))
        return -1;
    if (dim != Py_None && !PyIndex_Check(dim)) {
        ext_wrong_type("dim", "an int", dim);
        return -1;
    }
    if (dim != Py_None)
        axis = PyNumber_AsSsize_t(dim, PyExc_OverflowError);
    return PyErr_Occurred() ? -1 : axis_of(self, axis, ((tensor *)self)->base.ndim);
}

static PyObject *tensor_softmax(PyObject *self, PyObject *args, PyObject *keywords)
{
    const int axis = read_axis(self, args, keywords);
    return axis < 0 ? NULL : op_apply(ext_state_of(self), 1, &self, softmax, &axis, false);
}

/* concat(list, axis). */
static rapt_tensor *concat(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    return rapt_op_concat(t, count, x, *(const int *)context);
}

PyObject *tensor_concat(PyObject *module, PyObject *args)
{
    PyObject *list, *result = NULL;
    const ext_state *s = PyModule_GetState(module);
    int axis;
    if (!PyArg_ParseTuple(args, "O!i:concat", &PyTuple_Type, &list, &axis))
        return NULL;
    const Py_ssize_t count = PyTuple_Size(list);
    PyObject **x = PyMem_Calloc((size_t)count + 1, sizeof *x);
    if (!x)
        return PyErr_NoMemory();
    Py_ssize_t read = 0;
    while (read < count && (x[read] = tensor_from(s, PyTuple_GetItem(list, read), "tensors")))
        read++;
    if (count == 0)
        ext_invalid("concat: there are no tensors");
    else if (read == count)
        result = op_apply(s, (size_t)count, x, concat, &axis, false);
    for (Py_ssize_t i = 0; i < read; i++)
        Py_DECREF(x[i]);
    PyMem_Free(x);
    return result;
}

/* The place of the largest element along an axis, the first of several; NaN is the largest, as in PyTorch. */
static PyObject *tensor_argmax(PyObject *self, PyObject *args, PyObject *keywords)
{
    const tensor *x = (tensor *)self;
    const ext_state *s = ext_state_of(self);
    int kept = 0;
    size_t inner = 1, outer = 1, others[RAPT_MAX_DIMS];
    const int axis = read_axis(self, args, keywords);
    if (axis < 0)
        return NULL;
    for (int i = 0; i < x->base.ndim; i++) {
        outer *= i < axis ? x->value.shape[i] : 1;
        inner *= i > axis ? x->value.shape[i] : 1;
        if (i != axis)
            others[kept++] = x->value.shape[i];
    }
    float *memory;
    PyObject *places = array_make(s, kept, others, &memory);
    if (!places)
        return NULL;
    const size_t count = x->value.shape[axis];
    for (size_t i = 0; i < outer * inner; i++) {
        const float *from = x->value.data + i / inner * count * inner + i % inner;
        int32_t best = 0;
        for (size_t k = 1; k < count; k++)
            best = from[k * inner] > from[(size_t)best * inner] || (isnan(from[k * inner]) && !isnan(from[(size_t)best * inner]))
                     ? (int32_t)k : best;
        memcpy(memory + i, &best, sizeof best);
    }
    ((array *)places)->is_int = true;
    return places;
}

static PyObject *tensor_number(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyNumber_Float(self);
}

PyMethodDef tensor_methods[] = {
    {"backward", tensor_backward, METH_NOARGS,
     "backward($self, /)\n--\n\n"
     "Adds the gradients of this number to `grad` of all that it was computed from. Once in each pass. ValueError: it was not\n"
     "computed in a pass of grad(), or needs no gradient; ShapeError: it is more than one number; NotFiniteError: it is no\n"
     "finite number."},
    {"detach", tensor_detach, METH_NOARGS, "detach($self, /)\n--\n\n"
     "A copy that belongs to no pass and gets no gradient."},
    {"item", tensor_number, METH_NOARGS, "item($self, /)\n--\n\n"
     "The only element as a float."},
    {"reshape", tensor_reshape, METH_VARARGS, "reshape($self, /, *shape)\n--\n\n"
     "The same elements in another shape; one size may be -1."},
    {"transpose", tensor_transpose, METH_VARARGS, "transpose($self, a, b, /)\n--\n\n"
     "With two of its axes exchanged."},
    {"permute", tensor_permute, METH_VARARGS, "permute($self, /, *axes)\n--\n\n"
     "With its axes in another order."},
    {"expand", tensor_expand, METH_VARARGS, "expand($self, /, *shape)\n--\n\n"
     "With dimensions that are 1 or missing repeated; -1: a dimension stays."},
    {"unsqueeze", tensor_unsqueeze, METH_VARARGS, "unsqueeze($self, axis, /)\n--\n\n"
     "With a dimension of size 1 before `axis`."},
    {"squeeze", tensor_squeeze, METH_VARARGS, "squeeze($self, axis, /)\n--\n\n"
     "Without the dimension `axis`, if its size is 1."},
    {"sum", (PyCFunction)(void *)tensor_sum, METH_VARARGS | METH_KEYWORDS,
     "sum($self, /, axis=None, keepdim=False, *, dim=None)\n--\n\n"
     "The sum of all elements, or over an axis (also: dim)."},
    {"mean", (PyCFunction)(void *)tensor_mean, METH_VARARGS | METH_KEYWORDS,
     "mean($self, /, axis=None, keepdim=False, *, dim=None)\n--\n\n"
     "The mean of all elements, or over an axis (also: dim)."},
    {"softmax", (PyCFunction)(void *)tensor_softmax, METH_VARARGS | METH_KEYWORDS,
     "softmax($self, /, axis=-1, *, dim=None)\n--\n\n"
     "Softmax over an axis (also: dim), the last one."},
    {"argmax", (PyCFunction)(void *)tensor_argmax, METH_VARARGS | METH_KEYWORDS,
     "argmax($self, /, axis=-1, *, dim=None)\n--\n\n"
     "The place of the largest element along an axis (also: dim), the last one: an int32 Array, ids for an Embedding."},
    {"relu", tensor_relu, METH_NOARGS, "relu($self, /)\n--\n\n"
     "max(0, x), elementwise."},
    {"gelu", tensor_gelu, METH_NOARGS, "gelu($self, /)\n--\n\n"
     "x Phi(x), elementwise, the exact form."},
    {"tanh", tensor_tanh, METH_NOARGS, "tanh($self, /)\n--\n\n"
     "tanh x, elementwise."},
    {"exp", tensor_exp, METH_NOARGS, "exp($self, /)\n--\n\n"
     "e^x, elementwise."},
    {"log", tensor_log, METH_NOARGS, "log($self, /)\n--\n\n"
     "ln x, elementwise."},
    {0}};
