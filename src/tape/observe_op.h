/* tape/observe_op.h: names for the intermediates of a pass (rapt/observe.h). A module enters a scope, the prefix of its names;
 * an operation names its result, and a fused operation on an observed tape runs its unfused form instead. Outside of a scope,
 * and on a tape without an observer, all of this does nothing. */
#ifndef TAPE_OBSERVE_OP_H
#define TAPE_OBSERVE_OP_H

#include "tape/tape_core.h"

#define OBSERVE_ROWS "batch time feature"
#define OBSERVE_QUERIES "batch query feature"
#define OBSERVE_KEYS "batch key feature"
#define OBSERVE_QUERY_HEADS "batch head query feature"
#define OBSERVE_KEY_HEADS "batch head key feature"
#define OBSERVE_WEIGHTS "batch head query key"
#define OBSERVE_LOGITS "batch time token"

/* Until observe_leave, names begin with `name` (of a parameter or a module; NULL: names have no prefix) without its last `parts`
 * components: "encoder.0.ffn.dense1.weight" without two is "encoder.0.ffn". `name` must outlive the pass. Returns the scope
 * around it. */
observe_scope observe_enter(rapt_tape *t, const char *name, int parts);
/* Until observe_leave, nothing is observed, because what runs is only a part of a computation that gets a name afterwards. */
observe_scope observe_nothing(rapt_tape *t);
/* Returns to the scope `outer`. Returns y, the result of the module. After a failure, a new pass leaves all scopes. */
rapt_tensor *observe_leave(rapt_tape *t, observe_scope outer, rapt_tensor *y);

/* Whether the tape has an observer. */
static inline bool observe_on(const rapt_tape *t)
{
    return t->observer.fn != NULL;
}

/* Whether it has one and intermediates have a name here: inside of a scope. */
static inline bool observe_here(const rapt_tape *t)
{
    return observe_on(t) && t->observer.scope.text;
}

/* Passes x to the observer under the name "scope.what", and its gradient in rapt_backward. `what`, `formula` and `axes` (one word
 * for each dimension; surplus leading words are dropped) must outlive the pass. Returns x. */
rapt_tensor *observe_tensor(rapt_tape *t, const char *what, const char *formula, const char *axes, rapt_tensor *x);
/* Says what the next intermediate that is observed is computed from: call it before observe_tensor. Does nothing outside of a
 * scope. */
void observe_from(rapt_tape *t, observe_source from);
/* The names of what the intermediate that was observed last was computed from. For an observer, while it is called with an
 * intermediate (not with a gradient). */
typedef struct observe_names {
    const char *inputs[2];     /* of intermediates; NULL: there is none, or it was not observed */
    const char *parameters[2]; /* NULL: there is none */
    double constant;           /* 0: none */
} observe_names;
observe_names observe_sources(const rapt_tape *t);
/* observe_tensor of a model's logits, as "output", and of their softmax, "probabilities". Returns them. */
rapt_tensor *observe_logits(rapt_tape *t, const char *formula, rapt_tensor *logits);
/* observe_tensor for y, the result of rapt_op_dropout for x, if anything was dropped: x's name and ".dropped". Returns y. */
rapt_tensor *observe_dropped(rapt_tape *t, const rapt_tensor *x, rapt_tensor *y);
/* Whether x was observed with the name `what`, in any scope. */
bool observe_is(const rapt_tape *t, const rapt_tensor *x, const char *what);
/* The name of the layer that has a parameter, in memory of the pass: "dense1" for "encoder.0.ffn.dense1.weight"; "" if it has no
 * name; NULL if out of memory (the failure is recorded). */
const char *observe_layer(rapt_tape *t, const char *parameter);
/* A tensor of x's shape for the observer alone, its elements undefined, without gradient. NULL on out-of-memory (the failure
 * is recorded), or after a failure. Not a result of the tape, whose results should be finite. */
rapt_tensor *observe_copy(rapt_tape *t, const rapt_tensor *x);

/* For the tape: x is about to get a gradient, and may be a parameter. */
void observe_reached(rapt_tape *t, const rapt_tensor *x);
/* For the tape: the backward pass is over; passes all gradients to the observer. */
void observe_gradients(rapt_tape *t);

#endif
