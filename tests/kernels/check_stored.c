/* tests/kernels/check_stored.c: numbers stored in bf16 and in blocks of Q8_0, and widened again. For check_kernels.
 * Bits are compared with the scalar level, and with the definitions: the nearest bf16 number by halving its ulp in double, and a
 * block of Q8_0 by its formula, whose scale is rounded to binary16 in double. */
#include "check.h"

#include <string.h>

enum { X, BYTES, WANT_BYTES, OUT, WANT };
enum { BLOCK = 32, BLOCK_BYTES = BLOCK + 2 };

/* The multiple of `ulp` that is nearest to x, of two equally near ones the even one: exact, for multiples below 2^53. */
static double nearest(double x, double ulp)
{
    return nearbyint(x / ulp) * ulp;
}

/* ---- bf16 ------------------------------------------------------------------------------------------------------------- */

/* 8 bits of precision, from the smallest exponent of fp32 on. */
static float to_bf16(float x)
{
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    frexp((double)x, &exponent);
    const int unit = (exponent < -125 ? -125 : exponent) - 8;
    return (float)nearest((double)x, ldexp(1, unit)); /* above the largest number: inf */
}

static void run_bf16(check *c, size_t n, bool wild)
{
    float *x = check_slot(X, n), *y = check_slot(OUT, n), *want = check_slot(WANT, n);
    uint8_t *bytes = check_slot_bytes(BYTES, 2 * n), *scalar = check_slot_bytes(WANT_BYTES, 2 * n);
    (wild ? check_random_wild : check_random)(x, n);
    c->k->round_bf16(n, x, bytes);
    c->scalar->round_bf16(n, x, scalar);
    c->k->widen_bf16(n, bytes, y);
    for (size_t i = 0; i < n; i++)
        want[i] = to_bf16(x[i]);
    check_same(c, n, y, want, "rounded to bf16");
    check_canary(c, y, "rounded to bf16");
    check_that(c, memcmp(bytes, scalar, 2 * n) == 0, "n = %zu: bytes of bf16 are not those of scalar", n);
}

static void run_bf16_sizes(check *c)
{
    const float ties[] = {0x1.01p0f, 0x1.03p0f, -0x1.01p0f, 0x1.010002p0f, 0x1.00fffep0f, 0x1.fep127f, 0x1.ffp127f, 0x1p-133f,
                          0x1p-134f, 0x1.8p-133f};
    const float want[] = {0x1p0f, 0x1.04p0f, -0x1p0f, 0x1.02p0f, 0x1p0f, 0x1.fep127f, INFINITY, 0x1p-133f, 0, 0x1p-132f};
    enum { TIES = sizeof ties / sizeof *ties };
    uint8_t bytes[2 * TIES];
    float y[TIES];
    c->k->round_bf16(TIES, ties, bytes);
    c->k->widen_bf16(TIES, bytes, y);
    check_same(c, TIES, y, want, "ties and ends of bf16");
    for (const size_t *n = check_sizes; *n; n++) {
        run_bf16(c, *n, false);
        run_bf16(c, *n, true);
    }
}

void check_round_bf16(check *c) { run_bf16_sizes(c); }
void check_widen_bf16(check *c) { run_bf16_sizes(c); }

/* ---- Q8_0 ------------------------------------------------------------------------------------------------------------- */

static size_t q8_bytes(size_t n)
{
    return n + 2 * ((n + BLOCK - 1) / BLOCK);
}

/* A positive number below 65504 as binary16 has it. */
static float to_half(float x)
{
    int exponent;
    frexp((double)x, &exponent);
    return (float)nearest((double)x, ldexp(1, (exponent < -13 ? -13 : exponent) - 11));
}

/* n <= 32 numbers, finite, of which one is above 2^-80. */
static void to_q8(size_t n, const float *x, float *y)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    const float scale = largest / 127, factor = scale != 0 ? 1 / scale : 0, stored = to_half(scale);
    for (size_t i = 0; i < n; i++)
        y[i] = stored * (float)(int)roundf(x[i] * factor);
}

