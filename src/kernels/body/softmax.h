/* kernels/body/softmax.h: softmax of one row, again from its statistics, and backward. For attention.
 * Not a loss: cross-entropy never forms p, see body/cross_entropy.h. */
#ifndef KERNELS_BODY_SOFTMAX_H
#define KERNELS_BODY_SOFTMAX_H

/* The lanes of the vector at j that take part: they exist and are not left out. */
VEC m16 softmax_lanes(const uint8_t *keep, size_t j, size_t k)
{
    return keep ? m_load_n(keep + j, k) : m_first(k);
}

VEC rapt_real softmax_max(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale)
{
    const v16 lowest = v_set1(-INFINITY), s = v_set1(scale);
    v16 max = lowest;
    EACH_VECTOR(j, k, n)
        max = v_max(v_select(softmax_lanes(keep, j, k), v_mul(v_load_n(x + j, k), s), lowest), max);
    return v_hmax(max);
}

/* p[j] = exp(scale x[j] - max), 0 where left out; returns the sum. */
VEC rapt_real softmax_exp(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real max,
                          rapt_real *p)
{
    const v16 s = v_set1(scale), top = v_set1(max);
    v16 sum = v_zero();
    EACH_VECTOR(j, k, n) {
        v16 e = v_exp(v_sub(v_mul(v_load_n(x + j, k), s), top));
        e = v_select(softmax_lanes(keep, j, k), e, v_zero());
        v_store_n(p + j, e, k);
        sum = v_add(sum, e);
    }
    return v_sum(sum);
}

VEC void zeros(size_t from, size_t to, rapt_real *p)
{
    for (size_t j = from; j < to; j++)
        p[j] = 0;
}

static void softmax(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                    rapt_real *max, rapt_real *inv_sum)
{
    /* Where all scores are -inf there is nothing to attend to; from 0 they give zeros, and a NaN is not lost. */
    rapt_real top = softmax_max(n, x, keep, scale);
    *max = top == -INFINITY ? 0 : top;
    rapt_real sum = softmax_exp(n, x, keep, scale, *max, p);
    *inv_sum = sum == 0 ? 0 : 1 / sum;
    const v16 factor = v_set1(*inv_sum);
    EACH_VECTOR(j, k, n)
        v_store_n(p + j, v_select(softmax_lanes(keep, j, k), v_mul(v_load_n(p + j, k), factor), v_zero()), k);
    zeros(n, total, p);
}

static void softmax_again(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale,
                          rapt_real max, rapt_real inv_sum, rapt_real *p)
{
    const v16 s = v_set1(scale), top = v_set1(max), factor = v_set1(inv_sum);
    EACH_VECTOR(j, k, n) {
        v16 e = v_exp(v_sub(v_mul(v_load_n(x + j, k), s), top));
        v_store_n(p + j, v_select(softmax_lanes(keep, j, k), v_mul(e, factor), v_zero()), k);
    }
    zeros(n, total, p);
}

static void softmax_backward(size_t n, const rapt_real *p, const rapt_real *dp, rapt_real scale, rapt_real *dx)
{
    v16 dots = v_zero();
    EACH_VECTOR(j, k, n)
        dots = v_fma(v_load_n(p + j, k), v_load_n(dp + j, k), dots);
    const v16 dot = v_set1(v_sum(dots)), s = v_set1(scale);
    EACH_VECTOR(j, k, n) {
        v16 d = v_sub(v_load_n(dp + j, k), dot);
        v_store_n(dx + j, v_mul(v_mul(v_load_n(p + j, k), s), d), k);
    }
}

#endif
