/* train/optimizer/adam.c: moments and steps of Adam. For the training loop; all parameters are one list of slices for the
 * threads, or of blocks that this process owns (adam_owned.h). Rows that a step doesn't use are in adam_rows.c, the norm for
 * clipping in grad_norm.c. */
#include "rapt/train.h"

#include "base/math.h"
#include "base/zero_pages.h"
#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/params.h"
#include "train/optimizer/adam_owned.h"
#include "train/optimizer/adam_rows.h"
#include "train/optimizer/param_slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_THINGS ((size_t)1 << 16) /* besides the moments: lists, padding to cache lines */
#define CACHE_LINE ((size_t)64)
#define BLOCKS_AT_ONCE ((size_t)4) /* that a thread takes */

struct rapt_adam {
    rapt_params *set;
    rapt_adam_options options;
    arena memory;
    char *pages;        /* of the moments where they are used in part; else NULL: they are in the arena */
    size_t mapped, given; /* bytes of these pages, and those that moments have */
    size_t count;       /* of parameters, when they were counted */
    rapt_real **m, **v; /* [count], NULL where nothing is trained */
    adam_rows **rows;   /* [count], of sparse ones whose rows may be behind; else NULL */
    uint64_t steps;
};

static bool trained(const rapt_param *p)
{
    return !p->buffer && !p->frozen;
}

/* Of one parameter, zeros. */
static rapt_real *new_moment(rapt_adam *a, const rapt_param *p)
{
    size_t n = rapt_tensor_size(&p->value);
    if (!a->pages)
        return arena_zeroed(&a->memory, n, sizeof **a->m);
    char *moment = a->pages + a->given;
    a->given += (n * sizeof **a->m + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return (rapt_real *)(void *)moment;
}

static bool allocate_moments(rapt_adam *a, size_t i)
{
    rapt_param *p = params_at(a->set, i);
    if (!trained(p))
        return true;
    a->m[i] = new_moment(a, p);
    a->v[i] = new_moment(a, p);
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

/* Of both moments of all that is trained, each padded to `padding` bytes: one chunk holds them. */
static size_t moments_size(const rapt_params *set, size_t padding)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        size_t moment = rapt_tensor_size(&params_at(set, i)->value) * sizeof(rapt_real);
        bytes += trained(params_at(set, i)) ? 2 * ((moment + padding - 1) / padding * padding) : 0;
    }
    return bytes;
}

static double or_default(double x, double standard)
{
    return x > 0 ? x : x < 0 ? 0 : standard;
}

/* Of its memory one part is had at once: a chunk of the arena, or pages. */
static bool adam_reserve(rapt_adam *a, bool in_part)
{
    arena_init(&a->memory, SMALL_THINGS + (in_part ? 0 : moments_size(a->set, 1)));
    a->mapped = in_part ? moments_size(a->set, CACHE_LINE) : 0;
    a->pages = a->mapped ? zero_pages_map(a->mapped) : NULL;
    return a->pages || !a->mapped;
}

static rapt_adam *adam_make(rapt_params *set, const rapt_adam_options *options, bool in_part, rapt_error *err)
{
    rapt_adam *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->options = options ? *options : (rapt_adam_options){0};
        a->options.beta1 = or_default(a->options.beta1, 0.9);
        a->options.beta2 = or_default(a->options.beta2, 0.999);
        a->options.eps = or_default(a->options.eps, 1e-8);
    }
    if (a && adam_reserve(a, in_part) && adam_allocate(a))
        return a;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for Adam's moments");
    rapt_adam_free(a);
    return NULL;
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    return adam_make(set, options, false, err);
}

rapt_adam *adam_owned_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    return adam_make(set, options, true, err);
}

void rapt_adam_free(rapt_adam *a)
{
    if (!a)
        return;
    for (size_t i = 0; a->rows && i < a->count; i++)
        if (a->rows[i])
            adam_rows_end(a->rows[i]);
    arena_free(&a->memory);
    zero_pages_unmap(a->pages, a->mapped);
    free(a);
}

uint64_t rapt_adam_steps(const rapt_adam *a)
{
    return a->steps;
}

void rapt_adam_set_steps(rapt_adam *a, uint64_t steps)
{
    a->steps = steps;
    for (size_t i = 0; i < a->count; i++) {
        if (!a->rows[i])
            continue;
        adam_rows_refresh(a->rows[i], NULL, NULL, 0);
        adam_rows_restart(a->rows[i]);
    }
}

rapt_real *rapt_adam_first_moment(const rapt_adam *a, size_t index)
{
    if (a->rows[index])
        adam_rows_refresh(a->rows[index], NULL, NULL, 0);
    return a->m[index];
}

rapt_real *rapt_adam_second_moment(const rapt_adam *a, size_t index)
{
    if (a->rows[index])
        adam_rows_refresh(a->rows[index], NULL, NULL, 0);
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
    rapt_tape *t;
    kernels_adam vector, matrix; /* only matrices decay */
    param_slices slices;
} step_loop;

static const kernels_adam *constants_of(const step_loop *l, const rapt_param *p)
{
    return p->value.ndim >= 2 ? &l->matrix : &l->vector;
}

static void adam_update(const step_loop *l, const param_slice *p, size_t first, size_t rows, const rapt_real *grad)
{
    size_t from = first * p->width;
    l->t->k->adam(rows * p->width, p->param->value.data + from, grad, l->a->m[p->index] + from, l->a->v[p->index] + from,
                  constants_of(l, p->param));
}

static void update_used_rows(const step_loop *l, const param_slice *p)
{
    const uint8_t *used = p->param->state->row_used;
    for (size_t row = p->first; row < p->first + p->rows; row++)
        if (used[row])
            adam_update(l, p, row, 1, p->param->value.grad + row * p->width);
}

