/* train/shards/gathers.h: parameters come back from the processes that own them, bucket by bucket, while the next step's
 * forward pass is running already: who reads a parameter waits for its buckets (tensor/param_state.h). For steps of a group.
 *
 * Where products are in bf16, those parameters that nothing but products reads come rounded, in half the bytes: every result
 * is as if they had come whole. Their owners keep all digits, and gathers_whole has them sent. */
#ifndef TRAIN_SHARDS_GATHERS_H
#define TRAIN_SHARDS_GATHERS_H

#include "group/group_ops.h"
#include "tape/tape_core.h"
#include "train/shards/buckets.h"

typedef struct gathers gathers;

/* `values` are those of the trained dense parameters, `staging` is as large, and free from the optimizer's step to the next
 * backward pass; both as the layout has them. All are borrowed. NULL: out of memory. */
gathers *gathers_new(rapt_group *g, const rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                     rapt_real *values, rapt_real *staging, rapt_error *err);
/* After gathers_finish, or after the group was halted. NULL is fine. */
void gathers_free(gathers *g);

/* Begins to gather a bucket of which this process has made its own part; all processes begin the same ones in the same order,
 * each once a step. Until it is there, parameters of the bucket are read by way of their refresh alone. */
rapt_code gathers_begin(gathers *g, size_t index, rapt_error *err);
/* Waits for all of them. A failure sticks, including that of a refresh before. */
rapt_code gathers_finish(gathers *g, rapt_error *err);
/* The same, and then no element is rounded until the next gathers_begin: all processes call it after the same step, before
 * parameters are saved, compared, or read by anything but passes of the tape. */
rapt_code gathers_whole(gathers *g, rapt_error *err);

#endif
