/* kernels/body/activation_body.h: GELU, GELU's tanh form, SiLU, and SwiGLU, forward and backward. For activation.c. Not ReLU,
 * which is one maximum (body/elementwise.h).
 *
 * All three are x S(x), where the step S rises from 0 to 1 and S(-x) = 1 - S(x). So the falling side, u = -|x|, is
 * enough:  x S(x) = max(0, x) + u S(u), and its derivative is D(u) = S(u) + u S'(u) for x <= 0, 1 - D(u) for x > 0.
 * There S(u) keeps its relative precision, where 1 + erf or 1 + tanh would cancel. u stops at a lower bound, from
 * which on S is 0, so that infinities give their limits; NaN stays NaN.
 *
 * GELU: S = Phi, and Phi(u) = e^(-u^2/2) R(u) with R smooth between 1/2 and 0: R = P/Q of degrees 4 and 5 is within 1.2e-8
 * relative for -13.3 <= u <= 0 (minimax by Lawson's weights, coefficients rounded to floats one after the other, the highest
 * first); below, e^(-u^2/2) is flushed to 0. All terms of P and of Q have one sign. The rounding error of u^2, which e^ would
 * magnify, is computed exactly and put back. SiLU: S(u) = e^u / (1 + e^u). GELU's tanh form: (1 + tanh z) / 2 is the same S at 2
 * z. The double build has libm's erfc and exp for the same formulas. */
#ifndef KERNELS_BODY_ACTIVATION_BODY_H
#define KERNELS_BODY_ACTIVATION_BODY_H

#define STEP_LOWEST -128 /* e^u is 0 there, and so is the square's */

/* S and D at u. */
typedef struct step_at { v16 s, d; } step_at;

#ifdef RAPT_DOUBLE

VEC v16 falling_exp(v16 x) { return v_exp(x); }

#else

/* e^x for x <= 0, in parts. For NaN it may be anything, because the result is multiplied by u. */
VEC v16 falling_exp_of(v16 x, exp_parts p) { return v_select(m_gt(v_set1(EXP_LOWEST), x), v_zero(), exp_join(p)); }
VEC v16 falling_exp(v16 x) { return falling_exp_of(x, exp_split(x)); }

#endif

VEC step_at logistic_step(v16 u, v16 z, v16 slope)
{
    const v16 one = v_set1(1);
    v16 e = falling_exp(z), s = v_div(e, v_add(one, e));
    v16 zu = v_mul(u, slope);
    return (step_at){s, v_mul(s, v_fma(zu, v_sub(one, s), one))}; /* S'(u) = S (1 - S) dz/du */
}

VEC step_at silu_step(v16 u) { return logistic_step(u, u, v_set1(1)); }

#define GELU_TANH_1 1.59576912160573071176 /* 2 sqrt(2 / pi) */
#define GELU_TANH_3 0.07135481627260025 /* the constant above times 0.044715 */

VEC step_at gelu_tanh_step(v16 u)
{
    const v16 c1 = v_set1((rapt_real)GELU_TANH_1);
    v16 square = v_mul(u, u);
    v16 z = v_mul(u, v_fma(v_set1((rapt_real)GELU_TANH_3), square, c1));
    return logistic_step(u, z, v_fma(v_set1((rapt_real)(3 * GELU_TANH_3)), square, c1));
}

#define NORMAL_DENSITY 0.39894228040143267794 /* the normal density at 0: 1 / sqrt(2 pi) */

#ifdef RAPT_DOUBLE

VEC step_at gelu_step(v16 u)
{
    step_at r;
    for (int i = 0; i < 16; i++) {
        double x = u.lane[i];
        r.s.lane[i] = 0.5 * erfc(x * -0.70710678118654752440);
        r.d.lane[i] = r.s.lane[i] + x * NORMAL_DENSITY * exp(-0.5 * x * x);
    }
    return r;
}

#else

