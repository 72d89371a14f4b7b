/* ops/held_weight.h: weights that stay in their file, stored in fewer bits (param_source_hold). For the base of adapters, which
 * training does not change. */
#ifndef OPS_HELD_WEIGHT_H
#define OPS_HELD_WEIGHT_H

#include "tape/tape_core.h"

/* tape_refresh_operand for a weight that is not held. */
void held_weight_refresh(const rapt_tape *t, const rapt_param *w);

/* From now on the packed forms of all held weights of a set stay in memory once a pass of the tape that records has made them: as
 * much memory as the matrices in fp32 take, if products are in bf16, and none of that. Out of memory: the failure sticks in the
 * set. */
void held_weights_keep(rapt_params *set, const rapt_tape *t);

/* Operand B of a product, W^T if `turned` or else W, packed in scratch memory, which the caller gives back (tape_mark) after the
 * product, or kept. NULL: w is not held; or out of memory, and the tape has failed. */
const rapt_real *held_weight(rapt_tape *t, const rapt_param *w, bool turned);

#endif
