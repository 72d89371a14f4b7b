/* train/shards/step_ranks.h: what processes that train together do in a step besides their own passes: gradients are added in the
 * tree over all shards; each process gets the sums of its own ranges, and computes its part of the norm and of Adam's step; then
 * all gather the parameters. For step.c, in this order; all processes call the same functions.
 *
 * Messages travel while passes run: a bucket of gradients leaves as soon as the last backward pass has completed it, and a
 * bucket of parameters is waited for when the next forward pass reads it.
 *
 * Every process has the whole gradients of sparse parameters, and makes Adam's step for all their rows. */
#ifndef TRAIN_SHARDS_STEP_RANKS_H
#define TRAIN_SHARDS_STEP_RANKS_H

#include "rapt/group.h"

#include "base/buffer.h"
#include "group/group_ops.h"
#include "group/shard_tree.h"
#include "train/run.h"
#include "train/shards/buckets.h"
#include "train/shards/gathers.h"
#include "train/shards/ready.h"
#include "train/shards/shard_sums.h"

/* ---- rows_share.c: gradients of sparse parameters of all processes: each process gets the few rows of all others, and adds them
 * over all shards. For step_ranks.c. */

typedef struct rows_share {
    rapt_group *group;
    uint32_t shards;
    shard_node nodes[SHARD_MAX_SUBTREES + 2]; /* sums that wait for their right neighbors, and */
    packed_rows rows[SHARD_MAX_SUBTREES + 3]; /* their rows; sums are made in the last one */
    buffer message;
} rows_share;

/* Frees its memory. */
void rows_share_free(rows_share *s);
/* Replaces the gradient of sparse parameter `param` by the sum over all processes, all of which call it. RAPT_ERR_MEMORY: out of
 * memory; or the failure of the group. */
rapt_code rows_share_sum(rows_share *s, shard_sums *own, const kernels *k, const rapt_param *p, rapt_error *err);

/* ---- step_share.c: the small messages of processes in a step: the sums of each batch, which gradients exist, and whether to
 * stop. For step.c. */

/* The sums of a batch, for reports and for the weight of the step. */
typedef struct batch_sums {
    double nll, book;
    uint64_t tokens, labels; /* labels: that have loss, for the throughput; tokens are pairs if data are preferences */
    reward_sums rewards;
} batch_sums;

typedef struct step_share {
    size_t batches; /* max batches of a process */
    size_t params;
    size_t bytes;   /* bytes of a message */
    char *mine, *all; /* [bytes], [ranks, bytes] */
    uint8_t *touched; /* [params]: 1 if a process has a gradient */
} step_share;

/* RAPT_ERR_MEMORY: out of memory; step_share_free is due all the same. */
rapt_code step_share_make(step_share *s, const run *r, rapt_error *err);
void step_share_free(step_share *s);

/* Where this process stores the sums of its own batches, in order. */
batch_sums *step_share_batches(step_share *s);

/* Tells the others the state of this process (`code`, with `err` if it is not RAPT_OK; `touched`: its gradients) and takes
 * theirs. Afterwards r->stop_agreed, r->checkpoint_agreed and r->waited_all are the same on all processes, and s->touched[i] says
 * whether one of them has a gradient of parameter i. Fails on all alike if one has failed. */
rapt_code step_share_tell(step_share *s, run *r, const uint8_t *touched, rapt_code code, rapt_error *err);
/* Batch i of the step, after that. */
batch_sums step_share_batch(const step_share *s, const run *r, uint64_t i);

/* ---- step_ranks.c: the step */

typedef struct step_ranks {
    run *r;
    shard_sums *own;
    arena memory;
    rapt_real *values;    /* parameters, as the layout has them */
    buckets buckets;
    rapt_real **parts;    /* [buckets, subtrees]: the arguments of group_reduce */
    group_op **ops;       /* [buckets] in flight, or NULL */
    size_t begun;         /* buckets whose sums over all shards were begun in this step */
    rapt_error lost;      /* why a sum could not be begun */
    ready_buckets *ready; /* tells of buckets that a backward pass has completed, */
    bool learnt;          /* once it has seen one */
    gathers *gathers;
    uint8_t *owned;       /* [blocks]: 1 for blocks of this process */
    double *sums;         /* [blocks] of squares; */
    double *shared;       /* [blocks] by owners, whose are bounds[i] .. bounds[i + 1] - 1; */
    size_t *bounds;       /* [ranks + 1] */
    uint32_t *place;      /* [blocks]: the place of each block in that order */
    step_share share;
    rows_share rows;
} step_ranks;

/* NULL: out of memory. */
step_ranks *step_ranks_new(run *r, const gradient_layout *layout, shard_sums *own, rapt_error *err);
/* Makes sure that nothing in flight uses memory of the run: after a failure, even of the group, messages are dropped. False: they
 * could not be dropped (group_halt), so the memory of the run must stay. */
bool step_ranks_drop(step_ranks *s);
/* Frees *s; NULL is fine. Leaves it allocated if step_ranks_drop fails. */
void step_ranks_free(step_ranks *s);

/* Before and after the last of the own passes: its backward pass completes the gradients of this process, bucket by bucket. */
void step_ranks_begin_last(step_ranks *s);
void step_ranks_end_last(step_ranks *s, bool failed);
/* Between a forward and a backward pass: all parameters are there, and memory that was used to gather them is free. */
rapt_code step_ranks_arrived(step_ranks *s, rapt_error *err);

/* Call it after the process's own passes, whose result is `code` with `err`. The parameters get the gradient of the step, as far
 * as this process has it. Fails on all processes if one has failed. */
rapt_code step_ranks_add(step_ranks *s, rapt_code code, rapt_error *err);
/* The norm of the gradient, as rapt_grad_norm has it. */
rapt_code step_ranks_norm(step_ranks *s, double *norm, rapt_error *err);
/* After it: the parameter whose gradient is not finite, or NULL. */
const char *step_ranks_not_finite(const step_ranks *s);
/* Adam's step, bucket by bucket, after which the parameters of all processes are on their way (gathers.h). */
rapt_code step_ranks_update(step_ranks *s, double lr, double scale, rapt_error *err);

/* Brings every element of the parameters to every process, unrounded. All call it after the same step, before anything but passes
 * of the tape reads the parameters (a checkpoint, a sample, the end). Does nothing without a group. */
rapt_code step_ranks_whole(const run *r, rapt_error *err);

#endif
