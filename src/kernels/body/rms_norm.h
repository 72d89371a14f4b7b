/* kernels/body/rms_norm.h: root mean square norm of one row, and backward. For rapt_op_rms_norm. Layer norm, which subtracts the
 * mean first, is in body/layer_norm.h. */
#ifndef KERNELS_BODY_RMS_NORM_H
#define KERNELS_BODY_RMS_NORM_H

static void rms_norm(size_t n, const rapt_real *x, const rapt_real *gamma, rapt_real eps, rapt_real *y,
                     rapt_real *rstd)
{
    v16 squares = v_zero();
    EACH_VECTOR(j, k, n, {
        v16 v = v_load_n(x + j, k);
        squares = v_fma(v, v, squares);
    });
    const rapt_real factor = 1 / s_sqrt(v_sum(squares) / s_from_size(n) + eps);
    const v16 r = v_set1(factor), one = v_set1(1);
    EACH_VECTOR(j, k, n, {
        v16 xhat = v_mul(v_load_n(x + j, k), r);
        v_store_n(y + j, v_mul(xhat, gamma ? v_load_n(gamma + j, k) : one), k);
    });
    *rstd = factor;
}

static void rms_norm_backward(size_t n, const rapt_real *dy, const rapt_real *x, const rapt_real *gamma,
                              rapt_real rstd, rapt_real *dx, rapt_real *dgamma)
{
    const v16 r = v_set1(rstd), one = v_set1(1);
    v16 sum_gx = v_zero();
    EACH_VECTOR(j, k, n, {
        v16 d = v_load_n(dy + j, k), xhat = v_mul(v_load_n(x + j, k), r);
        v16 g = v_mul(d, gamma ? v_load_n(gamma + j, k) : one);
        sum_gx = v_fma(g, xhat, sum_gx);
        if (dgamma)
            v_store_n(dgamma + j, v_fma(d, xhat, v_load_n(dgamma + j, k)), k);
    });
    const v16 mean_gx = v_set1(v_sum(sum_gx) / s_from_size(n));
    EACH_VECTOR(j, k, n, {
        v16 xhat = v_mul(v_load_n(x + j, k), r);
        v16 g = v_mul(v_load_n(dy + j, k), gamma ? v_load_n(gamma + j, k) : one);
        v_store_n(dx + j, v_mul(r, v_fnma(xhat, mean_gx, g)), k);
    });
}

#endif
