/* train/optimizer/adam_rows.c: makes the steps that a row has missed, one after the other, with the constants of each step. For
 * adam.c, and for readers of such a row, through its parameter's state. */
#include "train/optimizer/adam_rows.h"

#include <fenv.h>
#include <string.h>

#define REFRESH_AT_ONCE 512 /* rows */

adam_rows *adam_rows_new(arena *memory, rapt_param *p, rapt_real *m, rapt_real *v, bool decays)
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

void adam_rows_begin_step(adam_rows *r, const kernels *k, const kernels_adam *step)
{
    param_defer_updates(r->param, adam_rows_refresh, r);
    r->k = k;
    size_t at = r->steps++ % ADAM_ROWS_HISTORY;
    r->history[at] = r->history[at + ADAM_ROWS_HISTORY] = *step;
}

/* The number of steps by which the updates of a row are deferred. */
typedef struct missed_steps {
    size_t row;
    uint32_t since, steps;
} missed_steps;

/* The steps that the row has missed up to step `until`; false if it has missed none. The row counts as up to date from now on,
 * and the caller must replay the missed steps; so each row is on one list only. */
static bool adam_rows_claim(adam_rows *r, size_t row, uint32_t until, missed_steps *missed)
{
    *missed = (missed_steps){row, r->current[row], until - r->current[row]};
    if (missed->steps == 0)
        return false; /* without a write, because several threads may read rows that are up to date */
    r->current[row] = until;
    return true;
}

/* If the moments are zero, only the decay is left, and often there is none. Adam with eps 0 would divide 0 by 0. */
static void adam_rows_replay(adam_rows *r, const missed_steps *missed)
{
    size_t at = missed->row * r->width;
    const kernels_adam *first = &r->history[missed->since % ADAM_ROWS_HISTORY];
    rapt_real *p = r->param->value.data + at;
    if (r->moved[missed->row] || !(first->eps > 0))
        r->k->adam_replay(r->width, p, r->m + at, r->v + at, missed->steps, first);
    else if (r->decays)
        r->k->adam_replay(r->width, p, NULL, NULL, missed->steps, first);
}

/* A row that the step uses, up to the step before, and then the step. */
static void adam_rows_move(adam_rows *r, size_t row)
{
    size_t at = row * r->width;
    missed_steps missed;
    if (adam_rows_claim(r, row, r->steps - 1, &missed))
        adam_rows_replay(r, &missed);
    r->k->adam(r->width, r->param->value.data + at, r->param->value.grad + at, r->m + at, r->v + at,
               &r->history[(r->steps - 1) % ADAM_ROWS_HISTORY]);
    r->moved[row] = 1;
    r->current[row] = r->steps;
}

void adam_rows_step(adam_rows *r, size_t first, size_t count)
{
    const uint8_t *used = r->param->state->row_used, *end = used + first + count, *next = used + first;
    missed_steps missed;
    for (; (next = memchr(next, 1, (size_t)(end - next))); next++)
        adam_rows_move(r, (size_t)(next - used));
    for (size_t row = first + (r->steps - first) % ADAM_ROWS_HISTORY; row < first + count; row += ADAM_ROWS_HISTORY)
        if (adam_rows_claim(r, row, r->steps, &missed))
            adam_rows_replay(r, &missed);
}

/* ---- before rows are read ----------------------------------------------------------------------------------- */

typedef struct missed_list {
    adam_rows *r;
    missed_steps rows[REFRESH_AT_ONCE];
    size_t count, work;
} missed_list;

/* A pool_fn. */
static void adam_rows_replay_one(void *context, size_t index, int worker)
{
    const missed_list *l = context;
    (void)worker;
    adam_rows_replay(l->r, &l->rows[index]);
}

static void adam_rows_replay_list(missed_list *l, pool *threads)
{
    if (threads)
        pool_run(threads, l->count, 4 * l->work, adam_rows_replay_one, l);
    for (size_t i = 0; !threads && i < l->count; i++)
        adam_rows_replay(l->r, &l->rows[i]);
    l->count = l->work = 0;
}

void adam_rows_refresh(void *context, pool *threads, const int32_t *ids, size_t count)
{
    missed_list l = {.r = context};
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV); /* as in a pass: it belongs to the number format */
    for (size_t i = 0, rows = ids ? count : l.r->rows; i < rows; i++) {
        size_t row = ids ? (size_t)ids[i] : i;
        if (!adam_rows_claim(l.r, row, l.r->steps, &l.rows[l.count]))
            continue;
        l.work += l.rows[l.count++].steps * l.r->width;
        if (l.count == REFRESH_AT_ONCE)
            adam_rows_replay_list(&l, threads);
    }
    adam_rows_replay_list(&l, threads);
    fesetenv(&environment);
}

void adam_rows_end(adam_rows *r)
{
    struct rapt_param_state *s = r->param->state;
    if (s->refresh_context != r)
        return;
    param_refresh(r->param, NULL);
    s->refresh = NULL;
    s->refresh_context = NULL;
}
