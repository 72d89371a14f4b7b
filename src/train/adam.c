/* train/adam.c: moments and steps of Adam. For the training loop; all parameters are one list of pieces for the threads.
 * Rows that a step doesn't use are in adam_rows.c, the norm for clipping in grad_norm.c. */
#include "rapt/train.h"

#include "base/math.h"
#include "ops/late.h"
#include "ops/profile_op.h"
#include "train/adam_rows.h"
#include "train/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CATCH_UP_AT_ONCE 512 /* rows */
#define SMALL_THINGS ((size_t)1 << 16) /* beside the moments: lists, ends of cache lines */

struct rapt_adam {
    rapt_params *set;
    rapt_adam_options options;
    arena memory;
    size_t count;       /* of parameters, when they were counted */
    rapt_real **m, **v; /* [count], NULL where nothing is trained */
    adam_rows **rows;   /* [count], of sparse ones whose rows may be behind; else NULL */
    uint64_t steps;
};

static bool trained(const rapt_param *p)
{
    return !p->buffer && !p->frozen;
}

static bool allocate_moments(rapt_adam *a, size_t i)
{
    const rapt_param *p = rapt_params_at(a->set, i);
    if (!trained(p))
        return true;
    a->m[i] = arena_zeroed(&a->memory, rapt_tensor_size(&p->value), sizeof **a->m);
    a->v[i] = arena_zeroed(&a->memory, rapt_tensor_size(&p->value), sizeof **a->v);
    bool ok = a->m[i] && a->v[i];
    if (ok && p->sparse && !a->options.lazy && p->value.ndim >= 2) {
        a->rows[i] = adam_rows_new(&a->memory, p, a->m[i], a->v[i], a->options.weight_decay != 0);
        ok = a->rows[i] != NULL;
    }
    return ok;
}

static bool adam_allocate(rapt_adam *a)
{
    size_t n = a->count = rapt_params_count(a->set);
    a->m = arena_zeroed(&a->memory, n, sizeof *a->m);
    a->v = arena_zeroed(&a->memory, n, sizeof *a->v);
    a->rows = arena_zeroed(&a->memory, n, sizeof *a->rows);
    bool ok = a->m && a->v && a->rows;
    for (size_t i = 0; ok && i < n; i++)
        ok = allocate_moments(a, i);
    return ok;
}

/* Of both moments of all that is trained: one chunk holds them. */
static size_t moments_size(const rapt_params *set)
{
    size_t numbers = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        numbers += trained(rapt_params_at(set, i)) ? 2 * rapt_tensor_size(&rapt_params_at(set, i)->value) : 0;
    return numbers * sizeof(rapt_real);
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    rapt_adam *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->options = *options;
        arena_init(&a->memory, moments_size(set) + SMALL_THINGS);
    }
    if (a && adam_allocate(a))
        return a;
    rapt_fail(err, RAPT_ERR_MEMORY, "no memory for Adam's moments");
    rapt_adam_free(a);
    return NULL;
}

void rapt_adam_free(rapt_adam *a)
{
    if (!a)
        return;
    arena_free(&a->memory);
    free(a);
}

uint64_t rapt_adam_steps(const rapt_adam *a)
{
    return a->steps;
}

void rapt_adam_set_steps(rapt_adam *a, uint64_t steps)
{
    a->steps = steps;
    for (size_t i = 0; i < a->count; i++)
        if (a->rows[i])
            adam_rows_restart(a->rows[i]);
}

rapt_real *rapt_adam_first_moment(const rapt_adam *a, size_t index)
{
    return a->m[index];
}

rapt_real *rapt_adam_second_moment(const rapt_adam *a, size_t index)
{
    return a->v[index];
}

static kernels_adam coefficients(const rapt_adam *a, double lr, double grad_scale)
{
    double steps = (double)a->steps;
    /* rounded as the kernel has them, so that the weights of an average sum to what the correction divides by */
    double beta1 = (double)(rapt_real)a->options.beta1, beta2 = (double)(rapt_real)a->options.beta2;
    return (kernels_adam){.beta1 = (rapt_real)a->options.beta1,
                          .beta2 = (rapt_real)a->options.beta2,
                          .step_size = (rapt_real)(lr / (1 - math_pow(beta1, steps))),
                          .inv_sqrt_bc2 = (rapt_real)(1 / sqrt(1 - math_pow(beta2, steps))),
                          .eps = (rapt_real)a->options.eps,
                          .grad_scale = (rapt_real)grad_scale,
                          .decay = 1};
}

/* ---- a step ----------------------------------------------------------------------------------------------- */

typedef struct step_loop {
    const rapt_adam *a;
    const rapt_tape *t;
    kernels_adam vector, matrix; /* only matrices decay */
    pieces pieces;
} step_loop;

static const kernels_adam *constants_of(const step_loop *l, const rapt_param *p)
{
    return p->value.ndim >= 2 ? &l->matrix : &l->vector;
}

static void update(const step_loop *l, const piece *p, size_t first, size_t rows, const rapt_real *grad)
{
    size_t from = first * p->width;
    l->t->k->adam(rows * p->width, p->param->value.data + from, grad, l->a->m[p->index] + from, l->a->v[p->index] + from,
                  constants_of(l, p->param));
}

