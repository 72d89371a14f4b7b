/* train/shards/step_share.h: the small messages of processes in a step: the sums of each batch, which gradients exist, and
 * whether to stop. For step.c. */
#ifndef TRAIN_SHARDS_STEP_SHARE_H
#define TRAIN_SHARDS_STEP_SHARE_H

#include "train/run.h"

/* The sums of a batch, for reports and for the weight of the step. */
typedef struct batch_sums {
    double nll, book;
    uint64_t tokens;
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

#endif
