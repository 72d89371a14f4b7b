/* attention.c: softmax under valid lengths, and multi-head attention. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

int lens_read(const ext_state *s, PyObject *lens, size_t batch, size_t queries, rapt_mask *mask, array_like *hold)
{
    *hold = (array_like){0};
    if (lens == Py_None)
        return 0;
    if (array_like_read(lens, "valid_lens", true, hold) < 0)
        return -1;
    const bool fits = (hold->ndim == 1 && hold->shape[0] == batch) ||
                      (hold->ndim == 2 && hold->shape[0] == batch && hold->shape[1] == queries);
    if (!fits) {
        char given[96];
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "valid_lens is %s; for a batch of %zu with %zu queries each it must be [%zu] or "
                                                "[%zu, %zu]%s",
                     array_like_shape(hold, given, sizeof given), batch, queries, batch, batch, queries,
                     hold->ndim > 1 ? ": numbers of valid keys, not a mask (causal=True hides later keys)" : "");
        free(hold->data);
        *hold = (array_like){0};
        return -1;
    }
    mask->valid_lens = hold->data;
    mask->per_query = hold->ndim == 2;
    return 0;
}

static rapt_tensor *masked_softmax(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context)
{
    (void)count;
    return rapt_op_masked_softmax(t, x[0], context);
}

/* masked_softmax(x, valid_lens or None): x [batch, queries, keys], [batch, heads, queries, keys] or [queries, keys]. */
static PyObject *nn_masked_softmax(PyObject *module, PyObject *args)
{
    PyObject *x, *lens, *result = NULL;
    rapt_mask mask = {0};
    array_like hold = {0};
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "OO:masked_softmax", &x, &lens))
        return NULL;
    if (!tensor_check(s, x))
        return ext_wrong_type("X", "a rapt.nn.Tensor", x);
    const rapt_tensor *value = &((tensor *)x)->value;
    const size_t batch = value->ndim > 2 ? value->shape[0] : 1, queries = value->ndim > 1 ? value->shape[value->ndim - 2] : 1;
    if (lens_read(s, lens, batch, queries, &mask, &hold) == 0)
        result = op_apply(s, 1, &x, masked_softmax, &mask, false);
    free(hold.data);
    return result;
}

/* The name of a module stays as long as the tape, which has captured weights under it. */
static int keep_name(op *o, PyObject *name)
{
    if (!o->is_kept)
        return 0;
    if (!o->tape->keep && !(o->tape->keep = PyList_New(0)))
        return -1;
    return PyList_Append(o->tape->keep, name);
}

static int read_projections(op *o, PyObject *parameters, rapt_multi_head_attention *m)
{
    rapt_linear *linears[] = {&m->q, &m->k, &m->v, &m->o};
    for (Py_ssize_t i = 0; i < 4; i++) {
        if (!(linears[i]->weight = op_parameter(o, PyTuple_GetItem(parameters, 2 * i))) ||
            op_parameter_or_none(o, PyTuple_GetItem(parameters, 2 * i + 1), &linears[i]->bias) < 0)
            return -1;
    }
    return 0;
}

typedef struct request {
    PyObject *x[3], *parameters, *name, *lens;
    rapt_multi_head_attention m;
    rapt_mask mask;
    int captures;
} request;

/* (result, weights or None). */
static PyObject *attend(op *o, request *r)
{
    rapt_tensor *x[3], *y, *weights;
    rapt_tape *t = o->tape->tape;
    for (int i = 0; i < 3; i++) {
        if (!(x[i] = op_operand(o, r->x[i])))
            return NULL;
    }
    if (read_projections(o, r->parameters, &r->m) < 0 || keep_name(o, r->name) < 0)
        return NULL;
    op_run(o);
    rapt_tape_capture_attention(t, r->captures ? RAPT_CAPTURE_BEFORE_DROPOUT : RAPT_CAPTURE_NONE);
    y = rapt_multi_head_attention_forward(t, &r->m, x[0], x[1], x[2], &r->mask);
    weights = r->captures && !rapt_tape_error(t)->code ? rapt_tape_attention(t, r->m.name) : NULL;
    rapt_tape_capture_attention(t, RAPT_CAPTURE_NONE);
    op_ran(o);
    PyObject *result = op_result(o, y, false);
    PyObject *captured = result ? (weights ? op_result(o, weights, false) : Py_NewRef(Py_None)) : NULL;
    if (captured)
        return Py_BuildValue("(NN)", result, captured);
    Py_XDECREF(result);
    return NULL;
}

/* multi_head_attention(name, queries, keys, values, (W_q, b_q, W_k, ..., b_o), heads, dropout, valid_lens or None, causal, past,
 * captures). */
static PyObject *nn_multi_head_attention(PyObject *module, PyObject *args)
{
    op o;
    request r = {0};
    Py_ssize_t heads, past;
    int causal;
    array_like hold;
    PyObject *result = NULL;
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "OOOOO!ndOpnp:multi_head_attention", &r.name, &r.x[0], &r.x[1], &r.x[2], &PyTuple_Type,
                          &r.parameters, &heads, &r.m.dropout, &r.lens, &causal, &past, &r.captures))
        return NULL;
    if (PyTuple_Size(r.parameters) != 8 || heads < 1 || past < 0 || !(r.m.name = ext_text(r.name, "name"))) {
        if (!PyErr_Occurred())
            ext_invalid("num_heads is 1 or more");
        return NULL;
    }
    r.m.heads = r.m.kv_heads = (size_t)heads;
    r.mask = (rapt_mask){.causal = causal, .past = (size_t)past};
    if (!tensor_check(s, r.x[0]))
        return ext_wrong_type("queries", "a rapt.nn.Tensor", r.x[0]);
    if (((tensor *)r.x[0])->base.ndim != 3) {
        char given[96];
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "attention: queries must be [batch, queries, features], not %s",
                     tensor_shape(r.x[0], given, sizeof given));
        return NULL;
    }
    const size_t *shape = ((tensor *)r.x[0])->value.shape;
    if (lens_read(s, r.lens, shape[0], shape[1], &r.mask, &hold) < 0)
        return NULL;
    if (op_begin(&o, s) == 0) {
        result = attend(&o, &r);
        op_end(&o, result);
    }
    free(hold.data);
    return result;
}

PyMethodDef attention_functions[] = {{"masked_softmax", nn_masked_softmax, METH_VARARGS, NULL},
                                     {"multi_head_attention", nn_multi_head_attention, METH_VARARGS, NULL}, {0}};
