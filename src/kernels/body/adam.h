/* kernels/body/adam.h: one Adam step over a block of parameters. For the optimizer.
 * Not the schedule, the clipping or the bias corrections: they arrive as numbers. */
#ifndef KERNELS_BODY_ADAM_H
#define KERNELS_BODY_ADAM_H

static void adam_all(size_t n, rapt_real *p, const rapt_real *grad, rapt_real *m, rapt_real *v,
                     const kernels_adam *a)
{
    const v16 beta1 = v_set1(a->beta1), rest1 = v_set1(1 - a->beta1);
    const v16 beta2 = v_set1(a->beta2), rest2 = v_set1(1 - a->beta2);
    const v16 step = v_set1(a->step_size), correction = v_set1(a->inv_sqrt_bc2), eps = v_set1(a->eps);
    const v16 grad_scale = v_set1(a->grad_scale), decay = v_set1(a->decay);
    EACH_VECTOR(i, k, n, {
        v16 g = v_mul(v_load_n(grad + i, k), grad_scale);
        v16 mean = v_fma(rest1, g, v_mul(beta1, v_load_n(m + i, k)));
        v16 square = v_fma(v_mul(rest2, g), g, v_mul(beta2, v_load_n(v + i, k)));
        v16 ratio = v_div(mean, v_fma(v_sqrt(square), correction, eps));
        v_store_n(m + i, mean, k);
        v_store_n(v + i, square, k);
        v_store_n(p + i, v_fnma(step, ratio, v_mul(decay, v_load_n(p + i, k))), k);
    });
}

#endif
