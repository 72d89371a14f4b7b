/* kernels/body/layer_norm.h: layer norm of one row, and backward. For add_norm. Not the residual or the dropout before it:
 * those are elements, see ops. */
#ifndef KERNELS_BODY_LAYER_NORM_H
#define KERNELS_BODY_LAYER_NORM_H

/* Two passes: the variance is the mean of squared differences, which does not cancel. */
static void layer_norm(size_t n, const rapt_real *x, const rapt_real *gamma, const rapt_real *beta,
                       rapt_real eps, rapt_real *y, rapt_real *mean, rapt_real *rstd)
{
    const rapt_real count = s_from_size(n);
    v16 sums = v_zero(), squares = v_zero();
    EACH_VECTOR(j, k, n, {
        sums = v_add(sums, v_load_n(x + j, k));
    });
    const rapt_real average = v_sum(sums) / count;
    const v16 m = v_set1(average);
    EACH_VECTOR(j, k, n, {
        v16 d = v_first(k, v_sub(v_load_n(x + j, k), m), v_zero());
        squares = v_fma(d, d, squares);
    });
    const rapt_real factor = 1 / s_sqrt(v_sum(squares) / count + eps);
    const v16 r = v_set1(factor), one = v_set1(1);
    EACH_VECTOR(j, k, n, {
        v16 xhat = v_mul(v_sub(v_load_n(x + j, k), m), r);
        v16 g = gamma ? v_load_n(gamma + j, k) : one, b = beta ? v_load_n(beta + j, k) : v_zero();
        v_store_n(y + j, v_fma(xhat, g, b), k);
    });
    *mean = average;
    *rstd = factor;
}

static void layer_norm_backward(size_t n, const rapt_real *dy, const rapt_real *x, const rapt_real *gamma,
                                rapt_real mean, rapt_real rstd, rapt_real *dx, rapt_real *dgamma,
                                rapt_real *dbeta)
{
    const v16 m = v_set1(mean), r = v_set1(rstd), one = v_set1(1);
    v16 sum_g = v_zero(), sum_gx = v_zero();
    EACH_VECTOR(j, k, n, {
        v16 d = v_load_n(dy + j, k), xhat = v_mul(v_sub(v_load_n(x + j, k), m), r);
        v16 g = gamma ? v_mul(d, v_load_n(gamma + j, k)) : v_mul(d, one);
        sum_g = v_add(sum_g, g);
        sum_gx = v_fma(g, xhat, sum_gx);
        if (dgamma)
            v_store_n(dgamma + j, v_fma(d, xhat, v_load_n(dgamma + j, k)), k);
        if (dbeta)
            v_store_n(dbeta + j, v_add(v_load_n(dbeta + j, k), d), k);
    });
    const v16 mean_g = v_set1(v_sum(sum_g) / s_from_size(n));
    const v16 mean_gx = v_set1(v_sum(sum_gx) / s_from_size(n));
    EACH_VECTOR(j, k, n, {
        v16 d = v_load_n(dy + j, k), xhat = v_mul(v_sub(v_load_n(x + j, k), m), r);
        v16 g = gamma ? v_mul(d, v_load_n(gamma + j, k)) : v_mul(d, one);
        v_store_n(dx + j, v_mul(r, v_fnma(xhat, mean_gx, v_sub(g, mean_g))), k);
    });
}

#endif
