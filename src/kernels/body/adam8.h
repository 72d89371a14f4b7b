/* kernels/body/adam8.h: a step of Adam with moments in 8 bits. For the optimizer. The step itself is in body/adam.h.
 *
 * A code is a floating-point number with a mantissa of 3 bits. The exponents of a block of 256 elements are relative to the
 * largest one, which the block stores in a byte. So values are powers of 2 times (8 + i) / 8 in every block, and a value that did
 * not change is stored unchanged. A second moment has 5 bits of exponent and is never 0 unless the block is; a first moment has a
 * sign and 4 bits of exponent and may be 0. So the division never meets a square that has vanished while the mean has not.
 *
 * A moment changes by less than a code's distance in most steps, so rounding to the nearest would lose the change. It is rounded
 * at random instead, so that it is right in the mean (stochastic rounding): random bits, a hash of the element's number, are
 * added to the bits that are dropped. A block's exponent comes from its largest rounded element, so that the largest can grow
 * too. */
#ifndef KERNELS_BODY_ADAM8_H
#define KERNELS_BODY_ADAM8_H

#define ADAM8_CUT 20 /* bits of an fp32 number that a code lacks: all of the mantissa except 3 */
#define ADAM8_TOP_MEAN 127u
#define ADAM8_TOP_SQUARE 255u

static const uint32_t adam8_lanes[KERNELS_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* 32 random bits for each number: a bijection of words whose every bit depends on all bits of the input. Constants: C. Wellons,
 * "Prospecting for hash functions" (2018), lowbias32. */
VEC w16 adam8_random(w16 x)
{
    x = w_mul(w_xor(x, w_right(x, 16)), w_set1(0x7feb352du));
    x = w_mul(w_xor(x, w_right(x, 15)), w_set1(0x846ca68bu));
    return w_xor(x, w_right(x, 16));
}

/* The code 0 of a block, as an fp32 number's upper bits: `top` codes above it is the largest of the largest element's binade. */
VEC uint32_t adam8_base(uint32_t exponent, const uint32_t top)
{
    const uint32_t most = exponent * 8 + 7;
    return most > top ? most - top : 0;
}

/* 0 stays 0. */
VEC v16 adam8_mean(w16 code, w16 base)
{
    const w16 size = w_and(code, w_set1(ADAM8_TOP_MEAN)), sign = w_left(w_and(code, w_set1(0x80)), 24);
    return v_of_w(w_or(sign, w_where(size, w_left(w_add(size, base), ADAM8_CUT))));
}

VEC v16 adam8_square(w16 code, w16 base)
{
    return v_of_w(w_left(w_add(code, base), ADAM8_CUT));
}

/* The upper bits of a number that is not negative, after ADAM8_CUT random bits were added; NaN stays NaN. */
VEC w16 adam8_round(v16 x, w16 random)
{
    const w16 bits = w_and(w_of_v(x), w_set1(0x7fffffff)); /* a NaN may have a sign */
    return w_min(w_right(w_add(bits, random), ADAM8_CUT), w_set1(0x7ff));
}

/* The place of a block, and the numbers of its first elements. */
typedef struct adam8_block {
    size_t n;
    rapt_real *p;
    const rapt_real *grad;
    uint8_t *m, *v, *m_exponent, *v_exponent;
    w16 number;
} adam8_block;

/* Makes the step. Leaves the rounded moments in `means`, above the bits of their signs, and in `squares`, and the exponents. */
VEC void adam8_move(const adam8_block *b, const adam_vectors *step, v16 grad_scale, uint16_t *means, uint16_t *squares)
{
    const w16 m_base = w_set1(adam8_base(*b->m_exponent, ADAM8_TOP_MEAN));
    const w16 v_base = w_set1(adam8_base(*b->v_exponent, ADAM8_TOP_SQUARE));
    w16 most_mean = w_set1(0), most_square = w_set1(0), number = b->number;
    EACH_VECTOR(i, k, b->n, {
        v16 mean = adam8_mean(w_load_bytes(b->m + i, k), m_base);
        v16 square = v_first(k, adam8_square(w_load_bytes(b->v + i, k), v_base), v_zero());
        const v16 g = v_mul(v_load_n(b->grad + i, k), grad_scale);
        v_store_n(b->p + i, adam_move(step, v_load_n(b->p + i, k), g, &mean, &square), k);
        const w16 random = adam8_random(number); /* the mean uses the upper bits, the square the lower bits */
        const w16 m = adam8_round(mean, w_right(random, 32 - ADAM8_CUT));
        const w16 v = adam8_round(square, w_and(random, w_set1((1u << ADAM8_CUT) - 1)));
        w_store_halves(means + i, w_or(w_and(w_right(w_of_v(mean), 16), w_set1(0x8000)), m), k);
        w_store_halves(squares + i, v, k);
        most_mean = w_max(most_mean, m); /* lanes past the end are 0, which is rounded to 0 */
        most_square = w_max(most_square, v);
        number = w_add(number, w_set1(KERNELS_LANES));
    });
    *b->m_exponent = (uint8_t)(w_hmax(most_mean) >> 3);
    *b->v_exponent = (uint8_t)(w_hmax(most_square) >> 3);
}

/* A code: by how much a number is above the base, 0 below it. */
VEC void adam8_store(const adam8_block *b, const uint16_t *means, const uint16_t *squares)
{
    const w16 m_base = w_set1(adam8_base(*b->m_exponent, ADAM8_TOP_MEAN));
    const w16 v_base = w_set1(adam8_base(*b->v_exponent, ADAM8_TOP_SQUARE));
    EACH_VECTOR(i, k, b->n, {
        const w16 mean = w_load_halves(means + i, k), square = w_load_halves(squares + i, k);
        const w16 size = w_and(mean, w_set1(0x7fff)), sign = w_and(w_right(mean, 8), w_set1(0x80));
        w_store_bytes(b->m + i, w_or(sign, w_sub(w_max(size, m_base), m_base)), k);
        w_store_bytes(b->v + i, w_sub(w_max(square, v_base), v_base), k);
    });
}

static void adam8_all(size_t n, rapt_real *p, const rapt_real *grad, uint8_t *m, uint8_t *v, uint32_t seed,
                      const kernels_adam *a)
{
    const adam_vectors step = adam_spread(a);
    const v16 grad_scale = v_set1(a->grad_scale);
    const size_t blocks = kernels_adam8_blocks(n);
    const w16 lanes = w_load(adam8_lanes);
    uint16_t means[KERNELS_ADAM8_BLOCK], squares[KERNELS_ADAM8_BLOCK];
    for (size_t block = 0, at = 0; block < blocks; block++, at += KERNELS_ADAM8_BLOCK) {
        const adam8_block b = {.n = n - at < KERNELS_ADAM8_BLOCK ? n - at : KERNELS_ADAM8_BLOCK, .p = p + at, .grad = grad + at,
                               .m = m + blocks + at, .v = v + blocks + at, .m_exponent = m + block, .v_exponent = v + block,
                               .number = w_add(lanes, w_set1(seed + (uint32_t)at))};
        adam8_move(&b, &step, grad_scale, means, squares);
        adam8_store(&b, means, squares);
    }
}

#endif
