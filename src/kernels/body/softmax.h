/* kernels/body/softmax.h: softmax of one row, its recomputation from stored statistics, and its backward pass. For attention.
 * Cross-entropy never forms p (body/cross_entropy.h). */
#ifndef KERNELS_BODY_SOFTMAX_H
#define KERNELS_BODY_SOFTMAX_H

/* a in the lanes of the vector at j that exist and are kept, b in the others. */
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

/* Stores lanes 0 .. count-1, at most 16. Stores a whole vector if the row has capacity, so that a later load meets one store. */
VEC void softmax_store(rapt_real *p, v16 a, size_t count)
{
    if (count >= KERNELS_LANES)
        v_store(p, a);
    else
        v_store_n(p, a, count);
}

/* The vectors of p beyond the one that holds element n - 1. */
VEC void softmax_clear(size_t total, size_t n, rapt_real *p)
{
    for (size_t j = (n + KERNELS_LANES - 1) / KERNELS_LANES * KERNELS_LANES; j < total; j += KERNELS_LANES)
        softmax_store(p + j, v_zero(), total - j);
}

/* exp(scale x[j] - max) for the vector at j; 0 in lanes that are left out. */
VEC v16 softmax_exp(size_t j, size_t k, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real max)
{
    v16 e = v_exp(v_sub(v_mul(v_load_n(x + j, k), v_set1(scale)), v_set1(max)));
    return softmax_pick(keep, j, k, e, v_zero());
}

/* If all scores are -inf, there is nothing to attend to: relative to 0 they give zeros, and a NaN is not lost. */
VEC rapt_real softmax_top(rapt_real max) { return max == -INFINITY ? 0 : max; }
VEC rapt_real softmax_inverse(rapt_real sum) { return sum == 0 ? 0 : 1 / sum; }

/* A row of one vector never leaves the registers. */
VEC void softmax_short(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                       rapt_real *max, rapt_real *inv_sum)
{
    const rapt_real top = softmax_top(softmax_max(n, x, keep, scale));
    const v16 e = softmax_exp(0, n, x, keep, scale, top);
    const rapt_real inverse = softmax_inverse(v_sum(e));
    softmax_store(p, softmax_pick(keep, 0, n, v_mul(e, v_set1(inverse)), v_zero()), total);
    *max = top;
    *inv_sum = inverse;
}

VEC void softmax_long(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                      rapt_real *max, rapt_real *inv_sum)
{
    v16 sum = v_zero();
    const rapt_real top = softmax_top(softmax_max(n, x, keep, scale));
    EACH_VECTOR(j, k, n, {
        v16 e = softmax_exp(j, k, x, keep, scale, top);
        softmax_store(p + j, e, total - j);
        sum = v_add(sum, e);
    });
    const rapt_real inverse = softmax_inverse(v_sum(sum));
    const v16 factor = v_set1(inverse);
    EACH_VECTOR(j, k, n, {
        v16 y = v_mul(v_load_n(p + j, k), factor); /* clears left-out lanes once more, because the factor may be NaN */
        softmax_store(p + j, softmax_pick(keep, j, k, y, v_zero()), total - j);
    });
    *max = top;
    *inv_sum = inverse;
}

/* Rows without `keep` are a copy of the code that never asks for it. */
VEC void softmax_any(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                     rapt_real *max, rapt_real *inv_sum)
{
    if (n > 0 && n <= KERNELS_LANES)
        softmax_short(total, n, x, keep, scale, p, max, inv_sum);
    else
        softmax_long(total, n, x, keep, scale, p, max, inv_sum);
    softmax_clear(total, n, p);
}

static void softmax(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                    rapt_real *max, rapt_real *inv_sum)
{
    if (keep)
        softmax_any(total, n, x, keep, scale, p, max, inv_sum);
    else
        softmax_any(total, n, x, NULL, scale, p, max, inv_sum);
}

VEC void softmax_any_recompute(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale,
                           rapt_real max, rapt_real inv_sum, rapt_real *p)
{
    const v16 factor = v_set1(inv_sum);
    EACH_VECTOR(j, k, n, {
        v16 y = v_mul(softmax_exp(j, k, x, keep, scale, max), factor);
        softmax_store(p + j, softmax_pick(keep, j, k, y, v_zero()), total - j);
    });
    softmax_clear(total, n, p);
}

static void softmax_recompute(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale,
                          rapt_real max, rapt_real inv_sum, rapt_real *p)
{
    if (keep)
        softmax_any_recompute(total, n, x, keep, scale, max, inv_sum, p);
    else
        softmax_any_recompute(total, n, x, NULL, scale, max, inv_sum, p);
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
