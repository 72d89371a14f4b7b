/* train/shards/ready.h: reports during a backward pass which buckets of gradients are complete, so that they can be added to
 * other processes' before the pass ends. For steps of a group. */
#ifndef TRAIN_SHARDS_READY_H
#define TRAIN_SHARDS_READY_H

#include "tape/tape_core.h"
#include "train/shards/buckets.h"

typedef struct ready_buckets ready_buckets;

/* Called once for each bucket of a pass, in the order of the array, whichever is complete first, so that the order is the same on
 * every process. */
typedef void ready_fn(void *context, size_t index);

/* Watches the gradients of the layout's parameters. All are borrowed. NULL: out of memory. */
ready_buckets *ready_new(rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                         ready_fn *fn, void *context, rapt_error *err);
void ready_free(ready_buckets *r);

/* The pass from here to ready_learnt, which may be a counting pass, shows how often a pass adds to each gradient. */
void ready_learn(ready_buckets *r);
void ready_learnt(ready_buckets *r);

/* The next backward pass completes the gradients. */
void ready_begin(ready_buckets *r);
/* Call it when the pass has ended or failed: reports the remaining buckets. Does nothing if no pass was begun. */
void ready_end(ready_buckets *r);

#endif
