/* nn.c: what modules compute, other than attention: functions of tensors, parameters and numbers. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

/* linear(x, weight, bias or None). */
static PyObject *nn_linear(PyObject *module, PyObject *args)
{
    op o;
    PyObject *x, *weight, *bias, *result = NULL;
    rapt_linear m = {0};
    if (!PyArg_ParseTuple(args, "OOO:linear", &x, &weight, &bias) || op_begin(&o, PyModule_GetState(module)) < 0)
        return NULL;
    rapt_tensor *in = op_operand(&o, x), *y;
    if (in && (m.weight = op_parameter(&o, weight)) && op_parameter_or_none(&o, bias, &m.bias) == 0) {
        op_run(&o);
        y = rapt_linear_forward(o.tape->tape, &m, in);
        op_ran(&o);
        result = op_result(&o, y, false);
    }
    return op_end(&o, result);
}

/* A name of a rapt_ffn_kind without a gate; -1 with an exception set. */
static int ffn_kind_of(const char *name)
{
    static const struct {
        const char *name;
        rapt_ffn_kind kind;
    } kinds[] = {{"relu", RAPT_FFN_RELU}, {"gelu", RAPT_FFN_GELU}, {"gelu_tanh", RAPT_FFN_GELU_TANH}, {"silu", RAPT_FFN_SILU}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(kinds[i].name, name))
            return (int)kinds[i].kind;
    }
    ext_invalid("activation is '%s'; it can be: 'relu', 'gelu', 'gelu_tanh', 'silu'", name);
    return -1;
}

/* ffn(x, weight1, bias1, weight2, bias2, activation). */
static PyObject *nn_ffn(PyObject *module, PyObject *args)
{
    const char *activation;
    int kind;
    op o;
    PyObject *x, *w1, *b1, *w2, *b2, *result = NULL;
    rapt_ffn m = {0};
    if (!PyArg_ParseTuple(args, "OOOOOs:ffn", &x, &w1, &b1, &w2, &b2, &activation) || (kind = ffn_kind_of(activation)) < 0 ||
        op_begin(&o, PyModule_GetState(module)) < 0)
        return NULL;
    m.kind = (rapt_ffn_kind)kind;
    rapt_tensor *in = op_operand(&o, x), *y;
    if (in && (m.dense1.weight = op_parameter(&o, w1)) && (m.dense2.weight = op_parameter(&o, w2)) &&
        op_parameter_or_none(&o, b1, &m.dense1.bias) == 0 && op_parameter_or_none(&o, b2, &m.dense2.bias) == 0) {
        op_run(&o);
        y = rapt_ffn_forward(o.tape->tape, &m, in);
        op_ran(&o);
        result = op_result(&o, y, false);
    }
    return op_end(&o, result);
}

/* layer_norm(x, weight, bias, eps). */
static PyObject *nn_layer_norm(PyObject *module, PyObject *args)
{
    op o;
    PyObject *x, *weight, *bias, *result = NULL;
    rapt_layer_norm m = {0};
    if (!PyArg_ParseTuple(args, "OOOd:layer_norm", &x, &weight, &bias, &m.eps) || op_begin(&o, PyModule_GetState(module)) < 0)
        return NULL;
    rapt_tensor *in = op_operand(&o, x), *y;
    if (in && (m.weight = op_parameter(&o, weight)) && op_parameter_or_none(&o, bias, &m.bias) == 0) {
        op_run(&o);
        y = rapt_layer_norm_forward(o.tape->tape, &m, in);
        op_ran(&o);
        result = op_result(&o, y, false);
    }
    return op_end(&o, result);
}

/* The module may overwrite y, which belongs to the caller, who may look at it later; in an observed pass it does not. */
static rapt_tensor *add_norm(op *o, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y)
{
    if (o->tape->observer)
        return rapt_add_norm_after(o->tape->tape, m, x, y);
    return rapt_op_add_norm(o->tape->tape, x, y, m->norm.weight, m->norm.bias, m->norm.eps,
                            (rapt_residual){.dropout = m->dropout});
}

