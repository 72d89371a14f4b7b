/* kernels/fused.h: fused multiply-adds of floats, a b + c rounded once, where the processor has no instruction for them. For
 * vec_portable.h and wasm/vec_wasm.h. Not libm's fmaf: it takes 4 to 30 times longer, and emscripten 3.1.6's is wrong.
 *
 * In doubles the product p = a b is exact (24 + 24 <= 53 bits, and exponents have room), and s = p + c is rounded to 53 bits.
 * Rounding s to a float rounds twice, which is as good as once unless s lies halfway between two floats although p + c does
 * not. Halfway is rare, and is seen in the bits:
 *   - the result is a normal number, or infinite: the lower 29 bits of s, which a float lacks, are 1 0...0;
 *   - the result is subnormal, or FLT_MIN: any s, because a float lacks more bits there. Not a result of 0: if |s| <= 2^-150 had
 *     been rounded, p would have bits below 2^-202, so |p| < 2^-155 and |c| < 2^-149; then c is 0, and s is p.
 * Then s is rounded to odd instead of to nearest (Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved
 * algorithms using rounding to odd, 2008): p + c lies between two doubles, and the result is the one whose last bit is 1. That
 * one is not halfway, and is on the right side. The error of s, which says whether and to which side it was rounded, is Knuth's
 * two-sum. */
#ifndef KERNELS_FUSED_H
#define KERNELS_FUSED_H

#include <stdint.h>
#include <string.h>

/* Compilers translate these into whatever registers there are. */
typedef float fused_floats __attribute__((vector_size(16)));
typedef double fused_doubles __attribute__((vector_size(32)));
typedef uint64_t fused_longs __attribute__((vector_size(32)));
typedef uint32_t fused_words __attribute__((vector_size(16)));
typedef int32_t fused_truths __attribute__((vector_size(16)));

static inline float fused_by_odd(float a, float b, float c)
{
    const double p = (double)a * b, s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if (error != 0 && s - s == 0 && bits % 2 == 0) /* rounded, finite, even */
        bits += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}

/* Apart, and with copies of its arguments, so that they can stay in registers where it is not called. */
static __attribute__((noinline, cold, unused)) void fused_rare(float *to, const float *a, const float *b, const float *c)
{
    for (int i = 0; i < 16; i++)
        to[i] = fused_by_odd(a[i], b[i], c[i]);
}

/* a b + c of four lanes; sets the lanes of `rare` that have to be rounded to odd. */
static inline __attribute__((always_inline)) fused_floats fused_part(fused_floats a, fused_floats b, fused_floats c,
                                                                     fused_truths *rare)
{
    const fused_doubles s = __builtin_convertvector(a, fused_doubles) * __builtin_convertvector(b, fused_doubles) +
                            __builtin_convertvector(c, fused_doubles);
    const fused_floats r = __builtin_convertvector(s, fused_floats);
    const fused_words low = __builtin_convertvector((fused_longs)s, fused_words);
    *rare |= low << 3 == 0x80000000;
    *rare |= (fused_truths)((fused_words)r * 2 + 0x7fffffff) < INT32_MIN + 0x01000000; /* 0 < |r| <= FLT_MIN */
    return r;
}

#endif
