/* train/shards/ready.h: in a backward pass, which buckets of gradients are complete: told as soon as they are, so that they are
 * added to those of other processes before the pass ends. For steps of a group. */
#ifndef TRAIN_SHARDS_READY_H
#define TRAIN_SHARDS_READY_H

#include "tape/tape_core.h"
#include "train/shards/buckets.h"

typedef struct ready_buckets ready_buckets;

/* Called once for each bucket of a pass, in the order of the array whatever comes first, so that it is the same on every
 * process. */
typedef void ready_fn(void *context, size_t index);

/* Gradients of the layout's parameters lie in the array from `array` on whenever a pass is watched. All are borrowed. NULL: out
 * of memory. */
ready_buckets *ready_new(rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                         ready_fn *fn, void *context, rapt_error *err);
void ready_free(ready_buckets *r);

/* The pass from here to ready_learnt, which may be only a counted one, shows how often a pass adds to each gradient. */
void ready_learn(ready_buckets *r, const rapt_real *array);
void ready_learnt(ready_buckets *r);

/* The next backward pass completes the gradients in the array. */
void ready_begin(ready_buckets *r, const rapt_real *array);
/* It has ended, or has failed: the buckets that are left are told of. Nothing where no pass was begun. */
void ready_end(ready_buckets *r);

#endif
