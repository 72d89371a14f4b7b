/* train/shards/grad_uses.h: counts how often a backward pass adds to the gradient of each parameter, and so tells when one is
 * complete. For ready.c, which sends complete gradients away, and optimizer/grad_release.c, which applies and releases them. */
#ifndef TRAIN_SHARDS_GRAD_USES_H
#define TRAIN_SHARDS_GRAD_USES_H

#include "tape/grad_watch.h"

typedef struct grad_uses {
    rapt_tape *t;
    size_t params;
    const rapt_tensor **list; /* [count]: those that are watched, by address */
    size_t count;
    uint32_t *uses, *left;    /* [params]: additions in a pass, and additions that this pass has still to make */
} grad_uses;

/* For the parameters of the set for which `wanted` is true; nothing is learnt yet. grad_uses_of replaces the set by another one
 * of the same model. RAPT_ERR_MEMORY: there is nothing to free. */
rapt_code grad_uses_make(grad_uses *u, rapt_tape *t, const rapt_params *set, bool (*wanted)(const rapt_param *), rapt_error *err);
void grad_uses_of(grad_uses *u, const rapt_params *set, bool (*wanted)(const rapt_param *));
void grad_uses_free(grad_uses *u);

/* Calls fn(context, ...) in all passes from here to grad_uses_end, as grad_watch does. */
void grad_uses_watch(grad_uses *u, grad_watch_fn *fn, void *context);
void grad_uses_end(grad_uses *u);

/* Before a pass that shows how often each gradient is added to (it may be a counting pass), and for each addition. */
void grad_uses_learn(grad_uses *u);
void grad_uses_learn_one(grad_uses *u, const rapt_tensor *x);

/* Before a pass, and for each addition: whether x's gradient is complete. If the pass adds more often than the one that was
 * learnt, the tape fails. */
void grad_uses_begin(grad_uses *u);
bool grad_uses_complete(grad_uses *u, const rapt_tensor *x);

#endif
