/* kernels/x86/vec_avx2.h: the vector primitives with AVX2 and FMA, 16 lanes in two registers. For the bodies.
 * Not the meaning of the primitives: that is in vec_portable.h. */
#ifndef KERNELS_X86_VEC_AVX2_H
#define KERNELS_X86_VEC_AVX2_H

#include "kernels/x86/vec_x86.h"

typedef struct v16 { __m256 lo, hi; } v16;
typedef struct m16 { __m256 lo, hi; } m16; /* in each lane all bits are set, or no bit is */
typedef struct w16 { __m256i lo, hi; } w16;
typedef struct q16 { __m256i part[4]; } q16; /* words 0 2 4 6, 1 3 5 7, 8 10 12 14, 9 11 13 15 */

/* ---- masks ---- */
VEC m16 m_first(size_t n)
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), count = _mm256_set1_epi32((int)n);
    return (
        m16){_mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lane)),
             _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, _mm256_add_epi32(lane, _mm256_set1_epi32(8))))};
}

/* Loads n <= 16 bytes without touching more, in few steps: two loads of 8, 4 or 1 bytes, which overlap if n is odd. */
VEC __m128i bytes_load_n(const uint8_t *p, size_t n)
{
    uint64_t low = 0, high = 0;
    if (n == 16)
        return _mm_loadu_si128((const __m128i *)(const void *)p);
    if (n > 8) {
        memcpy(&low, p, 8);
        memcpy(&high, p + n - 8, 8);
        high >>= 8 * (16 - n);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else if (n > 0) {
        low = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

VEC m16 m_load_n(const uint8_t *keep, size_t n)
{
    __m128i bytes = bytes_load_n(keep, n);
    __m256i lo = _mm256_cvtepu8_epi32(bytes), hi = _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8));
    return (m16){_mm256_castsi256_ps(_mm256_cmpgt_epi32(lo, _mm256_setzero_si256())),
                 _mm256_castsi256_ps(_mm256_cmpgt_epi32(hi, _mm256_setzero_si256()))};
}

VEC unsigned m_bits(m16 m)
{
    return (unsigned)_mm256_movemask_ps(m.lo) | (unsigned)_mm256_movemask_ps(m.hi) << 8;
}

/* ---- memory ---- */
VEC v16 v_load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }

VEC void v_store(float *p, v16 a)
{
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}

VEC v16 v_load_n(const float *p, size_t n)
{
    if (n == 16)
        return v_load(p);
    m16 m = m_first(n);
    if (n <= 8)
        return (v16){_mm256_maskload_ps(p, _mm256_castps_si256(m.lo)), _mm256_setzero_ps()};
    return (v16){_mm256_loadu_ps(p), _mm256_maskload_ps(p + 8, _mm256_castps_si256(m.hi))};
}

/* Masked stores take dozens of cycles on AMD's cores; halves do not. */
VEC void v_store_n(float *p, v16 a, size_t n)
{
    if (n == 16) {
        v_store(p, a);
        return;
    }
    if (n & 8) {
        _mm256_storeu_ps(p, a.lo);
        a.lo = a.hi;
        p += 8;
    }
    __m128 rest = _mm256_castps256_ps128(a.lo);
    if (n & 4) {
        _mm_storeu_ps(p, rest);
        rest = _mm256_extractf128_ps(a.lo, 1);
        p += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)(void *)p, rest);
        rest = _mm_movehl_ps(rest, rest);
        p += 2;
    }
    if (n & 1)
        _mm_store_ss(p, rest);
}

VEC v16 v_set1(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
VEC v16 v_zero(void) { return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()}; }

/* The empty asm keeps the broadcast in a register: clang would load it again for the second half. */
VEC v16 v_broadcast(const float *p, const int uses)
{
    (void)uses;
    __m256 x = _mm256_broadcast_ss(p);
    __asm__("" : "+x"(x));
    return (v16){x, x};
}

