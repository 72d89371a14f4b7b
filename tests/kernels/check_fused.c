/* tests/kernels/check_fused.c: fused multiply-adds that are hard to round: halfway between two floats and beside it, subnormal,
 * about to overflow. For check_kernels, as a part of mul_add. Random numbers are in check_elements.c.
 *
 * The reference is no fmaf, because a C library's may be wrong: emscripten 3.1.6 has one that rounds twice. It is the sum of two
 * integers, long enough for every bit of a product and of a float, rounded at the end. */
#include "check.h"

#include <float.h>
#include <string.h>

#define BLOCK 4096
#define TRIPLES ((size_t)1 << 18) /* --exhaustive: 1024 times as many */
#define WORDS 20
#define LOWEST (-298) /* the exponent of the product of two floats 2^-149 */

enum { A, B, SUM, OUT, WANT };

/* Bit i of word w stands for 2^(32 w + i + LOWEST); in two's complement. FLT_MAX squared is below 2^256, bit 554 of 640. */
typedef struct integer { uint32_t word[WORDS]; } integer;

static bool bit_of(const integer *x, int i)
{
    return i >= 0 && x->word[i / 32] >> i % 32 & 1;
}

/* x += m 2^exponent, or x -= m 2^exponent. */
static void add_shifted(integer *x, uint64_t m, int exponent, bool subtract)
{
    for (int i = 0; i < 64; i++) {
        if (!(m >> i & 1))
            continue;
        const int at = i + exponent - LOWEST;
        uint32_t step = (uint32_t)1 << at % 32;
        for (int w = at / 32; w < WORDS && step; w++) {
            const uint32_t before = x->word[w];
            x->word[w] = subtract ? before - step : before + step;
            step = subtract ? before < step : x->word[w] < step; /* what the next word borrows or carries */
        }
    }
}

/* |x| = m 2^exponent, m < 2^24 */
static uint64_t mantissa(float x, int *exponent)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t biased = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    *exponent = biased ? (int)biased - 150 : -149;
    return biased ? fraction | 0x800000 : fraction;
}

/* To 24 bits, or fewer where the last one would be below 2^-149; to nearest, ties to even. */
static float rounded(integer x)
{
    const bool negative = x.word[WORDS - 1] >> 31;
    if (negative) {
        integer zero = {{0}};
        uint32_t borrow = 0;
        for (int w = 0; w < WORDS; w++) {
            zero.word[w] = 0 - x.word[w] - borrow;
            borrow = x.word[w] + borrow > 0 || (x.word[w] == UINT32_MAX && borrow);
        }
        x = zero;
    }
    int top = 32 * WORDS - 1;
    while (top >= 0 && !bit_of(&x, top))
        top--;
    const int last = top - 23 > -149 - LOWEST ? top - 23 : -149 - LOWEST;
    uint32_t m = 0;
    for (int i = 23; i >= 0; i--)
        m = 2 * m + bit_of(&x, last + i);
    bool below = false;
    for (int i = last - 2; i >= 0; i--)
        below = below || bit_of(&x, i);
    m += bit_of(&x, last - 1) && (below || m % 2 == 1);
    return (float)ldexp(negative ? -(double)m : m, last + LOWEST);
}

/* Where a number is not finite nothing is rounded, and neither is a sum of 0, whose sign doubles know. */
static float reference(float a, float b, float c)
{
    const double plain = (double)a * b + c;
    if (!isfinite(plain) || plain == 0)
        return (float)plain;
    integer sum = {{0}};
    int ea, eb, ec;
    const uint64_t product = mantissa(a, &ea) * mantissa(b, &eb), m = mantissa(c, &ec);
    add_shifted(&sum, product, ea + eb, signbit(a) != signbit(b));
    add_shifted(&sum, m, ec, signbit(c));
    return rounded(sum);
}

/* 1 <= x < 2: any bits, few bits, 1 + 2^-i, 2 - 2^-i. */
static float any_significand(void)
{
    const uint32_t any = check_random_int(1u << 23), i = check_random_int(24);
    const uint32_t fraction[4] = {any, any >> i << i, (uint32_t)(1ull << i) & 0x7fffff, 0x7fffff >> i << i};
    return 1 + (float)fraction[check_random_int(4)] * 0x1p-23f;
}