static void run_q8(check *c, size_t n, bool wild)
{
    float *x = check_slot(X, n), *y = check_slot(OUT, n), *want = check_slot(WANT, n);
    uint8_t *bytes = check_slot_bytes(BYTES, q8_bytes(n)), *scalar = check_slot_bytes(WANT_BYTES, q8_bytes(n));
    (wild ? check_random_wild : check_random)(x, n);
    c->k->round_q8(n, x, bytes);
    c->scalar->round_q8(n, x, scalar);
    c->k->widen_q8(n, bytes, y);
    check_canary(c, y, "widened from Q8_0");
    check_that(c, memcmp(bytes, scalar, q8_bytes(n)) == 0, "n = %zu: blocks of Q8_0 are not those of scalar", n);
    c->scalar->widen_q8(n, scalar, want);
    check_same(c, n, y, want, "widened as scalar does");
    for (size_t i = 0; i < n && !wild; i += BLOCK)
        to_q8(n - i < BLOCK ? n - i : BLOCK, x + i, want + i);
    if (!wild)
        check_same(c, n, y, want, "rounded to Q8_0");
}

/* The bytes by hand: a scale of 1/2, integers that are ties; and blocks that are zero, tiny, not finite. */
static void run_q8_blocks(check *c)
{
    const float x[] = {63.5f, -63.5f, 0.25f, -0.25f, 0.75f, 0.5f, 0};
    const uint8_t want[] = {0x00, 0x38, 127, (uint8_t)-127, 1, (uint8_t)-1, 2, 1, 0};
    uint8_t bytes[BLOCK_BYTES];
    float y[BLOCK], block[BLOCK] = {0};
    c->k->round_q8(sizeof x / sizeof *x, x, bytes);
    check_that(c, memcmp(bytes, want, sizeof want) == 0, "a short block of Q8_0 has other bytes");
    for (int i = 0; i < 3; i++) {
        const float other[] = {0, NAN, -INFINITY};
        block[7] = other[i];
        c->k->round_q8(BLOCK, block, bytes);
        c->k->widen_q8(BLOCK, bytes, y);
        for (int j = 0; j < BLOCK; j++)
            check_that(c, i == 0 ? y[j] == 0 : isnan(y[j]), "a block with %g has %g at %d", (double)other[i], (double)y[j], j);
    }
}

static void run_q8_sizes(check *c)
{
    run_q8_blocks(c);
    for (const size_t *n = check_sizes; *n; n++) {
        run_q8(c, *n, false);
        run_q8(c, *n, true);
    }
}

void check_round_q8(check *c) { run_q8_sizes(c); }
void check_widen_q8(check *c) { run_q8_sizes(c); }

/* ---- speed ------------------------------------------------------------------------------------------------------------ */

#define BENCH(name, call)                                                                    \
    void bench_##name(const kernels *k)                                                      \
    {                                                                                        \
        for (const size_t *size = check_bench_sizes; *size; size++) {                        \
            size_t n = *size;                                                                \
            float *x = check_room(X, n);                                                     \
            uint8_t *bytes = (uint8_t *)check_room(BYTES, n + 2);                            \
            double seconds;                                                                  \
            char what[40];                                                                   \
            check_random(x, n);                                                              \
            k->round_q8(n, x, bytes);                                                        \
            CHECK_TIME(seconds, k->call);                                                    \
            snprintf(what, sizeof what, "n = %zu", n);                                       \
            check_report(k, #name, what, (double)n, seconds, false);                         \
        }                                                                                    \
    }
BENCH(round_bf16, round_bf16(n, x, bytes))
BENCH(widen_bf16, widen_bf16(n, bytes, x))
BENCH(round_q8, round_q8(n, x, bytes))
BENCH(widen_q8, widen_q8(n, bytes, x))