static void update_used_rows(const step_loop *l, const piece *p)
{
    const uint8_t *used = p->param->row_used;
    for (size_t row = p->first; row < p->first + p->rows; row++)
        if (used[row])
            update(l, p, row, 1, p->param->value.grad + row * p->width);
}

static void update_piece(void *context, size_t index, int worker)
{
    const step_loop *l = context;
    const piece *p = &l->pieces.list[index];
    if (p->param->late.dy)
        update(l, p, p->first, p->rows, late_chunk(l->t, worker, p->param, p->first, p->rows));
    else if (l->a->rows[p->index])
        adam_rows_step(l->a->rows[p->index], l->t->k, p->first, p->rows);
    else if (p->param->sparse && l->a->options.lazy)
        update_used_rows(l, p);
    else
        update(l, p, p->first, p->rows, p->param->value.grad + p->first * p->width);
}

/* A parameter without a gradient stays as it is; a sparse one has none where no row was used. */
static bool moves(const rapt_adam *a, const rapt_param *p, size_t i)
{
    if (!a->m[i] || p->frozen)
        return false;
    return p->late.dy || (p->sparse ? memchr(p->row_used, 1, p->value.shape[0]) != NULL : p->value.grad_filled);
}

/* Asked once for each parameter, before its first piece. */
static bool begins_to_move(const void *context, const rapt_param *p, size_t i)
{
    const step_loop *l = context;
    if (!moves(l->a, p, i))
        return false;
    if (l->a->rows[i])
        adam_rows_begin_step(l->a->rows[i], constants_of(l, p));
    return true;
}

static rapt_code check_count(const rapt_adam *a, rapt_error *err)
{
    size_t there = rapt_params_count(a->set);
    return there == a->count ? RAPT_OK
                             : rapt_fail(err, RAPT_ERR_VALUE, "Adam was made for %zu parameters, and there are %zu", a->count,
                                         there);
}

/* Late gradients must be of this pass, and alone: those that others have added to are made now. */
static rapt_code check_late(const rapt_adam *a, rapt_tape *t, rapt_error *err)
{
    rapt_code code = check_count(a, err);
    for (size_t i = 0; i < a->count && !code; i++) {
        rapt_param *p = rapt_params_at(a->set, i);
        code = late_check(t, p, err);
        if (!code && p->value.grad_filled)
            code = rapt_param_settle(t, p, err);
    }
    return code;
}

rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    step_loop l = {.a = a, .t = t};
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        code = check_late(a, t, err);
    if (code)
        return code;
    a->steps++;
    l.vector = l.matrix = coefficients(a, lr, grad_scale);
    l.matrix.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    pieces_begin(&l.pieces, a->set, begins_to_move, &l);
    while (pieces_next(&l.pieces)) {
        profile_op(t, "adam", 0, 7.0 * (double)l.pieces.numbers); /* four are read, three written */
        pool_run(t->pool, l.pieces.count, 4 * l.pieces.numbers, update_piece, &l);
    }
    profile_end(t);
    return RAPT_OK;
}

/* ---- rows that are behind --------------------------------------------------------------------------------- */

typedef struct rows_loop {
    adam_rows *r;
    const kernels *k;
    adam_missed list[CATCH_UP_AT_ONCE];
    size_t count, work;
} rows_loop;

static void replay_one(void *context, size_t index, int worker)
{
    const rows_loop *l = context;
    (void)worker;
    adam_rows_replay(l->r, l->k, &l->list[index]);
}

static void replay_list(rapt_tape *t, rows_loop *l)
{
    pool_run(t->pool, l->count, 4 * l->work, replay_one, l);
    l->count = l->work = 0;
}

/* Puts a row on the list where it is behind. */
static void list_row(rapt_tape *t, rows_loop *l, size_t row)
{
    if (!adam_rows_claim(l->r, row, &l->list[l->count]))
        return;
    l->work += l->list[l->count++].steps * l->r->width;
    if (l->count == CATCH_UP_AT_ONCE)
        replay_list(t, l);
}

static adam_rows *adam_rows_of(const rapt_adam *a, const rapt_param *p)
{
    for (size_t i = 0; i < a->count; i++)
        if (rapt_params_at(a->set, i) == p)
            return a->rows[i];
    return NULL;
}

rapt_code rapt_adam_catch_up(rapt_adam *a, rapt_tape *t, rapt_param *p, rapt_tokens tokens)
{
    rows_loop l = {.r = adam_rows_of(a, p), .k = t->k};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; l.r && i < tokens.batch * tokens.time; i++) {
        if (tokens.ids[i] >= 0 && (size_t)tokens.ids[i] < l.r->rows)
            list_row(t, &l, (size_t)tokens.ids[i]);
        else
            code = RAPT_ERR_VALUE;
    }
    replay_list(t, &l);
    return code;
}

rapt_code rapt_adam_flush(rapt_adam *a, rapt_tape *t, rapt_error *err)
{
    rapt_code code = rapt_tape_status(t, err);
    for (size_t i = 0; i < a->count && !code; i++) {
        rows_loop l = {.r = a->rows[i], .k = t->k};
        for (size_t row = 0; l.r && row < l.r->rows; row++)
            list_row(t, &l, row);
        replay_list(t, &l);
    }
    return code;
}
