/* tape/profile_op.h: how operations say what they are about to do. For rapt/profile.h; nothing happens unless a profile is on. */
#ifndef TAPE_PROFILE_OP_H
#define TAPE_PROFILE_OP_H

#include "tape/tape_core.h"

/* From here to the next call the time is `op`'s, of its backward pass while the tape is traversed. `numbers` it reads and
 * writes at least. op NULL: nobody's. */
void profile_count(rapt_tape *t, const char *op, double flops, double elements);

static inline void profile_op(rapt_tape *t, const char *op, double flops, double elements)
{
    if (t->profile.on)
        profile_count(t, op, flops, elements);
}

/* The time after an operation is nobody's. */
static inline void profile_end(rapt_tape *t)
{
    profile_op(t, NULL, 0, 0);
}

#endif
