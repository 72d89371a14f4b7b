/* kernels/body/softmax.h: softmax of one row, again from its statistics, and backward. For attention.
 * Not a loss: cross-entropy never forms p, see body/cross_entropy.h. */
#ifndef KERNELS_BODY_SOFTMAX_H
#define KERNELS_BODY_SOFTMAX_H

/* a in the lanes of the vector at j that take part (they exist and are not left out), b in the others. */
VEC v16 softmax_pick(const uint8_t *keep, size_t j, size_t k, v16 a, v16 b)
{
    return keep ? v_select(m_load_n(keep + j, k), a, b) : v_first(k, a, b);
}

VEC rapt_real softmax_max(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale)
{
    const v16 lowest = v_set1(-INFINITY), s = v_set1(scale);
    v16 max = lowest;
    EACH_VECTOR(j, k, n, {
        max = v_max(softmax_pick(keep, j, k, v_mul(v_load_n(x + j, k), s), lowest), max);
    });
    return v_hmax(max);
}

/* p[j] = exp(scale x[j] - max), 0 where left out; returns the sum. */
VEC rapt_real softmax_exp(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real max,
                          rapt_real *p)
{
    const v16 s = v_set1(scale), top = v_set1(max);
    v16 sum = v_zero();
    EACH_VECTOR(j, k, n, {
        v16 e = v_exp(v_sub(v_mul(v_load_n(x + j, k), s), top));
        e = softmax_pick(keep, j, k, e, v_zero());
        v_store_n(p + j, e, k);
        sum = v_add(sum, e);
    });
    return v_sum(sum);
}

VEC void zeros(size_t from, size_t to, rapt_real *p)
{
    for (size_t j = from; j < to; j++)
        p[j] = 0;
}

VEC void softmax_row(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                     rapt_real *max, rapt_real *inv_sum)
{
    /* Where all scores are -inf there is nothing to attend to; from 0 they give zeros, and a NaN is not lost. */
    rapt_real top = softmax_max(n, x, keep, scale);
    top = top == -INFINITY ? 0 : top;
    const rapt_real sum = softmax_exp(n, x, keep, scale, top, p), inverse = sum == 0 ? 0 : 1 / sum;
    const v16 factor = v_set1(inverse);
    EACH_VECTOR(j, k, n, {
        v16 e = v_mul(v_load_n(p + j, k), factor);
        v_store_n(p + j, keep ? softmax_pick(keep, j, k, e, v_zero()) : e, k);
    });
    *max = top;
    *inv_sum = inverse;
}

VEC void softmax_row_again(size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real max,
                           rapt_real inv_sum, rapt_real *p)
{
    const v16 s = v_set1(scale), top = v_set1(max), factor = v_set1(inv_sum);
    EACH_VECTOR(j, k, n, {
        v16 e = v_mul(v_exp(v_sub(v_mul(v_load_n(x + j, k), s), top)), factor);
        v_store_n(p + j, keep ? softmax_pick(keep, j, k, e, v_zero()) : e, k);
    });
}

/* Rows without `keep` are a copy of the code that never asks for it. */
static void softmax(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                    rapt_real *max, rapt_real *inv_sum)
{
    if (keep)
        softmax_row(n, x, keep, scale, p, max, inv_sum);
    else
        softmax_row(n, x, NULL, scale, p, max, inv_sum);
    zeros(n, total, p);
}

static void softmax_again(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale,
                          rapt_real max, rapt_real inv_sum, rapt_real *p)
{
    if (keep)
        softmax_row_again(n, x, keep, scale, max, inv_sum, p);
    else
        softmax_row_again(n, x, NULL, scale, max, inv_sum, p);
    zeros(n, total, p);
}

static void softmax_backward(size_t n, const rapt_real *p, const rapt_real *d, const rapt_real *dd, rapt_real scale,
                             rapt_real *dx)
{
    v16 dots = v_zero();
    EACH_VECTOR(j, k, n, dots = v_fma(v_load_n(d + j, k), v_load_n(dd + j, k), dots););
    const v16 dot = v_set1(v_sum(dots)), s = v_set1(scale);
    EACH_VECTOR(j, k, n, {
        v16 own = v_mul(v_load_n(d + j, k), v_load_n(dd + j, k));
        v_store_n(dx + j, v_mul(s, v_fnma(v_load_n(p + j, k), dot, own)), k);
    });
}

#endif
