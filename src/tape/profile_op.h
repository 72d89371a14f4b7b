/* tape/profile_op.h: operations announce themselves to the profile (rapt/profile.h). Nothing happens unless a profile is on. */
#ifndef TAPE_PROFILE_OP_H
#define TAPE_PROFILE_OP_H

#include "tape/tape_core.h"

/* From here to the next call, time belongs to `op`, to its backward pass while the tape is traversed. `bytes`: how many it
 * reads and writes at least. op NULL: to no operation. */
void profile_count(rapt_tape *t, const char *op, double flops, double bytes);

/* For an operation whose operands and results are all in fp32, `elements` elements in all. */
static inline void profile_op(rapt_tape *t, const char *op, double flops, double elements)
{
    if (t->profile.on)
        profile_count(t, op, flops, elements * sizeof(rapt_real));
}

/* For an operation with operands of fewer bits. */
static inline void profile_op_bytes(rapt_tape *t, const char *op, double flops, double bytes)
{
    if (t->profile.on)
        profile_count(t, op, flops, bytes);
}

/* The time after this belongs to no operation. */
static inline void profile_end(rapt_tape *t)
{
    profile_op(t, NULL, 0, 0);
}

#endif
