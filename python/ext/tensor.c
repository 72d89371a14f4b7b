/* tensor.c: rapt.nn.Tensor: its elements, its gradient, the backward pass. tensor_ops.c has the operations. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

static rapt_tensor value_of(float *data, int ndim, const size_t *shape)
{
    rapt_tensor value = {.data = data, .ndim = ndim ? ndim : 1, .shape = {1}};
    memcpy(value.shape, shape, (size_t)ndim * sizeof *shape);
    return value;
}

PyObject *tensor_of(const ext_state *s, float *data, int ndim, const size_t *shape, bool requires_grad)
{
    array_of of = {.data = data, .ndim = ndim};
    memcpy(of.shape, shape, (size_t)ndim * sizeof *shape);
    const rapt_tensor value = value_of(data, ndim, shape);
    if (rapt_tensor_size(&value) == 0) {
        free(data);
        PyErr_SetString(s->errors[RAPT_ERR_SHAPE], "a tensor has at least one element");
        return NULL;
    }
    PyObject *owner = owner_new(s, data, free, NULL);
    tensor *x = owner ? (tensor *)array_new_typed(s->tensor, &of, owner) : NULL;
    Py_XDECREF(owner);
    if (x) {
        x->value = value;
        x->requires_grad = requires_grad;
    }
    return (PyObject *)x;
}

PyObject *tensor_on(const ext_state *s, tape *t, rapt_tensor *y, bool scalar, bool shared)
{
    array_of of = {.data = y->data, .ndim = scalar ? 0 : y->ndim};
    memcpy(of.shape, y->shape, sizeof of.shape);
    PyObject *owner = Py_NewRef((PyObject *)t);
    if (shared) {
        const size_t bytes = rapt_tensor_size(y) * sizeof(float);
        of.data = malloc(bytes);
        Py_DECREF(owner);
        if (!of.data)
            return PyErr_NoMemory();
        memcpy(of.data, y->data, bytes);
        owner = owner_new(s, of.data, free, NULL);
    }
    tensor *x = owner ? (tensor *)array_new_typed(s->tensor, &of, owner) : NULL;
    Py_XDECREF(owner);
    if (x) {
        x->value = value_of(of.data, y->ndim, y->shape);
        x->at = y;
        x->tape = Py_NewRef((PyObject *)t);
        x->is_shared = shared;
    }
    return (PyObject *)x;
}

PyObject *tensor_from(const ext_state *s, PyObject *x, const char *name)
{
    array_like from;
    if (tensor_check(s, x))
        return Py_NewRef(x);
    if (array_like_read(x, name, false, &from) < 0)
        return NULL;
    return tensor_of(s, from.data, from.ndim, from.shape, false);
}

void tensor_dealloc(PyObject *self)
{
    tensor *x = (tensor *)self;
    Py_XDECREF(x->tape);
    Py_XDECREF(x->grad);
    array_dealloc(self);
}

/* ---- gradients -------------------------------------------------------------------------------------------------- */

/* A tensor with these elements, plus those of `sum` unless that is NULL. */
static PyObject *copy_of(const ext_state *s, const tensor *like, const float *from, PyObject *sum)
{
    const size_t count = rapt_tensor_size(&like->value);
    const float *before = sum ? ((tensor *)sum)->value.data : NULL;
    float *data = malloc(count * sizeof *data);
    if (!data)
        return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++)
        data[i] = before ? before[i] + from[i] : from[i];
    return tensor_of(s, data, like->base.ndim, like->value.shape, false);
}

/* Adds the gradients of this pass to the tensors that the user made. */
static int give_gradients(const ext_state *s, tape *t)
{
    for (size_t i = 0; i < t->leaf_count; i++) {
        tensor *x = (tensor *)t->leaves[i].leaf;
        const rapt_tensor *copy = t->leaves[i].copy;
        if (!copy->grad || !copy->grad_filled)
            continue;
        PyObject *sum = copy_of(s, x, copy->grad, x->grad);
        if (!sum)
            return -1;
        Py_XDECREF(x->grad);
        x->grad = sum;
    }
    return 0;
}

