/* kernels/body/exp.h: e^x for 16 lanes, one polynomial for every ISA. For softmax, cross-entropy and `exp`.
 * Not libm: faster, and its bits depend on nothing but x. The double build, which checks gradients, does use
 * libm.
 *
 * e^x = 2^k e^r with k = round(x / ln 2) and |r| <= ln 2 / 2. 1/ln 2 * x + 1.5 * 2^23 rounds to a whole number in the low bits.
 * ln 2 is split in two: k times the first part, of 15 bits, is exact, and so is x minus this product. On that interval 1 + r +
 * r^2 q(r) with q of degree 4 (Remez, coefficients rounded to floats one after the other) is within 4.1e-9, a fourteenth of an
 * ulp; with the rounding errors, the result is within 1 ulp (tests/kernels/check_exp.c tests every float). Results below FLT_MIN
 * are flushed to +0: then 2^k is one addition to the exponent's bits. */
#ifndef KERNELS_BODY_EXP_H
#define KERNELS_BODY_EXP_H

#ifdef RAPT_DOUBLE

VEC v16 v_exp(v16 x)
{
    for (int i = 0; i < 16; i++)
        x.lane[i] = exp(x.lane[i]);
    return x;
}

#else

#define EXP_LOWEST -0x1.5d589ep6f  /* the smallest x with e^x >= FLT_MIN */
#define EXP_HIGHEST 0x1.62e42ep6f  /* the largest x with e^x <= FLT_MAX */

/* x = k ln 2 + r; the low bits of t hold k. */
typedef struct exp_parts { v16 t, r; } exp_parts;

VEC exp_parts exp_split(v16 x)
{
    const v16 round = v_set1(0x1.8p23f);
    v16 t = v_fma(x, v_set1(0x1.715476p0f), round);
    v16 k = v_sub(t, round);
    v16 r = v_fnma(k, v_set1(0x1.62e4p-1f), x);
    return (exp_parts){t, v_fnma(k, v_set1(0x1.7f7d1cp-20f), r)};
}

/* 2^k e^r, if the result is a normal number. */
VEC v16 exp_join(exp_parts p)
{
    const v16 one = v_set1(1.0f);
    v16 q = v_fma(v_set1(0x1.6aae44p-10f), p.r, v_set1(0x1.123a56p-7f));
    q = v_fma(q, p.r, v_set1(0x1.55589p-5f));
    q = v_fma(q, p.r, v_set1(0x1.555494p-3f));
    q = v_fma(q, p.r, v_set1(0x1.fffffcp-2f));
    v16 e = v_fma(v_fma(q, p.r, one), p.r, one);
    return v_shift_exponent(e, p.t);
}

VEC v16 v_exp(v16 x)
{
    v16 y = exp_join(exp_split(x));
    y = v_select(m_ge(v_set1(EXP_HIGHEST), x), y, v_add(x, v_set1(INFINITY))); /* NaN stays NaN */
    return v_select(m_gt(v_set1(EXP_LOWEST), x), v_zero(), y);
}

#endif

#endif
