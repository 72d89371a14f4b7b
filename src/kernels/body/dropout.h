/* kernels/body/dropout.h: Philox4x32-10 for 16 columns at once, and dropout with it. For the forward pass, and for the backward
 * pass, which draws the same numbers again instead of storing a mask. Not a general generator; base/rng.h has seeds and keys.
 *
 * Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) ten times multiplies two of its four counter
 * words, swaps the halves of the products, and mixes them with the key. */
#ifndef KERNELS_BODY_DROPOUT_H
#define KERNELS_BODY_DROPOUT_H

#define PHILOX_ROUNDS 10
#define PHILOX_ROWS 8 /* rows that the 8 half-words of a call serve */

/* The key of each round, one for each half. */
typedef struct philox_keys { uint64_t round[PHILOX_ROUNDS][2]; } philox_keys;

VEC philox_keys philox_schedule(const uint32_t key[2])
{
    philox_keys keys;
    for (uint32_t i = 0; i < PHILOX_ROUNDS; i++) {
        keys.round[i][0] = key[0] + i * 0x9E3779B9;
        keys.round[i][1] = key[1] + i * 0xBB67AE85;
    }
    return keys;
}

VEC void philox(q16 counter[4], const philox_keys *keys, w16 words[4])
{
    const q16 m0 = q_set1(0xD2511F53), m1 = q_set1(0xCD9E8D57);
    UNROLL
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        q16 p0 = q_mul(counter[0], m0), p1 = q_mul(counter[2], m1);
        counter[0] = q_xor3(q_high(p1), counter[1], q_set1(keys->round[i][0]));
        counter[1] = p1;
        counter[2] = q_xor3(q_high(p0), counter[3], q_set1(keys->round[i][1]));
        counter[3] = p0;
    }
    UNROLL
    for (int i = 0; i < 4; i++)
        words[i] = w_from_q(counter[i]);
}

/* Rows r0 .. r1-1 of a group of eight, k columns from c; x and y point at row r0, column c. */
VEC void dropout_block(const kernels_dropout *d, const philox_keys *keys, size_t group, size_t r0, size_t r1,
                       size_t c, size_t k, const rapt_real *x, size_t ldx, rapt_real *y, size_t ldy)
{
    q16 counter[4] = {q_iota((uint32_t)c), q_set1((uint32_t)group), q_set1(d->head), q_set1(d->example)};
    w16 words[4];
    philox(counter, keys, words);
    const v16 scale = v_set1(d->scale);
    UNROLL
    for (size_t r = 0; r < PHILOX_ROWS; r++)
        if (r >= r0 && r < r1) {
            m16 keep = m_half_ge(words[r / 2], r % 2, d->threshold);
            v16 kept = v_mul(v_load_n(x + (r - r0) * ldx, k), scale);
            v_store_n(y + (r - r0) * ldy, v_select(keep, kept, v_zero()), k);
        }
}

static void dropout(const kernels_dropout *d, size_t row0, size_t rows, size_t cols, const rapt_real *x,
                    size_t ldx, rapt_real *y, size_t ldy)
{
    const philox_keys keys = philox_schedule(d->key);
    for (size_t row = row0; row < row0 + rows;) {
        size_t group = row / PHILOX_ROWS, first = row % PHILOX_ROWS, left = row0 + rows - row;
        size_t last = left < PHILOX_ROWS - first ? first + left : PHILOX_ROWS;
        EACH_VECTOR(c, k, cols, {
            dropout_block(d, &keys, group, first, last, c, k, x + (row - row0) * ldx + c, ldx,
                          y + (row - row0) * ldy + c, ldy);
        });
        row += last - first;
    }
}

#endif