/* backward(): adds the gradients of this one number to those of parameters and of tensors that require one. */
PyObject *tensor_backward(PyObject *self, PyObject *unused)
{
    (void)unused;
    tensor *x = (tensor *)self;
    tape *t = (tape *)x->tape;
    const ext_state *s = ext_state_of(self);
    ext_mutex *lock = tape_training_lock();
    if (!t) {
        PyErr_SetString(s->errors[RAPT_ERR_VALUE], "backward: the tensor was not computed in a pass, inside of "
                                              "\"with nn.grad():\"");
        return NULL;
    }
    if (!lock)
        return PyErr_NoMemory();
    if (t->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the pass computes already: in another thread, or it calls an observer");
        return NULL;
    }
    rapt_error err = {0};
    ext_call c;
    t->busy = true;
    t->call = &c;
    ext_call_begin(&c, NULL);
    rapt_code code = ext_lock(&c, lock, &err);
    if (!code) {
        code = rapt_backward(t->tape, x->at, &err);
        ext_unlock(lock);
    }
    ext_call_end(&c);
    t->call = NULL;
    t->busy = false;
    if (code)
        return ext_raise(s, &err);
    if (give_gradients(s, t) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *get_grad(PyObject *self, void *unused)
{
    (void)unused;
    tensor *x = (tensor *)self;
    if (!x->tape)
        return Py_NewRef(x->grad ? x->grad : Py_None);
    if (((tape *)x->tape)->busy || !x->at->grad || !x->at->grad_filled) // a backward pass moves gradients
        Py_RETURN_NONE;
    return copy_of(ext_state_of(self), x, x->at->grad, NULL);
}

static int set_grad(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    if (value && value != Py_None) {
        ext_wrong_type("grad", "None", value);
        return -1;
    }
    if (((tensor *)self)->tape) {
        PyErr_SetString(PyExc_ValueError, "the gradient of a result cannot be reset");
        return -1;
    }
    Py_CLEAR(((tensor *)self)->grad);
    return 0;
}

static PyObject *get_requires_grad(PyObject *self, void *unused)
{
    (void)unused;
    tensor *x = (tensor *)self;
    return PyBool_FromLong(x->tape ? x->at->requires_grad : x->requires_grad);
}

static int set_requires_grad(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    tensor *x = (tensor *)self;
    bool wanted;
    if (ext_bool_read(value, "requires_grad", &wanted) < 0)
        return -1;
    if (x->tape) {
        PyErr_SetString(PyExc_ValueError, "whether a result requires a gradient follows from its operands: use detach()");
        return -1;
    }
    x->requires_grad = wanted;
    x->bound = 0;
    return 0;
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((tensor *)self)->base.ndim);
}

/* NumPy's operators give way to those of this class. */
static PyObject *get_priority(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(1000);
}

static PyGetSetDef tensor_members[] = {
    {"grad", get_grad, set_grad, "The gradient: a Tensor that never changes, or None. Of the result of an operation: only after\n"
                                 "grad(keep_gradients=True). May be set to None.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether backward passes give it a gradient.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"__array_priority__", get_priority, NULL, NULL, NULL},
    {0}};

/* ---- functions of the module ---------------------------------------------------------------------------------------- */

/* tensor(data, requires_grad): a copy. */
static PyObject *nn_tensor(PyObject *module, PyObject *args)
{
    PyObject *data;
    int requires_grad;
    array_like from;
    if (!PyArg_ParseTuple(args, "Op:tensor", &data, &requires_grad) || array_like_read(data, "data", false, &from) < 0)
        return NULL;
    return tensor_of(PyModule_GetState(module), from.data, from.ndim, from.shape, requires_grad);
}

char *tensor_shape(const PyObject *x, char *text, size_t size)
{
    rapt_tensor shape = ((const tensor *)x)->value;
    shape.ndim = ((const tensor *)x)->base.ndim;
    return rapt_shape_text(&shape, text, size);
}

/* detach(): a copy, which belongs to no pass and would otherwise keep the memory of a whole one. */
PyObject *tensor_detach(PyObject *self, PyObject *unused)
{
    (void)unused;
    return copy_of(ext_state_of(self), (tensor *)self, ((tensor *)self)->value.data, NULL);
}

PyMethodDef tensor_functions[] = {{"tensor", nn_tensor, METH_VARARGS, NULL}, {"concat", tensor_concat, METH_VARARGS, NULL}, {0}};

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc, "An array of float32, computed by rapt.nn. Its elements never change. Outside of grad() it has memory of its\n"
                "own; a tensor of a pass keeps the memory of all of that pass."},
    {Py_tp_dealloc, tensor_dealloc}, {Py_tp_methods, tensor_methods}, {Py_tp_getset, tensor_members},
    {Py_mp_subscript, tensor_subscript}, {Py_sq_item, tensor_item}, {Py_tp_iter, PySeqIter_New},
    {Py_nb_add, tensor_add}, {Py_nb_subtract, tensor_subtract}, {Py_nb_multiply, tensor_multiply},
    {Py_nb_true_divide, tensor_divide}, {Py_nb_matrix_multiply, tensor_matmul}, {Py_nb_negative, tensor_negate}, {0}};
PyType_Spec tensor_spec = {"rapt.nn.Tensor", sizeof(tensor), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, tensor_slots};
