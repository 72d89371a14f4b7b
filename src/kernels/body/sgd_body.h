/* kernels/body/sgd_body.h: a step of gradient descent with momentum over a block of parameters. For the optimizer. Not the
 * schedule and the clipping: they arrive as numbers. */
#ifndef KERNELS_BODY_SGD_BODY_H
#define KERNELS_BODY_SGD_BODY_H

static void sgd_all(size_t n, rapt_real *p, const rapt_real *grad, rapt_real *m, const kernels_sgd *a)
{
    const v16 lr = v_set1(a->lr), momentum = v_set1(a->momentum), decay = v_set1(a->weight_decay), scale = v_set1(a->grad_scale);
    EACH_VECTOR(i, k, n, {
        v16 x = v_load_n(p + i, k), g = v_fma(decay, x, grad ? v_mul(scale, v_load_n(grad + i, k)) : v_zero());
        if (m) {
            const v16 moment = v_fma(momentum, v_load_n(m + i, k), g);
            v_store_n(m + i, moment, k);
            g = a->nesterov ? v_fma(momentum, moment, g) : moment;
        }
        v_store_n(p + i, v_fnma(lr, g, x), k);
    });
}

#endif
