/* nn.h: tensors, parameters and tapes of rapt.nn, for the files that make and compute them.
 *
 * A pass of nn.grad() has a tape of its own, and each of its tensors keeps that tape alive, so that no tensor ever changes or
 * loses its memory. Outside of nn.grad() an operation runs on a tape that is used again afterwards, and its result is copied
 * out of it. A tape whose tensors are all gone is used again, too: the memory of a training step is allocated once.
 *
 * Tapes are of one thread at a time: `busy` is set while one computes, because the interpreter's lock is not held then. */
#ifndef RAPT_PYTHON_NN_H
#define RAPT_PYTHON_NN_H

#include "array.h"

#include "rapt/nn.h"
#include "rapt/observe.h"

typedef struct tensor tensor;

/* The copy on a tape of a tensor that the user made and that gets a gradient. */
typedef struct tape_leaf {
    PyObject *leaf;
    rapt_tensor *copy;
} tape_leaf;

typedef struct tape {
    PyObject_HEAD
    rapt_tape *tape;
    PyObject *pool;      /* owner of its threads */
    PyObject *keep;      /* list of the operands whose memory is not the tape's; NULL: none yet */
    tape_leaf *leaves;   /* references */
    size_t leaf_count, leaf_capacity;
    uint64_t id;         /* of this pass; never 0 */
    PyObject *outer;     /* the thread's tape before enter(); NULL: none */
    PyObject *observer;  /* a callable, or NULL */
    ext_call *call;      /* while it computes */
    bool busy, entered, records;
} tape;

/* A tensor: on a tape, or a constant with memory of its own, or a parameter. */
struct tensor {
    array base;          /* its elements; without dimensions (ndim 0) it is one element [1] for the library */
    rapt_tensor value;   /* what operations of another pass read: a constant */
    rapt_tensor *at;     /* on `tape`, or a parameter's; NULL: a constant */
    PyObject *tape;      /* NULL: on none */
    bool is_shared;      /* `at` shows elements of a parameter, which change; base.data is a copy */
    bool requires_grad;  /* constants: made by the user, to get a gradient */
    PyObject *grad;      /* constants: a tensor, the sum of all backward passes; NULL: none yet */
    uint64_t bound;      /* tape.id of the last pass that has kept this tensor as an operand */
    rapt_tensor *copy;   /* constants that get a gradient: the copy in that pass */
};

typedef struct parameter_name {
    struct parameter_name *next;
    char text[];
} parameter_name;

typedef struct parameter {
    tensor base;
    parameter_name *names; /* that it has had */
    rapt_params *set;    /* of this parameter alone; base.base.owner frees it */
    rapt_param *param;
} parameter;

/* ---- tape.c ------------------------------------------------------------------------------------------------- */

/* A new pass, not entered. */
tape *tape_start(const ext_state *s, rapt_pass pass);
/* The tape of nn.grad() in this thread, borrowed; NULL: none. */
tape *tape_current(void);
/* The next step number of passes without one, and the seed of nn.seed(). */
uint64_t tape_next_step(void);
uint64_t tape_seed(void);
/* Held while gradients of parameters change: by backward passes and optimizers. */
ext_mutex *tape_training_lock(void);

/* parameter.c: parameters are counted from 0 again, which decides their random values. */
void parameter_restart(void);

/* ---- op.c: one operation, or some ------------------------------------------------------------------------------- */

/*    op o;
 *    if (op_begin(&o, s) < 0)
 *        return NULL;
 *    rapt_tensor *x = op_operand(&o, self), *y;
 *    if (x) {
 *        op_run(&o);
 *        y = rapt_op_...(o.tape->tape, x);
 *        op_ran(&o);
 *        result = op_result(&o, y, false);
 *    }
 *    return op_end(&o, result);
 */
typedef struct op {
    const ext_state *s;
    tape *tape;
    bool is_kept; /* the tape is one of nn.grad() */
    const rapt_real *shared; /* the elements of a parameter that an operand shows; NULL: none does */
    ext_call call;
} op;

int op_begin(op *o, const ext_state *s);
/* The operand that a tensor is on this tape; NULL with an exception set: it is none, or belongs to another pass that would not
 * get its gradient. */
rapt_tensor *op_operand(op *o, PyObject *x);
/* The parameter of a handle. NULL with an exception set: it is none. */
rapt_param *op_parameter(op *o, PyObject *p);
/* op_parameter where None means none: *out is then NULL. -1 with an exception set. */
int op_parameter_or_none(op *o, PyObject *p, rapt_param **out);
/* Between these two the interpreter's lock is not held. */
void op_run(op *o);
void op_ran(op *o);
/* A result as a tensor; `scalar`: one element, without dimensions. NULL with an exception set: the pass has failed. */
PyObject *op_result(op *o, rapt_tensor *y, bool scalar);
/* Gives the tape back; returns `result`. */
PyObject *op_end(op *o, PyObject *result);

/* All of that for a function of some tensors; each handle is a tensor, or the result is NULL with an exception set. */
typedef rapt_tensor *op_fn(rapt_tape *t, rapt_tensor *const *x, size_t count, const void *context);
PyObject *op_apply(const ext_state *s, size_t count, PyObject *const *x, op_fn *fn, const void *context, bool scalar);

/* ---- tensor.c, tensor_ops.c ---------------------------------------------------------------------------------------- */

/* A constant with these elements (malloc'd; taken over, also on failure); ndim 0: one element. */
PyObject *tensor_of(const ext_state *s, float *data, int ndim, const size_t *shape, bool requires_grad);
/* A tensor on a tape. */
PyObject *tensor_on(const ext_state *s, tape *t, rapt_tensor *y, bool scalar, bool shared);
/* A new reference to x if it is a tensor, or else a constant with the elements of an array or nested lists. */
PyObject *tensor_from(const ext_state *s, PyObject *x, const char *name);
static inline bool tensor_check(const ext_state *s, PyObject *x)
{
    return PyObject_TypeCheck(x, s->tensor);
}
/* "[2, 3]", without dimensions "[]"; returns `text`. */
char *tensor_shape(const PyObject *x, char *text, size_t size);
void tensor_dealloc(PyObject *self);
PyObject *tensor_backward(PyObject *self, PyObject *unused);
PyObject *tensor_detach(PyObject *self, PyObject *unused);
extern PyMethodDef tensor_methods[];
PyObject *tensor_subscript(PyObject *self, PyObject *index);
PyObject *tensor_item(PyObject *self, Py_ssize_t i);
PyObject *tensor_add(PyObject *a, PyObject *b);
PyObject *tensor_subtract(PyObject *a, PyObject *b);
PyObject *tensor_multiply(PyObject *a, PyObject *b);
PyObject *tensor_divide(PyObject *a, PyObject *b);
PyObject *tensor_matmul(PyObject *a, PyObject *b);
PyObject *tensor_negate(PyObject *x);
PyObject *tensor_concat(PyObject *module, PyObject *args);

/* ---- attention.c --------------------------------------------------------------------------------------------------  */

/* Valid lengths as a mask of scores [batch, queries, keys]: None, [batch] or [batch, queries]. `hold` has them and is freed by
 * the caller. -1 with an exception set. */
int lens_read(const ext_state *s, PyObject *lens, size_t batch, size_t queries, rapt_mask *mask, array_like *hold);

#endif
