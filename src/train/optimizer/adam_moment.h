/* train/optimizer/adam_moment.h (internal): a moment of an optimizer as it is kept, in fp32 or in 8 bits. For checkpoints. */
#ifndef TRAIN_OPTIMIZER_ADAM_MOMENT_H
#define TRAIN_OPTIMIZER_ADAM_MOMENT_H

#include "rapt/train.h"

typedef struct adam_moment {
    void *data;   /* belongs to the optimizer; NULL: the parameter has no such moment */
    size_t bytes;
    bool in_8_bits; /* in the layout of moments8.h; else rapt_real, with the parameter's shape */
    const char *prefix; /* of its name in a checkpoint: adam, adam8, muon, sgd */
} adam_moment;

/* The first or second moment of parameter `index` of the set; updates that are deferred are made first. It may be written;
 * rapt_adam_set_steps must follow. */
adam_moment adam_moment_of(const rapt_adam *a, size_t index, bool second);

/* Parameter `index` of the set as it is (tensor/params.h). */
const rapt_param *adam_param(const rapt_adam *a, size_t index);

#endif
