/* tests/kernels/check_pack_bf16.c: operands packed as pairs of bf16 values: the place and the rounding of each number. For
 * check_kernels. tests/tensor/test_gemm.c has their products. */
#include "check.h"

#include <string.h>

enum { SLOT_SOURCE, SLOT_PACKED };

/* x to 8 binary digits, ties to even, from the definition of the format: a sign, 8 bits of exponent, 7 of fraction. */
static double rounded(float x)
{
    int exponent;
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    frexp(x, &exponent);
    if (exponent < -125)
        exponent = -125; /* denormal numbers have fewer digits */
    double unit = ldexp(1, exponent - 8), near = nearbyint(x / unit) * unit;
    return fabs(near) >= 0x1p128 ? copysign(INFINITY, near) : near;
}

/* Half `half` of the pair in a packed element. */
static float half_of(float pair, size_t half)
{
    uint32_t bits;
    float x;
    memcpy(&bits, &pair, sizeof bits);
    bits = half ? bits & 0xffff0000 : bits << 16;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_number(check *c, float got, float x, const char *what, size_t i, size_t k)
{
    double want = rounded(x);
    bool same = isnan(x) ? isnan(got) : got == want;
    bool flushed = x != 0 && fabsf(x) < 0x1p-126f && got == 0; /* instructions take denormal numbers for zeros */
    check_that(c, same || flushed, "%s: (%zu, %zu), %a, is %a, not %a", what, i, k, (double)x, (double)got, want);
}

/* `count` rows (of A) or columns (of B), kc elements deep, at dst[i * row + k * col]; zeros in what follows in a pair. */
static void check_pairs(check *c, size_t count, size_t kc, const float *src, size_t i_step, size_t k_step, const float *dst,
                        kernels_strides at, const char *what)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 2 * kernels_packed_count(c->k->bf16, kc); k++) {
            float got = half_of(dst[(ptrdiff_t)i * at.row + (ptrdiff_t)(k / 2) * at.col], k % 2);
            check_number(c, got, k < kc ? src[i * i_step + k * k_step] : 0, what, i, k);
        }
}

static void check_operand(check *c, size_t count, size_t kc, bool turned, bool is_a)
{
    const kernels_gemm *g = c->k->bf16;
    size_t step = turned ? kc + 3 : count + 3, i_step = turned ? step : 1, k_step = turned ? 1 : step;
    float *src = check_slot(SLOT_SOURCE, (count - 1) * i_step + (kc - 1) * k_step + 1);
    check_random_wild(src, (count - 1) * i_step + (kc - 1) * k_step + 1);
    float *dst = check_room(SLOT_PACKED, KERNELS_MAX_A);
    kernels_strides at = {1, g->nr};
    if (is_a)
        at = g->pack_a((int)count, kc, src, (ptrdiff_t)i_step, (ptrdiff_t)k_step, dst);
    else
        g->pack_b(kc, (int)count, src, (ptrdiff_t)k_step, (ptrdiff_t)i_step, dst);
    check_pairs(c, count, kc, src, i_step, k_step, dst, at, is_a ? "A" : "B");
}

void check_pack_bf16(check *c)
{
    static const size_t depths[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 383, KERNELS_K_BLOCK};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (int how = 0; how < 4; how++)
            for (int count = 1; count <= (how & 1 ? c->k->bf16->mr : c->k->bf16->nr); count++)
                check_operand(c, (size_t)count, depths[d], how & 2, how & 1);
}

static void bench_operand(const kernels *k, bool turned, bool is_a)
{
    const kernels_gemm *g = k->bf16;
    int count = is_a ? g->mr : g->nr;
    float *src = check_room(SLOT_SOURCE, 512 * 384), *dst = check_room(SLOT_PACKED, 384 * 64);
    ptrdiff_t i_step = turned ? 512 : 1, k_step = turned ? 1 : 512;
    double seconds;
    memset(src, 0, 512 * 384 * sizeof *src);
    if (is_a)
        CHECK_TIME(seconds, g->pack_a(count, 384, src, i_step, k_step, dst));
    else
        CHECK_TIME(seconds, g->pack_b(384, count, src, k_step, i_step, dst));
    check_report(k, "pack_bf16", turned ? is_a ? "A turned" : "B turned" : is_a ? "A straight" : "B straight",
                 384.0 * count, seconds, false);
}

void bench_pack_bf16(const kernels *k)
{
    for (int how = 0; how < 4; how++)
        bench_operand(k, how & 2, how & 1);
}
