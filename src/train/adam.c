/* train/adam.c: moments and steps of Adam, gradient norms. For the training loop; works on one parameter after the
 * other, in fixed blocks. */
#include "rapt/train.h"

#include "base/math.h"
#include "ops/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8192 /* numbers of a parameter that are updated, or summed, together */

struct rapt_adam {
    rapt_params *set;
    rapt_adam_options options;
    arena memory;
    rapt_real **m, **v; /* [parameters], NULL where nothing is trained */
    uint64_t steps;
};

static bool trained(const rapt_param *p)
{
    return !p->buffer && !p->frozen;
}

static bool allocate(rapt_adam *a)
{
    size_t n = rapt_params_count(a->set);
    a->m = arena_zeroed(&a->memory, n, sizeof *a->m);
    a->v = arena_zeroed(&a->memory, n, sizeof *a->v);
    bool ok = a->m && a->v;
    for (size_t i = 0; ok && i < n; i++) {
        const rapt_param *p = rapt_params_at(a->set, i);
        if (!trained(p))
            continue;
        a->m[i] = arena_zeroed(&a->memory, rapt_tensor_size(&p->value), sizeof **a->m);
        a->v[i] = arena_zeroed(&a->memory, rapt_tensor_size(&p->value), sizeof **a->v);
        ok = a->m[i] && a->v[i];
    }
    return ok;
}

rapt_adam *rapt_adam_new(rapt_params *set, const rapt_adam_options *options, rapt_error *err)
{
    rapt_adam *a = calloc(1, sizeof *a);
    if (a) {
        a->set = set;
        a->options = *options;
        arena_init(&a->memory, (size_t)1 << 20);
    }
    if (a && allocate(a))
        return a;
    rapt_fail(err, RAPT_NO_MEMORY, "no memory for Adam's moments");
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

typedef struct adam_loop {
    const kernels *k;
    rapt_param *p;
    rapt_real *m, *v;
    kernels_adam c;
} adam_loop;

static void update(const adam_loop *l, size_t from, size_t count)
{
    l->k->adam(count, l->p->value.data + from, l->p->value.grad + from, l->m + from, l->v + from, &l->c);
}

static void update_blocks(void *context, size_t block, int worker)
{
    const adam_loop *l = context;
    size_t from = block * BLOCK, left = rapt_tensor_size(&l->p->value) - from;
    (void)worker;
    update(l, from, left < BLOCK ? left : BLOCK);
}

static void update_rows(const adam_loop *l)
{
    size_t width = rapt_tensor_size(&l->p->value) / l->p->value.shape[0];
    for (size_t i = 0; i < l->p->value.shape[0]; i++)
        if (l->p->row_used[i])
            update(l, i * width, width);
}

static size_t blocks_of(const rapt_tensor *x)
{
    return (rapt_tensor_size(x) + BLOCK - 1) / BLOCK;
}

static void update_param(rapt_adam *a, rapt_tape *t, size_t i, kernels_adam c, double lr)
{
    rapt_param *p = rapt_params_at(a->set, i);
    if (!a->m[i] || p->frozen || !p->value.grad_filled)
        return;
    if (p->value.ndim >= 2)
        c.decay = (rapt_real)(1 - lr * a->options.weight_decay);
    p->packed = NULL; /* of the values before */
    adam_loop loop = {t->k, p, a->m[i], a->v[i], c};
    if (p->sparse)
        update_rows(&loop);
    else
        pool_run(t->pool, blocks_of(&p->value), 4 * rapt_tensor_size(&p->value), update_blocks, &loop);
}

rapt_code rapt_adam_step(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, rapt_error *err)
{
    if (tape_failed(t))
        return rapt_fail(err, t->error.code, "%s", t->error.message);
    a->steps++;
    kernels_adam c = coefficients(a, lr, grad_scale);
    for (size_t i = 0; i < rapt_params_count(a->set); i++)
        update_param(a, t, i, c, lr);
    return RAPT_OK;
}

static double sum_squares(const kernels *k, const rapt_tensor *x)
{
    double sum = 0;
    for (size_t i = 0; i < blocks_of(x); i++) {
        size_t left = rapt_tensor_size(x) - i * BLOCK;
        sum += (double)k->sum_squares(left < BLOCK ? left : BLOCK, x->grad + i * BLOCK);
    }
    return sum;
}

double rapt_grad_norm(rapt_tape *t, const rapt_params *set)
{
    double sum = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (trained(p) && p->value.grad_filled)
            sum += sum_squares(t->k, &p->value);
    }
    return sqrt(sum);
}

const char *rapt_first_not_finite(rapt_tape *t, const rapt_params *set, bool of_grad)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_tensor *x = &rapt_params_at(set, i)->value;
        if (!t->k->all_finite(rapt_tensor_size(x), x->data))
            return x->name;
        if (of_grad && x->grad_filled && x->requires_grad && !t->k->all_finite(rapt_tensor_size(x), x->grad))
            return x->name;
    }
    return NULL;
}
