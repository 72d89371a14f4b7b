/* train/optimizer/adam.c: moments and steps of Adam. For the training loop; all parameters are one list of slices for the
 * threads. Rows that a step doesn't use are in adam_rows.c, the norm for clipping in grad_norm.c. */
#include "rapt/train.h"

#include "base/math.h"
#include "ops/deferred.h"
#include "tape/profile_op.h"
#include "tensor/params.h"
#include "train/optimizer/adam_rows.h"
#include "train/optimizer/param_slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_THINGS ((size_t)1 << 16) /* besides the moments: lists, padding to cache lines */

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
    rapt_param *p = params_at(a->set, i);
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
    size_t elements = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        elements += trained(params_at(set, i)) ? 2 * rapt_tensor_size(&params_at(set, i)->value) : 0;
    return elements * sizeof(rapt_real);
}

static double or_default(double x, double standard)
{
    return x > 0 ? x : x < 0 ? 0 : standard;
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    rapt_adam *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->options = options ? *options : (rapt_adam_options){0};
        a->options.beta1 = or_default(a->options.beta1, 0.9);
        a->options.beta2 = or_default(a->options.beta2, 0.999);
        a->options.eps = or_default(a->options.eps, 1e-8);
        arena_init(&a->memory, moments_size(set) + SMALL_THINGS);
    }
    if (a && adam_allocate(a))
        return a;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for Adam's moments");
    rapt_adam_free(a);
    return NULL;
}

void rapt_adam_free(rapt_adam *a)
{
    if (!a)
        return;
    for (size_t i = 0; a->rows && i < a->count; i++)
        if (a->rows[i])
            adam_rows_end(a->rows[i]);
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
    const rapt_tape *t;
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

rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    step_loop l = {.a = a, .t = t};
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        code = adam_check_deferred(a, t, err);
    if (code)
        return code;
    a->steps++;
    l.vector = l.matrix = coefficients(a, lr, grad_scale);
    l.matrix.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    param_slices_begin(&l.slices, a->set, begins_to_move, &l);
    while (param_slices_next(&l.slices)) {
        profile_op(t, "adam", 0, 7.0 * (double)l.slices.elements); /* four are read, three written */
        pool_run(t->pool, l.slices.count, 4 * l.slices.elements, update_slice, &l);
    }
    profile_end(t);
    return RAPT_OK;
}
