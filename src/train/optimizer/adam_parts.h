/* train/optimizer/adam_parts.h (internal): a step of an optimizer that is made for some parameters at a time: rapt_adam_step, in
 * parts. For adam.c, and for grad_release.c, which makes it for a parameter as soon as its gradient is complete. */
#ifndef TRAIN_OPTIMIZER_ADAM_PARTS_H
#define TRAIN_OPTIMIZER_ADAM_PARTS_H

#include "rapt/train.h"
#include "train/optimizer/adam_options.h"
#include "train/optimizer/param_slices.h"

/* A step that has begun. */
typedef struct adam_parts {
    rapt_adam *adam;
    rapt_tape *tape;
    step_constants vector, matrix; /* of Adam, unless the optimizer is SGD; what decays differs */
    double lr, grad_scale;
} adam_parts;

/* Begins the step that rapt_adam_step(adam, t, lr, grad_scale) makes. Errors as in rapt_adam_step. */
rapt_code adam_parts_begin(adam_parts *s, rapt_adam *adam, rapt_tape *t, double lr, double grad_scale, rapt_error *err);
/* Whether the step changes p, and p is no matrix of Muon's. To be asked at most once for each parameter in a step, before its
 * first slice is moved. */
bool adam_parts_moves(const adam_parts *s, const rapt_param *p);
/* Whether p is one of Muon's matrices, whose step needs the gradient as a whole: it must not be deferred. */
bool adam_parts_whole(const adam_parts *s, const rapt_param *p);
/* Makes the step for the rows of a slice. `deferred`: their gradient, which is deferred; NULL: it is in the parameter's own
 * memory. */
void adam_parts_move(const adam_parts *s, const param_slice *p, const rapt_real *deferred);
/* Makes Muon's step for its matrices with wanted[index] (NULL: for all); none has a deferred gradient. */
void adam_parts_move_matrices(const adam_parts *s, const uint8_t *wanted);
/* Its name in a profile. */
const char *adam_step_name(const rapt_adam *a);
/* The bytes that this reads and writes for a list of slices. */
double adam_parts_bytes(const adam_parts *s, const param_slices *slices);

#endif
