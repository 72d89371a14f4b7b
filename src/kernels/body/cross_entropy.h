/* kernels/body/cross_entropy.h: the two passes of cross-entropy over a row of logits. For the loss. Not the label's own term and
 * label smoothing, which need one element and are in ops/. */
#ifndef KERNELS_BODY_CROSS_ENTROPY_H
#define KERNELS_BODY_CROSS_ENTROPY_H

#define MAX_CHAINS 4 /* independent comparisons, so that they do not wait for each other */

VEC rapt_real row_max(size_t n, const rapt_real *x)
{
    const v16 lowest = v_set1(-INFINITY);
    v16 max[MAX_CHAINS];
    size_t from = 0;
    UNROLL
    for (int i = 0; i < MAX_CHAINS; i++)
        max[i] = lowest;
    for (; from + 16 * MAX_CHAINS <= n; from += 16 * MAX_CHAINS)
        UNROLL
        for (int i = 0; i < MAX_CHAINS; i++)
            max[i] = v_max(v_load(x + from + 16 * i), max[i]);
    EACH_VECTOR(j, k, n - from, {
        max[0] = v_max(v_first(k, v_load_n(x + from + j, k), lowest), max[0]);
    });
    return v_hmax(v_max(v_max(max[0], max[1]), v_max(max[2], max[3])));
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
