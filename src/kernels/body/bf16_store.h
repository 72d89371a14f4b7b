/* kernels/body/bf16_store.h: elements stored in bf16, the upper 16 bits of an fp32 number rounded to nearest even. For gradients
 * that wait for the optimizer. Not operands of the GEMM: see body/pack_bf16.h. */
#ifndef KERNELS_BODY_BF16_STORE_H
#define KERNELS_BODY_BF16_STORE_H

static void bf16_store_all(size_t n, const rapt_real *x, uint16_t *y)
{
    EACH_VECTOR(i, k, n, {
        const v16 a = v_load_n(x + i, k);
        const w16 bits = w_of_v(a), odd = w_and(w_right(bits, 16), w_set1(1));
        const v16 up = v_of_w(w_add(w_add(bits, odd), w_set1(0x7fff))), quiet = v_of_w(w_or(bits, w_set1(0x400000)));
        w_store_halves(y + i, w_right(w_of_v(v_select(m_eq(a, a), up, quiet)), 16), k);
    });
}

static void bf16_load_all(size_t n, const uint16_t *x, rapt_real *y)
{
    EACH_VECTOR(i, k, n, { v_store_n(y + i, v_of_w(w_left(w_load_halves(x + i, k), 16)), k); });
}

#endif
