/* train/adam_rows.c: the steps that a row has missed, made one after the other, with the constants that each of them had.
 * For adam.c, which shares the rows out to threads. */
#include "train/adam_rows.h"

#include <string.h>

adam_rows *adam_rows_new(arena *memory, const rapt_param *p, rapt_real *m, rapt_real *v, bool decays)
{
    adam_rows *r = arena_zeroed(memory, 1, sizeof *r);
    if (!r)
        return NULL;
    *r = (adam_rows){.param = p, .m = m, .v = v, .rows = p->value.shape[0], .decays = decays};
    r->width = rapt_tensor_size(&p->value) / r->rows;
    r->current = arena_zeroed(memory, r->rows, sizeof *r->current);
    r->moved = arena_zeroed(memory, r->rows, 1);
    return r->current && r->moved ? r : NULL;
}

static bool all_zero(const rapt_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0)
            return false;
    return true;
}

void adam_rows_restart(adam_rows *r)
{
    r->steps = 0;
    for (size_t row = 0; row < r->rows; row++) {
        size_t at = row * r->width;
        r->current[row] = 0;
        r->moved[row] = !all_zero(r->m + at, r->width) || !all_zero(r->v + at, r->width);
    }
}

void adam_rows_begin_step(adam_rows *r, const kernels_adam *step)
{
    size_t at = r->steps++ % ADAM_ROWS_HISTORY;
    r->history[at] = r->history[at + ADAM_ROWS_HISTORY] = *step;
}

/* What the row has missed up to step `until`; false where that is nothing. */
static bool claim_until(adam_rows *r, size_t row, uint32_t until, adam_missed *missed)
{
    *missed = (adam_missed){row, r->current[row], until - r->current[row]};
    r->current[row] = until;
    return missed->steps > 0;
}

bool adam_rows_claim(adam_rows *r, size_t row, adam_missed *missed)
{
    return claim_until(r, row, r->steps, missed);
}

/* Without moments only the decay is left, and often there is none; Adam with eps 0 would divide 0 by 0. */
void adam_rows_replay(adam_rows *r, const kernels *k, const adam_missed *missed)
{
    size_t at = missed->row * r->width;
    const kernels_adam *first = &r->history[missed->since % ADAM_ROWS_HISTORY];
    rapt_real *p = r->param->value.data + at;
    if (r->moved[missed->row] || !(first->eps > 0))
        k->adam_replay(r->width, p, r->m + at, r->v + at, missed->steps, first);
    else if (r->decays)
        k->adam_replay(r->width, p, NULL, NULL, missed->steps, first);
}

/* A row that the step uses, up to the step before, and then the step. */
static void adam_rows_move(adam_rows *r, const kernels *k, size_t row)
{
    size_t at = row * r->width;
    adam_missed missed;
    if (claim_until(r, row, r->steps - 1, &missed))
        adam_rows_replay(r, k, &missed);
    k->adam(r->width, r->param->value.data + at, r->param->value.grad + at, r->m + at, r->v + at,
            &r->history[(r->steps - 1) % ADAM_ROWS_HISTORY]);
    r->moved[row] = 1;
    r->current[row] = r->steps;
}

void adam_rows_step(adam_rows *r, const kernels *k, size_t first, size_t count)
{
    const uint8_t *used = r->param->row_used, *end = used + first + count, *next = used + first;
    adam_missed missed;
    for (; (next = memchr(next, 1, (size_t)(end - next))); next++)
        adam_rows_move(r, k, (size_t)(next - used));
    for (size_t row = first + (r->steps - first) % ADAM_ROWS_HISTORY; row < first + count; row += ADAM_ROWS_HISTORY)
        if (adam_rows_claim(r, row, &missed))
            adam_rows_replay(r, k, &missed);
}
