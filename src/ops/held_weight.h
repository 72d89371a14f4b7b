/* ops/held_weight.h: weights that stay in their file, stored in fewer bits (param_source_hold). For the base of adapters, which
 * training does not change. */
#ifndef OPS_HELD_WEIGHT_H
#define OPS_HELD_WEIGHT_H

#include "tape/tape_core.h"

/* tape_refresh_operand for a weight that is not held. */
void held_weight_refresh(const rapt_tape *t, const rapt_param *w);

/* Operand B of a product, W^T if `turned` or else W, packed in scratch memory, which the caller gives back (tape_mark) after the
 * product. NULL: w is not held; or out of memory, and the tape has failed. */
const rapt_real *held_weight(rapt_tape *t, const rapt_param *w, bool turned);

#endif
