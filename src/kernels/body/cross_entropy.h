/* kernels/body/cross_entropy.h: the two passes of cross-entropy over a row of logits. For the loss.
 * Not the label's own term, nor label smoothing: they need one element, see ops. */
#ifndef KERNELS_BODY_CROSS_ENTROPY_H
#define KERNELS_BODY_CROSS_ENTROPY_H

VEC rapt_real row_max(size_t n, const rapt_real *x)
{
    const v16 lowest = v_set1(-INFINITY);
    v16 max = lowest;
    EACH_VECTOR(j, k, n, {
        max = v_max(v_first(k, v_load_n(x + j, k), lowest), max);
    });
    return v_hmax(max);
}

static void log_sum_exp(size_t n, const rapt_real *x, rapt_real *max, rapt_real *sum)
{
    const rapt_real largest = row_max(n, x);
    const v16 top = v_set1(largest == -INFINITY ? 0 : largest); /* -inf - -inf would be NaN */
    v16 sums = v_zero();
    EACH_VECTOR(j, k, n, {
        sums = v_add(sums, v_first(k, v_exp(v_sub(v_load_n(x + j, k), top)), v_zero()));
    });
    *max = largest;
    *sum = v_sum(sums);
}

static void softmax_gradient(size_t n, const rapt_real *x, rapt_real max, rapt_real inv_sum, rapt_real scale,
                             rapt_real floor, rapt_real *dx)
{
    const v16 top = v_set1(max), factor = v_set1(inv_sum), s = v_set1(scale), low = v_set1(-floor);
    EACH_VECTOR(j, k, n, {
        v16 e = v_exp(v_sub(v_load_n(x + j, k), top));
        v_store_n(dx + j, v_mul(s, v_fma(e, factor, low)), k);
    });
}

#endif
