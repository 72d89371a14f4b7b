/* kernels/x86/vec_avx512.h: the vector primitives with AVX-512 (F, BW, DQ, VL), 16 lanes in one register. For the
 * bodies.
 * Not the meaning of the primitives: that is in vec_portable.h. */
#ifndef KERNELS_X86_VEC_AVX512_H
#define KERNELS_X86_VEC_AVX512_H

#include "kernels/x86/vec_x86.h"

typedef __m512 v16;
typedef __mmask16 m16;
typedef __m512i w16;
typedef struct q16 { __m512i even, odd; } q16; /* words 0, 2, .. 14 and 1, 3, .. 15 */

VEC m16 m_first(size_t n) { return (m16)((1u << n) - 1); }

VEC v16 v_load(const float *p) { return _mm512_loadu_ps(p); }
VEC void v_store(float *p, v16 a) { _mm512_storeu_ps(p, a); }
VEC v16 v_load_n(const float *p, size_t n)
{
    return n == 16 ? v_load(p) : _mm512_maskz_loadu_ps(m_first(n), p);
}

VEC void v_store_n(float *p, v16 a, size_t n)
{
    if (n == 16)
        v_store(p, a);
    else
        _mm512_mask_storeu_ps(p, m_first(n), a);
}

VEC v16 v_set1(float x) { return _mm512_set1_ps(x); }
VEC v16 v_zero(void) { return _mm512_setzero_ps(); }

/* An FMA that is the only user best loads and broadcasts by itself. For more of them the empty asm keeps the
 * broadcast in a register: clang would load it again for each. */
VEC v16 v_broadcast(const float *p, const int uses)
{
    v16 r = _mm512_set1_ps(*p);
    if (uses > 1)
        __asm__("" : "+v"(r));
    return r;
}

VEC v16 v_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
VEC v16 v_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
VEC v16 v_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
VEC v16 v_div(v16 a, v16 b) { return _mm512_div_ps(a, b); }
VEC v16 v_max(v16 a, v16 b) { return _mm512_max_ps(a, b); }
VEC v16 v_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
VEC v16 v_fnma(v16 a, v16 b, v16 c) { return _mm512_fnmadd_ps(a, b, c); }
VEC v16 v_sqrt(v16 a) { return _mm512_sqrt_ps(a); }

VEC float v_sum(v16 a)
{
    return x86_sum8(_mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1)));
}
VEC float v_hmax(v16 a)
{
    return x86_max8(_mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1)));
}

VEC m16 m_load_n(const uint8_t *keep, size_t n)
{
    __m128i bytes = _mm_maskz_loadu_epi8(m_first(n), keep);
    return _mm_test_epi8_mask(bytes, bytes);
}

