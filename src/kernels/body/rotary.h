/* kernels/body/rotary.h: pairs of features turned by the angles of their position. For rotary positions.
 * Not the angles: their cosines and sines come from a table. */
#ifndef KERNELS_BODY_ROTARY_H
#define KERNELS_BODY_ROTARY_H

static void rotary(size_t heads, size_t half, rapt_real direction, const rapt_real *x, const rapt_real *table,
                   rapt_real *y)
{
    const v16 turn = v_set1(direction);
    EACH_VECTOR(j, k, half, {
        const v16 c = v_load_n(table + j, k), s = v_mul(turn, v_load_n(table + half + j, k));
        for (size_t at = j; at < heads * 2 * half; at += 2 * half) {
            v16 a = v_load_n(x + at, k), b = v_load_n(x + at + half, k);
            v_store_n(y + at, v_fnma(b, s, v_mul(a, c)), k);
            v_store_n(y + at + half, v_fma(a, s, v_mul(b, c)), k);
        }
    });
}

#endif
