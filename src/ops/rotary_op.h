/* ops/rotary_op.h: rotary positions of rows of a KV cache whose lengths differ. For self-attention. */
#ifndef OPS_ROTARY_OP_H
#define OPS_ROTARY_OP_H

#include "rapt/tape.h"

/* rapt_op_rotary for examples that begin at different positions, rows[b].past for example b. Inference only. */
rapt_tensor *rotary_op_cached(rapt_tape *t, rapt_tensor *x, const rapt_param *table, const rapt_cached_row *rows);

#endif