VEC m16 m_gt(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
VEC m16 m_ge(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
VEC m16 m_eq(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
VEC unsigned m_bits(m16 m) { return m; }
VEC v16 v_select(m16 m, v16 a, v16 b) { return _mm512_mask_blend_ps(m, b, a); }
VEC v16 v_first(size_t n, v16 a, v16 b) { return n == 16 ? a : v_select(m_first(n), a, b); }

/* Four rounds that exchange blocks of 1, 2, 4 and 8 lanes. */
VEC void v_transpose(v16 r[16])
{
    v16 s[16];
    UNROLL
    for (int i = 0; i < 8; i++) {
        s[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        r[4 * i] = _mm512_shuffle_ps(s[4 * i], s[4 * i + 2], 0x44);
        r[4 * i + 1] = _mm512_shuffle_ps(s[4 * i], s[4 * i + 2], 0xee);
        r[4 * i + 2] = _mm512_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0x44);
        r[4 * i + 3] = _mm512_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0xee);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        s[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        s[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        s[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        s[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(s[i], s[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(s[i], s[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(s[i + 4], s[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(s[i + 4], s[i + 12], 0xdd);
    }
}

VEC v16 v_shift_exponent(v16 a, v16 t)
{
    __m512i k = _mm512_slli_epi32(_mm512_castps_si512(t), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), k));
}

VEC q16 q_set1(uint64_t x)
{
    __m512i v = _mm512_set1_epi64((long long)x);
    return (q16){v, v};
}

VEC q16 q_iota(uint32_t start)
{
    __m512i even = _mm512_add_epi32(_mm512_set1_epi32((int)start),
                                    _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0));
    return (q16){even, _mm512_add_epi32(even, _mm512_set1_epi64(1))};
}

VEC q16 q_mul(q16 a, q16 b)
{
    return (q16){_mm512_mul_epu32(a.even, b.even), _mm512_mul_epu32(a.odd, b.odd)};
}
VEC q16 q_high(q16 a) { return (q16){_mm512_srli_epi64(a.even, 32), _mm512_srli_epi64(a.odd, 32)}; }

VEC q16 q_xor3(q16 a, q16 b, q16 c)
{
    return (q16){_mm512_ternarylogic_epi64(a.even, b.even, c.even, 0x96),
                 _mm512_ternarylogic_epi64(a.odd, b.odd, c.odd, 0x96)};
}

VEC w16 w_from_q(q16 a) { return _mm512_mask_mov_epi32(a.even, 0xaaaa, _mm512_slli_epi64(a.odd, 32)); }

VEC m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    __m512i bits = half ? _mm512_srli_epi32(a, 16) : _mm512_and_si512(a, _mm512_set1_epi32(0xffff));
    return _mm512_cmpge_epu32_mask(bits, _mm512_set1_epi32((int)threshold));
}

/* ---- stored formats ---- */
VEC w16 w_of_v(v16 a) { return _mm512_castps_si512(a); }
VEC v16 v_of_w(w16 a) { return _mm512_castsi512_ps(a); }
VEC w16 w_set1(uint32_t x) { return _mm512_set1_epi32((int)x); }
VEC w16 w_load(const uint32_t *p) { return _mm512_loadu_si512(p); }
VEC w16 w_add(w16 a, w16 b) { return _mm512_add_epi32(a, b); }
VEC w16 w_sub(w16 a, w16 b) { return _mm512_sub_epi32(a, b); }
VEC w16 w_mul(w16 a, w16 b) { return _mm512_mullo_epi32(a, b); }
VEC w16 w_xor(w16 a, w16 b) { return _mm512_xor_si512(a, b); }
VEC w16 w_and(w16 a, w16 b) { return _mm512_and_si512(a, b); }
VEC w16 w_or(w16 a, w16 b) { return _mm512_or_si512(a, b); }
VEC w16 w_min(w16 a, w16 b) { return _mm512_min_epu32(a, b); }
VEC w16 w_max(w16 a, w16 b) { return _mm512_max_epu32(a, b); }
VEC w16 w_left(w16 a, const int bits) { return _mm512_slli_epi32(a, (unsigned)bits); }
VEC w16 w_right(w16 a, const int bits) { return _mm512_srli_epi32(a, (unsigned)bits); }
VEC w16 w_where(w16 a, w16 b) { return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(a, a), b); }
VEC uint32_t w_hmax(w16 a) { return _mm512_reduce_max_epu32(a); }

VEC w16 w_load_bytes(const uint8_t *p, size_t n)
{
    return _mm512_cvtepu8_epi32(n == 16 ? _mm_loadu_si128((const __m128i *)(const void *)p)
                                        : _mm_maskz_loadu_epi8(m_first(n), p));
}

VEC void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    if (n == 16)
        _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(a));
    else
        _mm_mask_storeu_epi8(p, m_first(n), _mm512_cvtepi32_epi8(a));
}

VEC w16 w_load_halves(const uint16_t *p, size_t n)
{
    return _mm512_cvtepu16_epi32(n == 16 ? _mm256_loadu_si256((const __m256i *)(const void *)p)
                                         : _mm256_maskz_loadu_epi16(m_first(n), p));
}

VEC void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    if (n == 16)
        _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(a));
    else
        _mm256_mask_storeu_epi16(p, m_first(n), _mm512_cvtepi32_epi16(a));
}

/* ---- pairs of bf16 (body/bf16.h) ---- */
#define VEC_BF16

#ifdef __AVX512BF16__
VEC v16 v_pair_neighbors(v16 first, v16 second)
{
    return _mm512_castsi512_ps((__m512i)_mm512_cvtne2ps_pbh(second, first));
}

VEC v16 v_pair(v16 even, v16 odd)
{
    const __m512i turns = _mm512_set_epi32(0x1f000f, 0x1e000e, 0x1d000d, 0x1c000c, 0x1b000b, 0x1a000a, 0x190009, 0x180008,
                                           0x170007, 0x160006, 0x150005, 0x140004, 0x130003, 0x120002, 0x110001, 0x100000);
    const __m512i apart = _mm512_castps_si512(v_pair_neighbors(even, odd));
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(turns, apart)); /* its 16-bit words i and 16 + i side by side */
}

VEC v16 v_dot(v16 a, v16 b, v16 sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_castps_si512(a), (__m512bh)_mm512_castps_si512(b));
}
#else
/* Rounded to the upper 16 bits; the lower 16 bits are garbage. */
VEC __m512i bf16_round(v16 a)
{
    const __m512i bits = _mm512_castps_si512(a), one = _mm512_set1_epi32(1);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
    __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
}

VEC v16 v_pair(v16 even, v16 odd)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    __m512i low = _mm512_srli_epi32(bf16_round(even), 16), high = _mm512_and_si512(bf16_round(odd), upper);
    return _mm512_castsi512_ps(_mm512_or_si512(low, high));
}