/* e^(-u^2/2) */
VEC v16 bell(v16 u)
{
    v16 square = v_mul(u, u), error = v_fnma(u, u, square); /* square - u^2, exact */
    v16 x = v_mul(square, v_set1(-0.5f));
    exp_parts p = exp_split(x);
    p.r = v_fma(v_set1(0.5f), error, p.r);
    return falling_exp_of(x, p);
}

VEC step_at gelu_step(v16 u)
{
    v16 e = bell(u);
    v16 p = v_fma(v_set1(0x1.0770a4p-8f), u, v_set1(-0x1.47a8c8p-5f));
    v16 q = v_fma(v_set1(-0x1.4a2b26p-7f), u, v_set1(0x1.9ab088p-4f));
    q = v_fma(q, u, v_set1(-0x1.dbb08ap-2f));
    p = v_fma(p, u, v_set1(0x1.737234p-3f));
    q = v_fma(q, u, v_set1(0x1.31defcp+0f));
    p = v_fma(p, u, v_set1(-0x1.be44eep-2f));
    q = v_fma(q, u, v_set1(-0x1.ab64a4p+0f));
    p = v_fma(p, u, v_set1(0.5f));
    q = v_fma(q, u, v_set1(1.0f));
    v16 ratio = v_div(p, q);
    return (step_at){v_mul(e, ratio), v_mul(e, v_fma(v_set1((rapt_real)NORMAL_DENSITY), u, ratio))};
}

#endif

/* -|x|, STEP_LOWEST at least. */
VEC v16 falling_side(v16 x)
{
    v16 u = v_select(m_gt(x, v_zero()), v_sub(v_zero(), x), x);
    return v_max(v_set1(STEP_LOWEST), u);
}

/* x S(x) and its derivative, from S and D at u. */
VEC v16 step_value(v16 x, v16 u, step_at at) { return v_fma(u, at.s, v_max(v_zero(), x)); }
VEC v16 step_slope(v16 x, step_at at) { return v_select(m_gt(x, v_zero()), v_sub(v_set1(1), at.d), at.d); }

/* The loop is compiled twice, with and without the slope. */
#define STEP_ACTIVATION(name)                                                         \
    VEC void name##_any(size_t n, const rapt_real *x, rapt_real *y, rapt_real *slope) \
    {                                                                                 \
        EACH_VECTOR(i, k, n, {                                                        \
            v16 v = v_load_n(x + i, k), u = falling_side(v);                          \
            step_at at = name##_step(u);                                              \
            v_store_n(y + i, step_value(v, u, at), k);                                \
            if (slope)                                                                \
                v_store_n(slope + i, step_slope(v, at), k);                           \
        });                                                                           \
    }                                                                                 \
                                                                                      \
    static void name##_all(size_t n, const rapt_real *x, rapt_real *y,                \
                           rapt_real *slope)                                          \
    {                                                                                 \
        if (slope)                                                                    \
            name##_any(n, x, y, slope);                                               \
        else                                                                          \
            name##_any(n, x, y, NULL);                                                \
    }
STEP_ACTIVATION(gelu)
STEP_ACTIVATION(gelu_tanh)
STEP_ACTIVATION(silu)
#undef STEP_ACTIVATION

static void swiglu_all(size_t n, const rapt_real *gate, const rapt_real *up, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v16 g = v_load_n(gate + i, k), u = falling_side(g);
        v_store_n(y + i, v_mul(step_value(g, u, silu_step(u)), v_load_n(up + i, k)), k);
    });
}

static void swiglu_backward_all(size_t n, const rapt_real *gate, const rapt_real *up, const rapt_real *dy,
                                rapt_real *dgate, rapt_real *dup)
{
    EACH_VECTOR(i, k, n, {
        v16 g = v_load_n(gate + i, k), u = falling_side(g), d = v_load_n(dy + i, k);
        step_at at = silu_step(u);
        v_store_n(dgate + i, v_mul(v_mul(d, v_load_n(up + i, k)), step_slope(g, at)), k);
        v_store_n(dup + i, v_mul(d, step_value(g, u, at)), k);
    });
}

#endif
