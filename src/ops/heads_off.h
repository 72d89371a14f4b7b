/* ops/heads_off.h: heads of attention that are switched off: what they would hand to the output projection becomes zeros. For
 * attention_op.c, attention_rows.c and attention_observed.c. */
#ifndef OPS_HEADS_OFF_H
#define OPS_HEADS_OFF_H

#include "tape/tape_core.h"

/* Zeroes x [.., heads * d], where off[head] is not 0. `off` [heads]; NULL: no head is off, and x stays as it is. */
void heads_off(const rapt_tape *t, rapt_tensor *x, size_t heads, const uint8_t *off);
/* heads_off for x [batch, heads, queries, d]. */
void heads_off_split(const rapt_tape *t, rapt_tensor *x, const uint8_t *off);

#endif