/* add_norm(x, y, weight, bias, eps, dropout): the norm of x + dropout(y). */
static PyObject *nn_add_norm(PyObject *module, PyObject *args)
{
    op o;
    PyObject *x, *y, *weight, *bias, *result = NULL;
    rapt_add_norm m = {0};
    if (!PyArg_ParseTuple(args, "OOOOdd:add_norm", &x, &y, &weight, &bias, &m.norm.eps, &m.dropout) ||
        op_begin(&o, PyModule_GetState(module)) < 0)
        return NULL;
    rapt_tensor *a = op_operand(&o, x), *b = a ? op_operand(&o, y) : NULL, *sum;
    if (b && (m.norm.weight = op_parameter(&o, weight)) && op_parameter_or_none(&o, bias, &m.norm.bias) == 0) {
        op_run(&o);
        sum = add_norm(&o, &m, a, b);
        op_ran(&o);
        result = op_result(&o, sum, false);
    }
    return op_end(&o, result);
}

/* A tensor as [batch, time, feature], which dropout and positions take. */
static rapt_tensor *as_rows(rapt_tape *t, rapt_tensor *x)
{
    const size_t n = rapt_tensor_features(x);
    return x->ndim > 2 ? x : rapt_op_reshape(t, x, 3, (size_t[]){1, rapt_tensor_size(x) / n, n}, NULL);
}

static rapt_tensor *dropout(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count;
    rapt_tensor *y = rapt_op_dropout(t, as_rows(t, x[0]), *(const double *)context);
    return rapt_tape_error(t)->code ? y : rapt_op_reshape(t, y, x[0]->ndim, x[0]->shape, NULL);
}

/* dropout(x, p). */
static PyObject *nn_dropout(PyObject *module, PyObject *args)
{
    PyObject *x;
    double p;
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "Od:dropout", &x, &p))
        return NULL;
    return op_apply(s, 1, &x, dropout, &p, tensor_check(s, x) && !((tensor *)x)->base.ndim);
}

/* add_positions(x, table, first, dropout): x [batch, time, features] or [time, features]. */
static PyObject *nn_add_positions(PyObject *module, PyObject *args)
{
    op o;
    PyObject *x, *table, *result = NULL;
    Py_ssize_t first;
    rapt_positions m = {0};
    if (!PyArg_ParseTuple(args, "OOnd:add_positions", &x, &table, &first, &m.dropout))
        return NULL;
    if (first < 0) {
        ext_invalid("first is 0 or more");
        return NULL;
    }
    if (op_begin(&o, PyModule_GetState(module)) < 0)
        return NULL;
    rapt_tensor *in = op_operand(&o, x), *y;
    if (in && (m.table = op_parameter(&o, table))) {
        op_run(&o);
        y = rapt_positions_forward(o.tape->tape, &m, in, (size_t)first);
        op_ran(&o);
        result = op_result(&o, y, false);
    }
    return op_end(&o, result);
}

static const option_row EMBED_OPTIONS[] = {
    {"max_norm", OPTION_DOUBLE, offsetof(rapt_embed_options, max_norm)},
    {"norm_type", OPTION_DOUBLE, offsetof(rapt_embed_options, norm_type)},
    {"scale_grad_by_freq", OPTION_BOOL, offsetof(rapt_embed_options, scale_grad_by_freq)},
    {"padding_idx", OPTION_INT, offsetof(rapt_embed_options, padding_idx)},
    {"scale", OPTION_DOUBLE, offsetof(rapt_embed_options, scale)},
    {"dropout", OPTION_DOUBLE, offsetof(rapt_embed_options, dropout)},
    {0}};

