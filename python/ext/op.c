/* op.c: operations on the tape of the thread's pass, or on a spare one whose result is copied. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

int op_begin(op *o, const ext_state *s)
{
    *o = (op){.s = s, .tape = tape_current(), .is_kept = tape_current() != NULL};
    if (o->is_kept && o->tape->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the pass computes already: an observer cannot run operations in it");
        return -1;
    }
    if (o->is_kept)
        Py_INCREF((PyObject *)o->tape);
    else
        o->tape = tape_start(s, (rapt_pass){.training = true, .seed = tape_seed(), .step = tape_next_step()});
    if (!o->tape)
        return -1;
    o->tape->busy = true;
    return 0;
}

/* The tape needs the operand as long as itself. */
static int keep_operand(op *o, tensor *x)
{
    tape *t = o->tape;
    if (x->bound == t->id)
        return 0;
    if (!t->keep && !(t->keep = PyList_New(0)))
        return -1;
    if (PyList_Append(t->keep, (PyObject *)x) < 0)
        return -1;
    x->bound = t->id;
    return 0;
}

static int add_leaf(tape *t, tensor *x)
{
    if (t->leaf_count == t->leaf_capacity) {
        size_t capacity = t->leaf_capacity ? 2 * t->leaf_capacity : 8;
        tape_leaf *longer = PyMem_Realloc(t->leaves, capacity * sizeof *longer);
        if (!longer) {
            PyErr_NoMemory();
            return -1;
        }
        t->leaves = longer;
        t->leaf_capacity = capacity;
    }
    t->leaves[t->leaf_count++] = (tape_leaf){Py_NewRef((PyObject *)x), x->copy};
    return 0;
}

/* The copy of a constant that gets a gradient: one in each pass. */
static rapt_tensor *leaf_of(op *o, tensor *x)
{
    rapt_error err = {0};
    if (x->bound == o->tape->id)
        return x->copy;
    x->copy = rapt_tape_input(o->tape->tape, x->value.ndim, x->value.shape, x->value.data, true);
    if (rapt_tape_status(o->tape->tape, &err)) {
        ext_raise(o->s, &err);
        return NULL;
    }
    if (add_leaf(o->tape, x) < 0)
        return NULL;
    x->bound = o->tape->id;
    return x->copy;
}

/* A result in the memory of this operand would change with the parameter. Only operations of one operand give such a result. */
static void note_shared(op *o, const rapt_tensor *x)
{
    o->shared = x->data;
}

rapt_tensor *op_operand(op *o, PyObject *handle)
{
    if (!tensor_check(o->s, handle)) {
        ext_wrong_type("an operand", "a rapt.nn.Tensor", handle);
        return NULL;
    }
    tensor *x = (tensor *)handle;
    if (x->tape == (PyObject *)o->tape) {
        if (x->is_shared)
            note_shared(o, x->at);
        return x->at;
    }
    if (!x->tape && x->at) { // a parameter
        rapt_param *p = op_parameter(o, handle);
        if (p && p->sparse) {
            PyErr_SetString(PyExc_ValueError, "a sparse parameter can be looked up, and be the matrix of a linear layer; no "
                                              "other operation takes it");
            return NULL;
        }
        if (p)
            note_shared(o, x->at);
        return p ? x->at : NULL;
    }
    if (x->tape && o->tape->records && x->at->requires_grad) {
        PyErr_SetString(PyExc_ValueError, "the tensor belongs to another pass of grad(), which this one cannot give a gradient: "
                                          "use detach()");
        return NULL;
    }
    if (x->requires_grad && o->tape->records)
        return leaf_of(o, x);
    return o->is_kept && keep_operand(o, x) < 0 ? NULL : &x->value;
}

rapt_param *op_parameter(op *o, PyObject *handle)
{
    if (!PyObject_TypeCheck(handle, o->s->parameter)) {
        ext_wrong_type("a parameter", "a rapt.nn.Parameter", handle);
        return NULL;
    }
    return o->is_kept && keep_operand(o, (tensor *)handle) < 0 ? NULL : ((parameter *)handle)->param;
}

int op_parameter_or_none(op *o, PyObject *p, rapt_param **out)
{
    *out = p == Py_None ? NULL : op_parameter(o, p);
    return p == Py_None || *out ? 0 : -1;
}

void op_run(op *o)
{
    o->tape->call = &o->call;
    ext_call_begin(&o->call, NULL);
}

void op_ran(op *o)
{
    ext_call_end(&o->call);
    o->tape->call = NULL;
}

PyObject *op_result(op *o, rapt_tensor *y, bool scalar)
{
    rapt_error err = {0};
    if (rapt_tape_status(o->tape->tape, &err))
        return ext_raise(o->s, &err);
    if (o->is_kept)
        return tensor_on(o->s, o->tape, y, scalar, y->data == o->shared);
    float *data = malloc(rapt_tensor_size(y) * sizeof *data);
    if (!data)
        return PyErr_NoMemory();
    memcpy(data, y->data, rapt_tensor_size(y) * sizeof *data);
    return tensor_of(o->s, data, scalar ? 0 : y->ndim, y->shape, false);
}

PyObject *op_end(op *o, PyObject *result)
{
    o->tape->busy = false;
    Py_DECREF((PyObject *)o->tape);
    return result;
}

PyObject *op_apply(const ext_state *s, size_t count, PyObject *const *x, op_fn *fn, const void *context, bool scalar)
{
    op o;
    PyObject *result = NULL;
    rapt_tensor *few[4], **operands = count <= 4 ? few : PyMem_Malloc(count * sizeof *operands);
    if (!operands)
        return PyErr_NoMemory();
    if (op_begin(&o, s) < 0)
        goto end;
    size_t at = 0;
    while (at < count && (operands[at] = op_operand(&o, x[at])))
        at++;
    if (at == count) {
        op_run(&o);
        rapt_tensor *y = fn(o.tape->tape, operands, count, context);
        op_ran(&o);
        result = op_result(&o, y, scalar);
    }
    op_end(&o, result);
end:
    if (operands != few)
        PyMem_Free(operands);
    return result;
}
