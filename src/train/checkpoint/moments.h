/* train/checkpoint/moments.h: Adam's moments, and Muon's, as one sequence, wherever they are: one process has all of them; in a
 * group, each rank has its own part (ZeRO, stage 1). For checkpoints, which are the same either way. Portion by portion, so that
 * no rank needs memory for all. */
#ifndef TRAIN_CHECKPOINT_MOMENTS_H
#define TRAIN_CHECKPOINT_MOMENTS_H

#include "rapt/group.h"
#include "rapt/train.h"

#include "train/optimizer/moving_average.h"

/* Elements at .. RESULT - 1 of a parameter are shared out alike: bounds[i] .. bounds[i + 1] - 1, in elements of the parameter,
 * belong to rank group_owner(i, ranks). 0: every rank has the moments of this parameter whole. */
typedef size_t moments_segment(const void *context, size_t param, size_t at, size_t *bounds);

typedef struct moments {
    rapt_adam *adam;
    moving_average *average;   /* NULL: there is none; else every rank has all of it */
    rapt_group *group;         /* NULL: all moments are here, and the other members are not used */
    moments_segment *segment;
    const void *context;
    size_t *bounds;            /* memory for them, [ranks + 1] */
} moments;

/* A part of one moment of one parameter, contiguous in a checkpoint. */
typedef struct moments_part {
    bool in_8_bits;      /* in 8 bits (adam_moment.h); else fp32 */
    size_t param;
    bool second;         /* the second moment */
    size_t first, count; /* bytes of the moment */
} moments_part;

/* Whether this process reads and writes files: rank 0, or the only one. */
bool moments_at_first(const moments *m);

/* Max bytes of a part. */
size_t moments_part_max(void);
/* The next part of all moments, in the order of a checkpoint, which has 8-bit moments last; false: there is none. *part begins as
 * {0}. */
bool moments_next(const moments *m, const rapt_params *set, moments_part *part);

/* Collects a part from all ranks in `to` [count] of rank 0; `to` may be NULL on the others. */
rapt_code moments_collect(const moments *m, const moments_part *part, void *to, rapt_error *err);
/* Sets a part from `from` [count], which rank 0 has filled and which the others receive. Each rank keeps its own part. */
rapt_code moments_hand_out(const moments *m, const moments_part *part, void *from, rapt_error *err);

#endif
