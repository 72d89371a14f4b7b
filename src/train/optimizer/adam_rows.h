/* train/optimizer/adam_rows.h: exact Adam for matrices of which a step uses few rows, such as an embedding: a row that a step did
 * not use and its moments still decay, but only when the row is next read. For adam.c. */
#ifndef TRAIN_OPTIMIZER_ADAM_ROWS_H
#define TRAIN_OPTIMIZER_ADAM_ROWS_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "tensor/param_state.h"

#define ADAM_ROWS_HISTORY 256 /* max steps that a row may be behind; tests rely on it, results do not depend on it */

typedef struct adam_rows {
    rapt_param *param;
    const kernels *k;  /* kernels of the last step */
    rapt_real *m, *v;
    size_t rows, width;
    bool decays;       /* there is a weight decay */
    uint32_t steps;    /* steps of this parameter; wraps around */
    uint32_t *current; /* [rows]: the step that a row is up to date with */
    uint8_t *moved;    /* [rows]: 0 if both moments are zero */
    kernels_adam history[2 * ADAM_ROWS_HISTORY]; /* the last steps, each stored twice, so that every span of them is contiguous */
} adam_rows;

/* NULL: out of memory. All moments are zero. */
adam_rows *adam_rows_new(arena *memory, rapt_param *p, rapt_real *m, rapt_real *v, bool decays);
/* Says that all rows are up to date, after somebody else has written the moments. */
void adam_rows_restart(adam_rows *r);

/* Begins a step: every row falls one step behind, and is brought up to date before it is read. */
void adam_rows_begin_step(adam_rows *r, const kernels *k, const kernels_adam *step);
/* Makes the step for rows first .. first + count - 1: used rows change, and one in ADAM_ROWS_HISTORY of the others is brought up
 * to date, in turns. */
void adam_rows_step(adam_rows *r, size_t first, size_t count);
/* A param_refresh_fn: brings rows up to date, values and moments. */
void adam_rows_refresh(void *context, pool *threads, const int32_t *ids, size_t count);
/* Brings all rows up to date, before the optimizer is freed or others read them. */
void adam_rows_end(adam_rows *r);

#endif