/* ---- arithmetic ---- */
VEC v16 v_add(v16 a, v16 b) { return (v16){_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
VEC v16 v_sub(v16 a, v16 b) { return (v16){_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
VEC v16 v_mul(v16 a, v16 b) { return (v16){_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
VEC v16 v_div(v16 a, v16 b) { return (v16){_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
VEC v16 v_max(v16 a, v16 b) { return (v16){_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
VEC v16 v_sqrt(v16 a) { return (v16){_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }

VEC v16 v_fma(v16 a, v16 b, v16 c)
{
    return (v16){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

VEC v16 v_fnma(v16 a, v16 b, v16 c)
{
    return (v16){_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}

VEC float v_sum(v16 a) { return x86_sum8(_mm256_add_ps(a.lo, a.hi)); }
VEC float v_hmax(v16 a) { return x86_max8(_mm256_max_ps(a.lo, a.hi)); }

VEC m16 m_gt(v16 a, v16 b)
{
    return (m16){_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ)};
}

VEC m16 m_ge(v16 a, v16 b)
{
    return (m16){_mm256_cmp_ps(a.lo, b.lo, _CMP_GE_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GE_OQ)};
}

VEC m16 m_eq(v16 a, v16 b)
{
    return (m16){_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ)};
}

VEC v16 v_select(m16 m, v16 a, v16 b)
{
    return (v16){_mm256_blendv_ps(b.lo, a.lo, m.lo), _mm256_blendv_ps(b.hi, a.hi, m.hi)};
}

VEC v16 v_first(size_t n, v16 a, v16 b) { return n == 16 ? a : v_select(m_first(n), a, b); }

/* ---- transpose: four blocks of 8 x 8, the off-diagonal ones exchanged ---- */
VEC void transpose8(__m256 r[8])
{
    __m256 s[8];
    UNROLL
    for (int i = 0; i < 4; i++) {
        s[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    UNROLL
    for (int i = 0; i < 2; i++) {
        r[4 * i] = _mm256_shuffle_ps(s[4 * i], s[4 * i + 2], 0x44);
        r[4 * i + 1] = _mm256_shuffle_ps(s[4 * i], s[4 * i + 2], 0xee);
        r[4 * i + 2] = _mm256_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0x44);
        r[4 * i + 3] = _mm256_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0xee);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        s[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        s[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    UNROLL
    for (int i = 0; i < 8; i++)
        r[i] = s[i];
}

VEC void v_transpose(v16 r[16])
{
    __m256 block[4][8];
    UNROLL
    for (int i = 0; i < 8; i++) {
        block[0][i] = r[i].lo;
        block[1][i] = r[i].hi;
        block[2][i] = r[i + 8].lo;
        block[3][i] = r[i + 8].hi;
    }
    UNROLL
    for (int i = 0; i < 4; i++)
        transpose8(block[i]);
    UNROLL
    for (int i = 0; i < 8; i++) {
        r[i] = (v16){block[0][i], block[2][i]};
        r[i + 8] = (v16){block[1][i], block[3][i]};
    }
}

/* ---- words ---- */
VEC __m256 shift_exponent8(__m256 a, __m256 t)
{
    __m256i k = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), k));
}

VEC v16 v_shift_exponent(v16 a, v16 t)
{
    return (v16){shift_exponent8(a.lo, t.lo), shift_exponent8(a.hi, t.hi)};
}

#define EACH_PART(i) \
    UNROLL           \
    for (int i = 0; i < 4; i++)

VEC q16 q_set1(uint64_t x)
{
    __m256i v = _mm256_set1_epi64x((long long)x);
    return (q16){{v, v, v, v}};
}

VEC q16 q_iota(uint32_t start)
{
    const int first[4] = {0, 1, 8, 9};
    const __m256i lane = _mm256_set_epi64x(6, 4, 2, 0);
    q16 r;
    EACH_PART(i) r.part[i] = _mm256_add_epi32(lane, _mm256_set1_epi32((int)(start + (uint32_t)first[i])));
    return r;
}

VEC q16 q_mul(q16 a, q16 b)
{
    EACH_PART(i) a.part[i] = _mm256_mul_epu32(a.part[i], b.part[i]);
    return a;
}

VEC q16 q_high(q16 a)
{
    EACH_PART(i) a.part[i] = _mm256_srli_epi64(a.part[i], 32);
    return a;
}

VEC q16 q_xor3(q16 a, q16 b, q16 c)
{
    EACH_PART(i) a.part[i] = _mm256_xor_si256(_mm256_xor_si256(a.part[i], b.part[i]), c.part[i]);
    return a;
}

VEC w16 w_from_q(q16 a)
{
    return (w16){_mm256_blend_epi32(a.part[0], _mm256_slli_epi64(a.part[1], 32), 0xaa),
                 _mm256_blend_epi32(a.part[2], _mm256_slli_epi64(a.part[3], 32), 0xaa)};
}

/* The half-words and the threshold fit a signed word. */
VEC __m256 half_ge8(__m256i a, int half, __m256i threshold)
{
    __m256i bits = half ? _mm256_srli_epi32(a, 16) : _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(bits, _mm256_sub_epi32(threshold, _mm256_set1_epi32(1))));
}

VEC m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    const __m256i t = _mm256_set1_epi32((int)threshold);
    return (m16){half_ge8(a.lo, half, t), half_ge8(a.hi, half, t)};
}

#undef EACH_PART

/* ---- stored formats ---- */
VEC w16 w_of_v(v16 a) { return (w16){_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
VEC v16 v_of_w(w16 a) { return (v16){_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
VEC w16 w_set1(uint32_t x) { return (w16){_mm256_set1_epi32((int)x), _mm256_set1_epi32((int)x)}; }

VEC w16 w_load(const uint32_t *p)
{
    return (w16){_mm256_loadu_si256((const __m256i *)(const void *)p),
                 _mm256_loadu_si256((const __m256i *)(const void *)(p + 8))};
}

VEC w16 w_add(w16 a, w16 b) { return (w16){_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
VEC w16 w_sub(w16 a, w16 b) { return (w16){_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
VEC w16 w_mul(w16 a, w16 b) { return (w16){_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)}; }
VEC w16 w_xor(w16 a, w16 b) { return (w16){_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)}; }
VEC w16 w_and(w16 a, w16 b) { return (w16){_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
VEC w16 w_or(w16 a, w16 b) { return (w16){_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
VEC w16 w_min(w16 a, w16 b) { return (w16){_mm256_min_epu32(a.lo, b.lo), _mm256_min_epu32(a.hi, b.hi)}; }
VEC w16 w_max(w16 a, w16 b) { return (w16){_mm256_max_epu32(a.lo, b.lo), _mm256_max_epu32(a.hi, b.hi)}; }
VEC w16 w_left(w16 a, const int bits) { return (w16){_mm256_slli_epi32(a.lo, bits), _mm256_slli_epi32(a.hi, bits)}; }
VEC w16 w_right(w16 a, const int bits) { return (w16){_mm256_srli_epi32(a.lo, bits), _mm256_srli_epi32(a.hi, bits)}; }

VEC w16 w_where(w16 a, w16 b)
{
    const __m256i zero = _mm256_setzero_si256();
    return (w16){_mm256_andnot_si256(_mm256_cmpeq_epi32(a.lo, zero), b.lo),
                 _mm256_andnot_si256(_mm256_cmpeq_epi32(a.hi, zero), b.hi)};
}

VEC uint32_t w_hmax(w16 a)
{
    const __m256i eight = _mm256_max_epu32(a.lo, a.hi);
    __m128i r = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    r = _mm_max_epu32(r, _mm_srli_si128(r, 8));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(r, _mm_srli_si128(r, 4)));
}

VEC w16 w_load_bytes(const uint8_t *p, size_t n)
{
    const __m128i bytes = bytes_load_n(p, n);
    return (w16){_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}

/* 16 half-words in order. */
VEC __m256i w_halves(w16 a) { return _mm256_permute4x64_epi64(_mm256_packus_epi32(a.lo, a.hi), 0xd8); }

VEC void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    const __m256i halves = w_halves(a);
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    uint8_t all[16];
    if (n == 16) {
        _mm_storeu_si128((__m128i *)(void *)p, bytes);
        return;
    }
    _mm_storeu_si128((__m128i *)(void *)all, bytes);
    memcpy(p, all, n);
}

VEC w16 w_load_halves(const uint16_t *p, size_t n)
{
    uint16_t all[16] = {0};
    if (n < 16)
        p = memcpy(all, p, n * sizeof *p);
    return (w16){_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)),
                 _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)))};
}

VEC void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    uint16_t all[16];
    _mm256_storeu_si256((__m256i *)(void *)(n == 16 ? p : all), w_halves(a));
    if (n < 16)
        memcpy(p, all, n * sizeof *p);
}

/* ---- bytes of quantized weights (body/quant_lanes.h) ---- */
#define VEC_V16I
typedef struct v16i { __m256i lo, hi; } v16i;

VEC v16i i_load(const float *p)
{
    return (v16i){_mm256_castps_si256(_mm256_loadu_ps(p)), _mm256_castps_si256(_mm256_loadu_ps(p + 8))};
}

VEC v16i i_broadcast(const float *p)
{
    const __m256i x = _mm256_castps_si256(_mm256_broadcast_ss(p));
    return (v16i){x, x};
}

VEC v16i i_zero(void) { return (v16i){_mm256_setzero_si256(), _mm256_setzero_si256()}; }

VEC __m256i i8_bits(__m256i a, int from, uint32_t mask)
{
    const __m256i moved = from < 0 ? _mm256_slli_epi32(a, -from) : _mm256_srli_epi32(a, from);
    return _mm256_and_si256(moved, _mm256_set1_epi32((int)mask));
}

VEC v16i i_bits(v16i a, int from, uint32_t mask) { return (v16i){i8_bits(a.lo, from, mask), i8_bits(a.hi, from, mask)}; }
VEC v16i i_or(v16i a, v16i b) { return (v16i){_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }

#ifdef __AVXVNNI__
VEC v16i i_start(const float *p) { return i_broadcast(p); }
VEC __m256i i8_dot_small(__m256i w, __m256i a, __m256i sum) { return _mm256_dpbusd_avx_epi32(sum, w, a); }
VEC __m256i i8_dot(__m256i w, __m256i a, __m256i sum) { return _mm256_dpbusd_avx_epi32(sum, w, a); }
#else
VEC v16i i_start(const float *p)
{
    (void)p;
    return i_zero();
}

/* Two products of at most 128 * 127 fit into 16 bits, so nothing saturates. */
VEC __m256i i8_dot_small(__m256i w, __m256i a, __m256i sum)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, a), _mm256_set1_epi16(1)));
}

/* Sums of 16 bits, two in each lane (body/quant_body.h). */
#define VEC_PAIRS
typedef v16i v_pairs;
VEC v_pairs i_pairs(v16i w, v16i a) { return (v16i){_mm256_maddubs_epi16(w.lo, a.lo), _mm256_maddubs_epi16(w.hi, a.hi)}; }
VEC v_pairs i_pairs_add(v16i w, v16i a, v_pairs sum)
{
    return (v16i){_mm256_add_epi16(sum.lo, _mm256_maddubs_epi16(w.lo, a.lo)),
                  _mm256_add_epi16(sum.hi, _mm256_maddubs_epi16(w.hi, a.hi))};
}

VEC v16i i_of_pairs(v_pairs pairs, v16i sum)
{
    const __m256i ones = _mm256_set1_epi16(1);
    return (v16i){_mm256_add_epi32(sum.lo, _mm256_madd_epi16(pairs.lo, ones)),
                  _mm256_add_epi32(sum.hi, _mm256_madd_epi16(pairs.hi, ones))};
}

VEC __m256i i8_dot(__m256i w, __m256i a, __m256i sum)
{
    const __m256i x = _mm256_xor_si256(w, _mm256_set1_epi8((char)0x80));
    return i8_dot_small(_mm256_abs_epi8(x), _mm256_sign_epi8(a, x), sum);
}
#endif

VEC v16i i_dot(v16i w, v16i a, v16i sum) { return (v16i){i8_dot(w.lo, a.lo, sum.lo), i8_dot(w.hi, a.hi, sum.hi)}; }
VEC v16i i_dot_small(v16i w, v16i a, v16i sum)
{
    return (v16i){i8_dot_small(w.lo, a.lo, sum.lo), i8_dot_small(w.hi, a.hi, sum.hi)};
}

VEC v16 v_of_i(v16i a) { return (v16){_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }

VEC __m256 v8_widen_bf16(__m256i pairs, const int high)
{
    return _mm256_castsi256_ps(high ? _mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000)) : _mm256_slli_epi32(pairs, 16));
}

VEC v16 v_widen_bf16(const float *p, const int high)
{
    const v16i pairs = i_load(p);
    return (v16){v8_widen_bf16(pairs.lo, high), v8_widen_bf16(pairs.hi, high)};
}

VEC v16 v_widen_f16(const float *p, const int high)
{
    const v16i pairs = i_load(p);
    const __m256i keep = _mm256_set1_epi32(0xffff);
    const __m256i lo = high ? _mm256_srli_epi32(pairs.lo, 16) : _mm256_and_si256(pairs.lo, keep);
    const __m256i hi = high ? _mm256_srli_epi32(pairs.hi, 16) : _mm256_and_si256(pairs.hi, keep);
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(lo, hi), 0xd8);
    return (v16){_mm256_cvtph_ps(_mm256_castsi256_si128(both)), _mm256_cvtph_ps(_mm256_extracti128_si256(both, 1))};
}

#endif
