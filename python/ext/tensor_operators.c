/* tensor_operators.c: + - * / @ of tensors, with numbers and with arrays of other packages. */
#include <string.h>

#include "nn.h"

/* The module's state, by a or b: one of the two is a tensor; the other may be any object, with any attributes. */
static const ext_state *state_of(PyObject *a, PyObject *b)
{
    return ext_state_of(PyType_GetSlot(Py_TYPE(a), Py_tp_dealloc) == (void *)tensor_dealloc ? a : b);
}

static bool is_number(PyObject *x)
{
    return PyFloat_Check(x) || PyLong_Check(x);
}

/* An operand of an operator: a tensor, a number, an array. NULL without an exception: it is none. */
static PyObject *operand_of(const ext_state *s, PyObject *x)
{
    if (tensor_check(s, x) || is_number(x) || PyObject_CheckBuffer(x) || PyObject_HasAttrString(x, "__array__"))
        return tensor_from(s, x, "an operand");
    return NULL;
}

static PyObject *binary(PyObject *a, PyObject *b, op_fn *fn)
{
    const ext_state *s = state_of(a, b);
    PyObject *x[2] = {operand_of(s, a), NULL}, *result = NULL;
    if (x[0])
        x[1] = operand_of(s, b);
    if (x[0] && x[1])
        result = op_apply(s, 2, x, fn, NULL, !((tensor *)x[0])->base.ndim && !((tensor *)x[1])->base.ndim);
    else if (!PyErr_Occurred())
        result = Py_NewRef(Py_NotImplemented);
    Py_XDECREF(x[0]);
    Py_XDECREF(x[1]);
    return result;
}

static rapt_tensor *add(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count, (void)context;
    return rapt_op_add(t, x[0], x[1]);
}

static rapt_tensor *subtract(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count, (void)context;
    return rapt_op_subtract(t, x[0], x[1]);
}

static rapt_tensor *multiply(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count, (void)context;
    return rapt_op_multiply(t, x[0], x[1]);
}

static rapt_tensor *scale(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count;
    return rapt_op_scale(t, x[0], *(const double *)context);
}

PyObject *tensor_add(PyObject *a, PyObject *b)
{
    return binary(a, b, add);
}

PyObject *tensor_subtract(PyObject *a, PyObject *b)
{
    return binary(a, b, subtract);
}

/* alpha x; alpha is a number. */
static PyObject *scaled(PyObject *x, double alpha)
{
    return op_apply(ext_state_of(x), 1, &x, scale, &alpha, !((tensor *)x)->base.ndim);
}

PyObject *tensor_multiply(PyObject *a, PyObject *b)
{
    if (!is_number(a) && !is_number(b))
        return binary(a, b, multiply);
    double alpha = PyFloat_AsDouble(is_number(a) ? a : b);
    return alpha == -1 && PyErr_Occurred() ? NULL : scaled(is_number(a) ? b : a, alpha);
}

/* Whether x is a number, or a tensor that is one and gets no gradient: such as the root of a size. */
static bool is_divisor(const ext_state *s, PyObject *x)
{
    if (!tensor_check(s, x))
        return is_number(x);
    PyObject *trained = PyObject_GetAttrString(x, "requires_grad");
    const bool constant = trained == Py_False;
    Py_XDECREF(trained);
    return constant && !((tensor *)x)->base.ndim;
}

PyObject *tensor_divide(PyObject *a, PyObject *b)
{
    const ext_state *s = state_of(a, b);
    if (!tensor_check(s, a) || !is_divisor(s, b))
        return Py_NewRef(Py_NotImplemented);
    double by = PyFloat_AsDouble(b);
    if (by == -1 && PyErr_Occurred())
        return NULL;
    if (by != 0)
        return scaled(a, 1 / by);
    PyErr_SetString(PyExc_ZeroDivisionError, "division of a tensor by zero");
    return NULL;
}

PyObject *tensor_negate(PyObject *x)
{
    return scaled(x, -1);
}

/* ---- matrix products ----------------------------------------------------------------------------------------------- */

/* x [n] as a matrix. */
static rapt_tensor *as_matrix(rapt_tape *t, rapt_tensor *x, bool is_row)
{
    const size_t n = rapt_tensor_features(x);
    return x->ndim > 1 ? x : rapt_op_reshape(t, x, 2, is_row ? (size_t[]){1, n} : (size_t[]){n, 1}, NULL);
}

/* x [..., r, c] with the leading dimensions of the product. */
static rapt_tensor *expanded(rapt_tape *t, rapt_tensor *x, int ndim, const size_t *lead)
{
    size_t shape[RAPT_MAX_DIMS] = {0};
    if (rapt_tape_error(t)->code)
        return x;
    memcpy(shape, lead, (size_t)(ndim - 2) * sizeof *shape);
    memcpy(shape + ndim - 2, x->shape + x->ndim - 2, 2 * sizeof *shape);
    return rapt_op_expand(t, x, ndim, shape);
}

/* a b with leading dimensions that are broadcast; vectors count as a row and a column. */
static rapt_tensor *matmul(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count, (void)context;
    rapt_tensor *a = as_matrix(t, x[0], true), *b = as_matrix(t, x[1], false), *y;
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    size_t shape[RAPT_MAX_DIMS] = {0};
    if (rapt_tape_error(t)->code)
        return a;
    for (int i = 0; i < ndim - 2; i++) {
        const size_t of_a = i < ndim - a->ndim ? 1 : a->shape[i - ndim + a->ndim];
        const size_t of_b = i < ndim - b->ndim ? 1 : b->shape[i - ndim + b->ndim];
        shape[i] = of_a == 1 ? of_b : of_a;
    }
    if (b->ndim == 2 && a->ndim > 2) { // one product
        y = rapt_op_reshape(t, a, 2, (size_t[]){rapt_tensor_rows(a), rapt_tensor_features(a)}, NULL);
        y = rapt_op_matmul(t, y, b, false);
    } else {
        y = rapt_op_matmul(t, expanded(t, a, ndim, shape), expanded(t, b, ndim, shape), false);
    }
    int kept = ndim - 2;
    if (x[0]->ndim > 1)
        shape[kept++] = a->shape[a->ndim - 2];
    if (x[1]->ndim > 1)
        shape[kept++] = b->shape[b->ndim - 1];
    if (kept == 0)
        shape[kept++] = 1;
    return rapt_tape_error(t)->code ? y : rapt_op_reshape(t, y, kept, shape, NULL);
}

PyObject *tensor_matmul(PyObject *a, PyObject *b)
{
    const ext_state *s = state_of(a, b);
    if (is_number(a) || is_number(b))
        return Py_NewRef(Py_NotImplemented);
    PyObject *x[2] = {operand_of(s, a), NULL}, *result = NULL;
    if (x[0])
        x[1] = operand_of(s, b);
    if (x[0] && x[1]) {
        const int of_a = ((tensor *)x[0])->base.ndim, of_b = ((tensor *)x[1])->base.ndim;
        if (of_a && of_b)
            result = op_apply(s, 2, x, matmul, NULL, of_a == 1 && of_b == 1);
        else
            PyErr_SetString(s->errors[RAPT_ERR_SHAPE], "matmul: an operand has no dimensions");
    } else if (!PyErr_Occurred()) {
        result = Py_NewRef(Py_NotImplemented);
    }
    Py_XDECREF(x[0]);
    Py_XDECREF(x[1]);
    return result;
}
