/* ops/record_steps.h: how modules name what they compute (rapt/observe.h), and how the tape hands over gradients. Everything here
 * is for passes that somebody records: modules ask record_on() once and compute as ever where it says no. */
#ifndef OPS_RECORD_STEPS_H
#define OPS_RECORD_STEPS_H

#include "ops/tape_core.h"

static inline bool record_on(const rapt_tape *t)
{
    return t->recorder.fn != NULL;
}

/* What the names of a module's steps begin with: a part of some name that the model has already. */
typedef struct record_scope {
    const char *text;
    size_t length;
} record_scope;

/* `name` (NULL: none) without its last parts: "encoder.0.ffn.dense1.weight" without two is "encoder.0.ffn". */
record_scope record_scope_of(const char *name, int parts);

#define RECORD_BATCH "batch time feature"
#define RECORD_LOGITS "batch time token"

/* Hands over x under the name "scope.what", and its gradient in rapt_backward; nothing where nobody records, or the tape
 * failed. `formula` and `axes` outlive the pass. */
void record_step(rapt_tape *t, record_scope s, const char *what, const char *formula, const char *axes, rapt_tensor *x);
/* rapt_op_dropout(x), a step of its own where it drops. */
rapt_tensor *record_dropout(rapt_tape *t, record_scope s, const char *what, const char *axes, rapt_tensor *x, double p);
/* Copies that no gradient goes through: scores with -inf where the mask hides them; logits as "output", and their softmax. */
void record_masked(rapt_tape *t, record_scope s, const char *axes, const rapt_tensor *scores, const rapt_mask *mask);
void record_logits(rapt_tape *t, record_scope s, const char *formula, rapt_tensor *logits);

/* For the tape: x is about to get a gradient, and may be a parameter; the walk back is over. */
void record_reached(rapt_tape *t, const rapt_tensor *x);
void record_gradients(rapt_tape *t);

#endif
