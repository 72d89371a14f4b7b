/* train/adam_rows.h: exact Adam for matrices of which a step uses few rows, such as an embedding: a row that a step did
 * not use still decays, and so do its moments, but only when it is next looked at. For adam.c. */
#ifndef TRAIN_ADAM_ROWS_H
#define TRAIN_ADAM_ROWS_H

#include "rapt/tensor.h"

#include "base/arena.h"
#include "kernels/kernels.h"

#define ADAM_ROWS_HISTORY 256 /* steps that a row may be behind; part of the tests, not of the numbers */

typedef struct adam_rows {
    const rapt_param *param;
    rapt_real *m, *v;
    size_t rows, width;
    bool decays;       /* there is a weight decay */
    uint32_t steps;    /* of this parameter; wraps around */
    uint32_t *current; /* [rows]: the step that a row is up to date with */
    uint8_t *moved;    /* [rows]: 0 where both moments are zero */
    kernels_adam history[2 * ADAM_ROWS_HISTORY]; /* of the last steps, each twice: every stretch of them is in one piece */
} adam_rows;

/* NULL: out of memory. All moments are zero. */
adam_rows *adam_rows_new(arena *memory, const rapt_param *p, rapt_real *m, rapt_real *v, bool decays);
/* All rows are up to date, with moments that somebody else has written. */
void adam_rows_restart(adam_rows *r);

/* A step begins: every row is one more behind. */
void adam_rows_begin_step(adam_rows *r, const kernels_adam *step);
/* What the step does with rows first .. first + count - 1: used ones move, and one in ADAM_ROWS_HISTORY of the others
 * is brought up to date, in turns. */
void adam_rows_step(adam_rows *r, const kernels *k, size_t first, size_t count);
/* Steps that a row has missed. */
typedef struct adam_missed {
    size_t row;
    uint32_t since, steps;
} adam_missed;

/* False where the row is up to date. Otherwise it counts as such from now on, and the caller replays what it has missed:
 * so each row is on one list once. */
bool adam_rows_claim(adam_rows *r, size_t row, adam_missed *missed);
void adam_rows_replay(adam_rows *r, const kernels *k, const adam_missed *missed);

#endif
