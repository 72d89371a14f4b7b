/* kernels/x86/vec_x86.h: what AVX2 and AVX-512 have in common. For x86/vec_avx2.h and x86/vec_avx512.h.
 * Not for the bodies. */
#ifndef KERNELS_X86_VEC_X86_H
#define KERNELS_X86_VEC_X86_H

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels/vec.h"
#include "kernels/vec_inline.h"

/* The folds of kernels.h from 8 lanes on. */
VEC float x86_sum8(__m256 a)
{
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

VEC float x86_max8(__m256 a)
{
    __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

/* The instruction keeps the upper lanes of a register. clang takes any, even one that holds a result of the
 * row before, and then rows wait for each other: a layer norm of 10 elements took twice as long. */
VEC float s_from_size(size_t n)
{
    __m128 r = _mm_setzero_ps();
    __asm__("vcvtsi2ssq %1, %0, %0" : "+x"(r) : "r"(n));
    return _mm_cvtss_f32(r);
}

VEC float s_sqrt(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }

#endif
