/* tensor_mask.c: masked_fill of tensors. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

typedef struct mask {
    array_like like;
    size_t stride[RAPT_MAX_DIMS]; /* of each dimension of the tensor; 0: the mask is the same along it */
    float value;
} mask;

/* Aligned with the tensor at the last dimension, as operands of + are; the tensor keeps its shape. */
static int align(const ext_state *s, const tensor *x, mask *m)
{
    const int missing = x->base.ndim - m->like.ndim;
    size_t stride = 1;
    bool fits = missing >= 0;
    for (int d = m->like.ndim; fits && d-- > 0;) {
        m->stride[d + missing] = m->like.shape[d] == 1 ? 0 : stride;
        fits = m->like.shape[d] == 1 || m->like.shape[d] == x->value.shape[d + missing];
        stride *= m->like.shape[d];
    }
    if (fits)
        return 0;
    char given[96], own[96];
    PyErr_Format(s->errors[RAPT_ERR_SHAPE], "masked_fill: the mask is %s, not %s, the tensor's shape, nor repeated to it",
                 array_like_shape(&m->like, given, sizeof given), tensor_shape((const PyObject *)x, own, sizeof own));
    return -1;
}

/* masked_fill of a constant, which needs no gradient: each element is chosen, not multiplied, since 0 times infinity is NaN. */
static PyObject *choose(const ext_state *s, const tensor *x, const mask *m)
{
    const size_t count = rapt_tensor_size(&x->value);
    const float *is_filled = m->like.data;
    float *data = malloc(count * sizeof *data);
    if (!data)
        return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) {
        size_t at = 0, rest = i;
        for (int d = x->base.ndim; d-- > 0; rest /= x->value.shape[d])
            at += rest % x->value.shape[d] * m->stride[d];
        data[i] = is_filled[at] != 0 ? m->value : x->value.data[i];
    }
    return tensor_of(s, data, x->base.ndim, x->value.shape, false);
}

static rapt_tensor *multiply_add(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count, (void)context;
    rapt_tensor *y = rapt_op_multiply(t, x[0], x[1]);
    return rapt_tape_error(t)->code ? y : rapt_op_add(t, y, x[2]);
}

/* What gets a gradient is x times 1 or 0, plus 0 or the value. */
static PyObject *compute(const ext_state *s, PyObject *x, const mask *m)
{
    float *data[2];
    PyObject *operands[3] = {x}, *result = NULL;
    for (int i = 0; i < 2; i++) {
        if (!(data[i] = malloc(m->like.count * sizeof *data[i]))) {
            Py_XDECREF(operands[1]);
            return PyErr_NoMemory();
        }
        for (size_t k = 0; k < m->like.count; k++) {
            const bool is_filled = ((const float *)m->like.data)[k] != 0;
            data[i][k] = i == 0 ? !is_filled : is_filled ? m->value : 0;
        }
        if (!(operands[i + 1] = tensor_of(s, data[i], m->like.ndim, m->like.shape, false))) {
            Py_XDECREF(operands[1]);
            return NULL;
        }
    }
    result = op_apply(s, 3, operands, multiply_add, NULL, !((tensor *)x)->base.ndim);
    Py_DECREF(operands[1]);
    Py_DECREF(operands[2]);
    return result;
}

/* masked_fill(x, mask, value): `value` where the mask is not 0. */
static PyObject *nn_masked_fill(PyObject *module, PyObject *args)
{
    PyObject *x, *like, *result = NULL;
    double value;
    mask m = {0};
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "OOd:masked_fill", &x, &like, &value))
        return NULL;
    if (!tensor_check(s, x))
        return ext_wrong_type("x", "a rapt.nn.Tensor", x);
    if (array_like_read(like, "mask", false, &m.like) < 0)
        return NULL;
    m.value = (float)value;
    PyObject *trained = align(s, (tensor *)x, &m) < 0 ? NULL : PyObject_GetAttrString(x, "requires_grad");
    if (trained)
        result = trained == Py_True && tape_current() ? compute(s, x, &m) : choose(s, (tensor *)x, &m);
    Py_XDECREF(trained);
    free(m.like.data);
    return result;
}

PyMethodDef mask_functions[] = {{"masked_fill", nn_masked_fill, METH_VARARGS, NULL}, {0}};