static float scaled(float x, int exponent)
{
    const double y = ldexp(x, exponent);
    return (float)(check_random_int(2) ? -y : y);
}

/* A power of two from FLT_MAX's to the least float's, half of the time near one of the ends. */
static int any_size(void)
{
    const int sizes[4] = {(int)check_random_int(254) - 126, -126 - (int)check_random_int(24), -150 + (int)check_random_int(60),
                          127 - (int)check_random_int(3)};
    return sizes[check_random_int(4)];
}

/* Any c, and a b from 2^60 times smaller to 2^30 times larger; one in ten has any bits, and may be NaN, infinite or 0. */
static void any_triple(float *a, float *b, float *c)
{
    const int size = any_size(), product = size - 60 + (int)check_random_int(91);
    const int half = product / 2, split = (int)check_random_int(41) - 20;
    *a = scaled(any_significand(), half + split);
    *b = scaled(any_significand(), product - half - split);
    *c = scaled(any_significand(), size);
    const uint32_t bits = check_random_int(1u << 16) << 16 | check_random_int(1u << 16), which = check_random_int(32);
    if (which < 3)
        memcpy(which == 0 ? a : which == 1 ? b : c, &bits, sizeof bits);
}

/* Any c, and a b of half its last bit but for a small part: (1 + x) (1 - x) = 1 - x^2. Where x^2 is some 2^-29, the sum is beside
 * the halfway point in doubles, too. */
static void near_halfway(float *a, float *b, float *c)
{
    const float ends[4] = {FLT_MIN, FLT_MIN - 0x1p-149f, 0x1p-149f, FLT_MAX};
    const uint32_t end = check_random_int(16), x = check_random_int(2) ? 1 + check_random_int(1024) : 1u << check_random_int(15);
    *c = end < 4 ? scaled(ends[end], 0) : scaled(any_significand(), any_size());
    const int last = ilogb((double)*c) - 23 > -149 ? ilogb((double)*c) - 23 : -149, split = (last - 1) / 2;
    *a = scaled(1 + (float)x * 0x1p-23f, split);
    *b = scaled(1 - (float)x * 0x1p-23f, last - 1 - split);
}

/* All at once, where a vector has several that are hard, and each alone. */
static void check_triples(check *c, const float *a, const float *b, const float *sum, const float *want)
{
    float *y = check_slot(OUT, BLOCK);
    memcpy(y, sum, BLOCK * sizeof *y);
    c->k->mul_add(BLOCK, a, b, y);
    check_same(c, BLOCK, y, want, "fused");
    memcpy(y, sum, BLOCK * sizeof *y);
    for (size_t i = 0; i < BLOCK; i++)
        c->k->mul_add(1, a + i, b + i, y + i);
    check_same(c, BLOCK, y, want, "fused, alone");
}

void check_fused(check *c)
{
    size_t hard = 0, wrong = 0, triples = c->exhaustive ? TRIPLES * 1024 : TRIPLES;
    for (size_t done = 0; done < triples; done += BLOCK) {
        float *a = check_slot(A, BLOCK), *b = check_slot(B, BLOCK);
        float *sum = check_slot(SUM, BLOCK), *want = check_slot(WANT, BLOCK);
        for (size_t i = 0; i < BLOCK; i++) {
            (i % 2 ? any_triple : near_halfway)(&a[i], &b[i], &sum[i]);
            want[i] = reference(a[i], b[i], sum[i]);
            const float twice = (float)((double)a[i] * b[i] + sum[i]);
            const float of_library = fmaf(a[i], b[i], sum[i]);
            hard += memcmp(&twice, &want[i], sizeof twice) != 0 && !isnan(twice);
            wrong += memcmp(&of_library, &want[i], sizeof twice) != 0 && !isnan(twice);
        }
        check_triples(c, a, b, sum, want);
    }
    check_that(c, wrong == 0, "the C library's fmaf, by which other checks go, is wrong for %zu of %zu triples", wrong, triples);
    check_that(c, hard > triples / 100, "%zu of %zu triples are hard to round", hard, triples);
}