static void update_slice(void *context, size_t index, int worker)
{
    const step_loop *l = context;
    const param_slice *p = &l->slices.list[index];
    if (p->param->state->deferred.dy)
        adam_update(l, p, p->first, p->rows, deferred_chunk(l->t, worker, p->param, p->first, p->rows));
    else if (l->a->rows[p->index])
        adam_rows_step(l->a->rows[p->index], p->first, p->rows);
    else if (p->param->sparse && l->a->options.lazy)
        update_used_rows(l, p);
    else
        adam_update(l, p, p->first, p->rows, p->param->value.grad + p->first * p->width);
}

/* A parameter without a gradient stays as it is; a sparse one has none where no row was used. */
static bool moves(const rapt_adam *a, const rapt_param *p, size_t i)
{
    if (!a->m[i] || p->frozen)
        return false;
    if (p->sparse)
        return memchr(p->state->row_used, 1, p->value.shape[0]) != NULL;
    return p->value.grad_filled || p->state->deferred.dy;
}

/* Asked once for each parameter, before its first slice. */
static bool begins_to_move(const void *context, const rapt_param *p, size_t i)
{
    const step_loop *l = context;
    if (!moves(l->a, p, i))
        return false;
    if (l->a->rows[i])
        adam_rows_begin_step(l->a->rows[i], l->t->k, constants_of(l, p));
    return true;
}

static rapt_code check_count(const rapt_adam *a, rapt_error *err)
{
    size_t there = rapt_params_count(a->set);
    return there == a->count ? RAPT_OK
                             : rapt_fail(err, RAPT_ERR_VALUE, "Adam was made for %zu parameters, and there are %zu", a->count,
                                         there);
}

/* Deferred gradients must be of this pass, and alone: those that others have added to are computed now. */
static rapt_code adam_check_deferred(const rapt_adam *a, rapt_tape *t, rapt_error *err)
{
    rapt_code code = check_count(a, err);
    for (size_t i = 0; i < a->count && !code; i++) {
        rapt_param *p = params_at(a->set, i);
        code = deferred_check(t, p, err);
        if (!code && p->value.grad_filled)
            code = deferred_settle(t, p, err);
    }
    return code;
}

/* Begins step number a->steps + 1. */
static rapt_code begin_step(step_loop *l, rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        code = adam_check_deferred(a, t, err);
    if (code)
        return code;
    l->a = a;
    l->t = t;
    a->steps++;
    l->vector = l->matrix = coefficients(a, lr, grad_scale);
    l->matrix.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    return RAPT_OK;
}

/* Moves the parameters for which `wanted` is true. */
static void move_slices(step_loop *l, bool (*wanted)(const void *, const rapt_param *, size_t))
{
    param_slices_begin(&l->slices, l->a->set, wanted, l);
    while (param_slices_next(&l->slices)) {
        profile_op(l->t, "adam", 0, 7.0 * (double)l->slices.elements); /* four are read, three written */
        pool_run(l->t->pool, l->slices.count, 4 * l->slices.elements, update_slice, l);
    }
    profile_end(l->t);
}

rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    step_loop l;
    rapt_code code = begin_step(&l, a, t, lr, grad_scale, err);
    if (!code)
        move_slices(&l, begins_to_move);
    return code;
}

/* ---- a step of blocks --------------------------------------------------------------------------------------- */

static bool begins_to_move_sparse(const void *context, const rapt_param *p, size_t i)
{
    return p->sparse && begins_to_move(context, p, i);
}

rapt_code adam_owned_begin(adam_owned *s, rapt_adam *a, rapt_tape *t, double lr, double grad_scale, const norm_blocks *b,
                           rapt_error *err)
{
    step_loop l;
    for (size_t i = 0; i < rapt_params_count(a->set); i++)
        if (params_at(a->set, i)->state->deferred.dy)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: a step of Adam by blocks with a deferred gradient",
                             params_at(a->set, i)->value.name);
    rapt_code code = begin_step(&l, a, t, lr, grad_scale, err);
    if (code)
        return code;
    move_slices(&l, begins_to_move_sparse);
    *s = (adam_owned){a, t, b, l.vector, l.matrix};
    return RAPT_OK;
}

typedef struct move_loop {
    const adam_owned *s;
    const uint32_t *list;
    size_t count;
} move_loop;

static void move_block(const adam_owned *s, const norm_block *block)
{
    rapt_param *p = params_at(s->adam->set, block->param);
    size_t width = norm_block_width(p), from = block->first * width;
    if (moves(s->adam, p, block->param))
        s->tape->k->adam(block->rows * width, p->value.data + from, p->value.grad + from, s->adam->m[block->param] + from,
                         s->adam->v[block->param] + from, p->value.ndim >= 2 ? &s->matrix : &s->vector);
}

/* A pool_fn. */
static void move_some_blocks(void *context, size_t index, int worker)
{
    const move_loop *l = context;
    size_t first = index * BLOCKS_AT_ONCE, left = l->count - first;
    (void)worker;
    for (size_t i = first; i < first + (left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE); i++)
        move_block(l->s, &l->s->blocks->list[l->list[i]]);
}

void adam_owned_move(const adam_owned *s, const uint32_t *list, size_t count)
{
    move_loop l = {s, list, count};
    size_t elements = 0;
    for (size_t i = 0; i < count; i++) {
        const norm_block *block = &s->blocks->list[list[i]];
        elements += block->rows * norm_block_width(params_at(s->adam->set, block->param));
    }
    profile_op(s->tape, "adam", 0, 7.0 * (double)elements);
    pool_run(s->tape->pool, (count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE, 4 * elements, move_some_blocks, &l);
    profile_end(s->tape);
}
