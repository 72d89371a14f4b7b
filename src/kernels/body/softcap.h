/* kernels/body/softcap.h: tanh that caps scores and logits, and its derivative. For softcap.c and the attention.
 *
 * With u = -|z|, tanh u = u + u^3 P(u^2) near 0, P of degree 4 within 4.5e-9 relative (minimax by Lawson's weights, coefficients
 * rounded to floats); elsewhere it is (e - 1) / (e + 1) with e = e^(2u). The double build uses libm's tanh. */
#ifndef KERNELS_BODY_SOFTCAP_H
#define KERNELS_BODY_SOFTCAP_H

#ifdef RAPT_DOUBLE

VEC v16 tanh_falling(v16 u)
{
    for (int i = 0; i < 16; i++)
        u.lane[i] = tanh(u.lane[i]);
    return u;
}

#else

#define TANH_NEAR 0.6f

/* tanh of u <= 0, -128 at least; NaN stays. */
VEC v16 tanh_falling(v16 u)
{
    const v16 one = v_set1(1), w = v_mul(u, u), e = falling_exp(v_add(u, u));
    v16 p = v_fma(v_set1(-0x1.82577ep-8f), w, v_set1(0x1.54b876p-6f));
    p = v_fma(p, w, v_set1(-0x1.b898d8p-5f));
    p = v_fma(p, w, v_set1(0x1.1109aep-3f));
    p = v_fma(p, w, v_set1(-0x1.55553ep-2f));
    v16 near = v_fma(v_mul(u, w), p, u), far = v_div(v_sub(e, one), v_add(e, one));
    v16 y = v_select(m_gt(u, v_set1(-TANH_NEAR)), near, far);
    return v_add(y, v_sub(u, u));
}

#endif

VEC void softcap_any(size_t n, rapt_real scale, rapt_real cap, const rapt_real *x, rapt_real *y, rapt_real *slope)
{
    const v16 by = v_set1(scale / cap), top = v_set1(cap), one = v_set1(1), rise = v_set1(scale);
    EACH_VECTOR(i, k, n, {
        v16 z = v_mul(by, v_load_n(x + i, k)), down = tanh_falling(falling_side(z));
        v16 t = v_select(m_gt(z, v_zero()), v_sub(v_zero(), down), down);
        v_store_n(y + i, v_mul(top, t), k);
        if (slope)
            v_store_n(slope + i, v_mul(rise, v_fnma(t, t, one)), k);
    });
}

static void softcap_all(size_t n, rapt_real scale, rapt_real cap, const rapt_real *x, rapt_real *y, rapt_real *slope)
{
    if (slope)
        softcap_any(n, scale, cap, x, y, slope);
    else
        softcap_any(n, scale, cap, x, y, NULL);
}

#endif