VEC v16 v_pair_neighbors(v16 first, v16 second)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return v_pair(_mm512_permutex2var_ps(first, even, second), _mm512_permutex2var_ps(first, odd, second));
}

VEC v16 v_dot(v16 a, v16 b, v16 sum)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000), x = _mm512_castps_si512(a), y = _mm512_castps_si512(b);
    sum = v_fma(_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)), _mm512_castsi512_ps(_mm512_slli_epi32(y, 16)), sum);
    return v_fma(_mm512_castsi512_ps(_mm512_and_si512(x, upper)), _mm512_castsi512_ps(_mm512_and_si512(y, upper)), sum);
}
#endif

/* ---- bytes of quantized weights (body/quant_lanes.h) ---- */
#define VEC_V16I
typedef __m512i v16i;

VEC v16i i_load(const float *p) { return _mm512_castps_si512(_mm512_loadu_ps(p)); }
VEC v16i i_broadcast(const float *p) { return _mm512_castps_si512(_mm512_set1_ps(*p)); }
VEC v16 v_of_i(v16i a) { return _mm512_cvtepi32_ps(a); }
VEC v16 v_widen_f16(const float *p, const int high)
{
    const v16i pairs = high ? _mm512_srli_epi32(i_load(p), 16) : i_load(p);
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs));
}

/* The numbers of bf16 in the low or high half of each of 16 numbers. */
VEC v16 v_widen_bf16(const float *p, const int high)
{
    const v16i pairs = i_load(p);
    return _mm512_castsi512_ps(high ? _mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000)) : _mm512_slli_epi32(pairs, 16));
}

VEC v16i i_zero(void) { return _mm512_setzero_si512(); }
VEC v16i i_bits(v16i a, int from, uint32_t mask)
{
    const v16i moved = from < 0 ? _mm512_slli_epi32(a, (unsigned)-from) : _mm512_srli_epi32(a, (unsigned)from);
    return _mm512_and_si512(moved, _mm512_set1_epi32((int)mask));
}

VEC v16i i_or(v16i a, v16i b) { return _mm512_or_si512(a, b); }

#ifdef __AVX512VNNI__
VEC v16i i_start(const float *p) { return i_broadcast(p); }
VEC v16i i_dot(v16i w, v16i a, v16i sum) { return _mm512_dpbusd_epi32(sum, w, a); }
VEC v16i i_dot_small(v16i w, v16i a, v16i sum) { return _mm512_dpbusd_epi32(sum, w, a); }
#else
VEC v16i i_start(const float *p)
{
    (void)p;
    return i_zero();
}

/* Two products of at most 128 * 127 fit into 16 bits, so nothing saturates. */
VEC v16i i_dot_small(v16i w, v16i a, v16i sum)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(w, a), _mm512_set1_epi16(1)));
}

/* Sums of 16 bits, two in each lane (body/quant_body.h). */
#define VEC_PAIRS
typedef v16i v_pairs;
VEC v_pairs i_pairs(v16i w, v16i a) { return _mm512_maddubs_epi16(w, a); }
VEC v_pairs i_pairs_add(v16i w, v16i a, v_pairs sum) { return _mm512_add_epi16(sum, _mm512_maddubs_epi16(w, a)); }
VEC v16i i_of_pairs(v_pairs pairs, v16i sum)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}

VEC v16i i_dot(v16i w, v16i a, v16i sum)
{
    const v16i x = _mm512_xor_si512(w, _mm512_set1_epi8((char)0x80));
    return i_dot_small(_mm512_abs_epi8(x), _mm512_mask_sub_epi8(a, _mm512_movepi8_mask(x), i_zero(), a), sum);
}
#endif

#endif
