/* train/shards/gathers.h: gathers parameters from the processes that own them, bucket by bucket, while the next step's forward
 * pass is already running: reading a parameter waits for its buckets (tensor/param_state.h). For steps of a group.
 *
 * If products are in bf16, parameters that only products read come rounded, in half the bytes; every result is the same as with
 * whole parameters. Their owners keep all digits, and gathers_whole sends them. */
#ifndef TRAIN_SHARDS_GATHERS_H
#define TRAIN_SHARDS_GATHERS_H

#include "group/group_ops.h"
#include "tape/tape_core.h"
#include "train/shards/buckets.h"

typedef struct gathers gathers;

/* `values` holds the trained dense parameters. `staging` is as large, and unused from the optimizer's step to the next backward
 * pass. Both follow the layout. All arguments are borrowed. NULL: out of memory. */
gathers *gathers_new(rapt_group *g, const rapt_tape *t, const rapt_params *set, const gradient_layout *layout, const buckets *b,
                     rapt_real *values, rapt_real *staging, rapt_error *err);
/* After gathers_finish, or after the group was halted. NULL is fine. */
void gathers_free(gathers *g);

/* Begins to gather a bucket of which this process has made its own part. All processes begin the same buckets in the same order,
 * each once a step. Until it is complete, parameters of the bucket may only be read through their refresh. */
rapt_code gathers_begin(gathers *g, size_t index, rapt_error *err);
/* Waits for all buckets. A failure stays, including the failure of an earlier refresh. */
rapt_code gathers_finish(gathers *g, rapt_error *err);
/* gathers_finish, after which no element is rounded until the next gathers_begin. All processes call it after the same step,
 * before parameters are saved, compared, or read by anything but passes of the tape. */
rapt_code gathers_whole(gathers *g, rapt_error *err);

#endif
