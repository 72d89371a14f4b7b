/* kernels/body/adam.h: Adam steps over a block of parameters: one with a gradient, or many without. For the optimizer.
 * Not the schedule, the clipping or the bias corrections: they arrive as numbers. */
#ifndef KERNELS_BODY_ADAM_H
#define KERNELS_BODY_ADAM_H

#define ADAM_DECAY_VECTORS 4 /* that decay side by side: as many products as it takes to hide one's latency */

typedef struct adam_vectors {
    v16 beta1, rest1, beta2, rest2, step, correction, eps, decay;
} adam_vectors;

VEC adam_vectors adam_spread(const kernels_adam *a)
{
    return (adam_vectors){v_set1(a->beta1), v_set1(1 - a->beta1), v_set1(a->beta2), v_set1(1 - a->beta2),
                          v_set1(a->step_size), v_set1(a->inv_sqrt_bc2), v_set1(a->eps), v_set1(a->decay)};
}

/* Moves both moments and gives the new p. */
VEC v16 adam_move(const adam_vectors *a, v16 p, v16 g, v16 *mean, v16 *square)
{
    *mean = v_fma(a->rest1, g, v_mul(a->beta1, *mean));
    *square = v_fma(v_mul(a->rest2, g), g, v_mul(a->beta2, *square));
    v16 ratio = v_div(*mean, v_fma(v_sqrt(*square), a->correction, a->eps));
    return v_fnma(a->step, ratio, v_mul(a->decay, p));
}

static void adam_all(size_t n, rapt_real *p, const rapt_real *grad, rapt_real *m, rapt_real *v,
                     const kernels_adam *a)
{
    const adam_vectors step = adam_spread(a);
    const v16 grad_scale = v_set1(a->grad_scale);
    EACH_VECTOR(i, k, n, {
        v16 mean = v_load_n(m + i, k), square = v_load_n(v + i, k), g = v_mul(v_load_n(grad + i, k), grad_scale);
        v16 moved = adam_move(&step, v_load_n(p + i, k), g, &mean, &square);
        v_store_n(m + i, mean, k);
        v_store_n(v + i, square, k);
        v_store_n(p + i, moved, k);
    });
}

/* `count` steps of parameters whose moments are zero: only the weight decay of each step. */
VEC void adam_decay(const size_t vectors, size_t last, rapt_real *p, size_t count, const kernels_adam *steps)
{
    v16 x[ADAM_DECAY_VECTORS];
    UNROLL
    for (size_t i = 0; i < vectors; i++)
        x[i] = v_load_n(p + 16 * i, i + 1 < vectors ? 16 : last);
    for (size_t s = 0; s < count; s++) {
        const v16 decay = v_set1(steps[s].decay);
        UNROLL
        for (size_t i = 0; i < vectors; i++)
            x[i] = v_mul(decay, x[i]);
    }
    UNROLL
    for (size_t i = 0; i < vectors; i++)
        v_store_n(p + 16 * i, x[i], i + 1 < vectors ? 16 : last);
}

VEC void adam_decay_all(size_t n, rapt_real *p, size_t count, const kernels_adam *steps)
{
    const size_t block = 16 * ADAM_DECAY_VECTORS;
    size_t i = 0;
    for (; i + block <= n; i += block)
        adam_decay(ADAM_DECAY_VECTORS, 16, p + i, count, steps);
    for (; i < n; i += 16)
        adam_decay(1, n - i < 16 ? n - i : 16, p + i, count, steps);
}

static void adam_replay(size_t n, rapt_real *p, rapt_real *m, rapt_real *v, size_t count, const kernels_adam *steps)
{
    if (!m) {
        adam_decay_all(n, p, count, steps);
        return;
    }
    EACH_VECTOR(i, k, n, {
        v16 x = v_load_n(p + i, k), mean = v_load_n(m + i, k), square = v_load_n(v + i, k);
        for (size_t s = 0; s < count; s++) {
            const adam_vectors step = adam_spread(&steps[s]);
            x = adam_move(&step, x, v_zero(), &mean, &square); /* + 0 turns a -0 into +0, as a gradient of 0 does */
        }
        v_store_n(m + i, mean, k);
        v_store_n(v + i, square, k);
        v_store_n(p + i, x, k);
    });
}

#endif