/* embedding(weight, ids, options, table=None, first=0): ids [batch, time] or [time]; `table` has positions that are added. */
static PyObject *nn_embedding(PyObject *module, PyObject *args)
{
    op o;
    PyObject *weight, *ids, *options, *table = Py_None, *result = NULL;
    Py_ssize_t first = 0;
    rapt_embedding m = {0};
    array_like from;
    if (!PyArg_ParseTuple(args, "OOO!|On:embedding", &weight, &ids, &PyDict_Type, &options, &table, &first) ||
        options_read(options, EMBED_OPTIONS, &m.options) < 0 || array_like_read(ids, "ids", true, &from) < 0)
        return NULL;
    PyObject *padding = PyDict_GetItemString(options, "padding_idx");
    m.options.has_padding = padding && padding != Py_None;
    m.options.first_position = (size_t)first;
    rapt_tokens tokens = {.ids = from.data, .batch = from.ndim == 2 ? from.shape[0] : 0,
                          .time = from.ndim ? from.shape[from.ndim - 1] : 1};
    if (from.ndim < 1 || from.ndim > 2 || from.count == 0) {
        const ext_state *s = PyModule_GetState(module);
        char given[96];
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "ids must be [batch, time] or [time], with at least one, not %s",
                     array_like_shape(&from, given, sizeof given));
    } else if (op_begin(&o, PyModule_GetState(module)) == 0) {
        if ((m.weight = op_parameter(&o, weight)) && op_parameter_or_none(&o, table, &m.options.positions) == 0) {
            op_run(&o);
            rapt_tensor *y = rapt_embedding_forward(o.tape->tape, &m, tokens);
            op_ran(&o);
            result = op_result(&o, y, false);
        }
        op_end(&o, result);
    }
    free(from.data);
    return result;
}

typedef struct loss {
    array_like labels, lens;
    rapt_loss_options options;
} loss;

static rapt_tensor *cross_entropy(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    const loss *l = context;
    (void)count;
    const rapt_tokens labels = {.ids = l->labels.data, .batch = l->labels.ndim == 2 ? l->labels.shape[0] : 1,
                                .time = l->labels.shape[l->labels.ndim - 1]};
    rapt_tensor *logits = as_rows(t, x[0]);
    return rapt_op_cross_entropy(t, logits, labels, &l->options, NULL);
}

static int check_loss(const ext_state *s, PyObject *logits, const loss *l)
{
    char x[96], labels[96], lens[96];
    tensor_shape(logits, x, sizeof x);
    array_like_shape(&l->labels, labels, sizeof labels);
    if (l->labels.ndim < 1 || l->labels.ndim > 2 || l->labels.ndim + 1 != ((tensor *)logits)->base.ndim || !l->labels.count)
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "cross_entropy: logits are %s, labels %s; they must be [batch, time, classes] "
                                                "and [batch, time], or [n, classes] and [n]", x, labels);
    else if (l->lens.data && (l->labels.ndim != 2 || l->lens.ndim != 1 || l->lens.shape[0] != l->labels.shape[0]))
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "cross_entropy: valid_lens is %s, labels %s; they must be [batch] and "
                                                "[batch, time]", array_like_shape(&l->lens, lens, sizeof lens), labels);
    return PyErr_Occurred() ? -1 : 0;
}

/* cross_entropy(logits, labels, valid_lens or None, label_smoothing, normalizer): the mean, or the sum over a normalizer. */
static PyObject *nn_cross_entropy(PyObject *module, PyObject *args)
{
    PyObject *x, *labels, *lens, *result = NULL;
    loss l = {0};
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "OOOdd:cross_entropy", &x, &labels, &lens, &l.options.label_smoothing, &l.options.normalizer))
        return NULL;
    if (!tensor_check(s, x))
        return ext_wrong_type("logits", "a rapt.nn.Tensor", x);
    if (array_like_read(labels, "labels", true, &l.labels) == 0 &&
        (lens == Py_None || array_like_read(lens, "valid_lens", true, &l.lens) == 0) && check_loss(s, x, &l) == 0) {
        l.options.valid_lens = l.lens.data;
        result = op_apply(s, 1, &x, cross_entropy, &l, true);
    }
    free(l.labels.data);
    free(l.lens.data);
    return result;
}

PyMethodDef nn_functions[] = {
    {"linear", nn_linear, METH_VARARGS, NULL},           {"ffn", nn_ffn, METH_VARARGS, NULL},
    {"layer_norm", nn_layer_norm, METH_VARARGS, NULL},   {"add_norm", nn_add_norm, METH_VARARGS, NULL},
    {"dropout", nn_dropout, METH_VARARGS, NULL},         {"add_positions", nn_add_positions, METH_VARARGS, NULL},
    {"embedding", nn_embedding, METH_VARARGS, NULL},     {"cross_entropy", nn_cross_entropy, METH_VARARGS, NULL},
    {0}};
