/* kernels/arm/vec_neon.h: the vector primitives with NEON of AArch64, 16 lanes in four registers. For the bodies.
 * Not the meaning of the primitives: that is in vec_portable.h. */
#ifndef KERNELS_ARM_VEC_NEON_H
#define KERNELS_ARM_VEC_NEON_H

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "kernels/vec.h"
#include "kernels/vec_inline.h"

typedef struct v16 { float32x4_t part[4]; } v16; /* lanes 0-3, 4-7, 8-11, 12-15 */
typedef struct m16 { uint32x4_t part[4]; } m16;  /* all bits of a lane are its truth */
typedef struct w16 { uint32x4_t part[4]; } w16;
typedef struct q16 { uint32x4_t low[4], high[4]; } q16; /* the halves of the 64 bits apart */

#define EACH_PART(i) \
    UNROLL           \
    for (int i = 0; i < 4; i++)

/* ---- truths ---- */
VEC m16 m_first(size_t n)
{
    const uint32x4_t lane = {0, 1, 2, 3}, count = vdupq_n_u32((uint32_t)n);
    m16 r;
    EACH_PART(i) r.part[i] = vcltq_u32(vaddq_u32(lane, vdupq_n_u32(4 * (uint32_t)i)), count);
    return r;
}

/* Loads n < 16 bytes without touching more: the last byte first, then 2, 4 and 8 bytes, each in front of what is loaded. */
VEC uint8x16_t bytes_load_n(const uint8_t *p, size_t n)
{
    uint8x16_t r = vdupq_n_u8(0);
    uint16_t two;
    uint32_t four;
    if (n & 1)
        r = vsetq_lane_u8(p[n - 1], r, 0);
    if (n & 2) {
        memcpy(&two, p + (n & 12), sizeof two);
        r = vextq_u8(vreinterpretq_u8_u16(vdupq_n_u16(two)), r, 14);
    }
    if (n & 4) {
        memcpy(&four, p + (n & 8), sizeof four);
        r = vextq_u8(vreinterpretq_u8_u32(vdupq_n_u32(four)), r, 12);
    }
    return n & 8 ? vcombine_u8(vld1_u8(p), vget_low_u8(r)) : r;
}

VEC m16 m_load_n(const uint8_t *keep, size_t n)
{
    uint8x16_t bytes = n == 16 ? vld1q_u8(keep) : bytes_load_n(keep, n);
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    m16 r = {{vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low), vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)}};
    EACH_PART(i) r.part[i] = vtstq_u32(r.part[i], r.part[i]);
    return r;
}

VEC unsigned m_bits(m16 m)
{
    const int32x4_t lane = {0, 1, 2, 3};
    uint32x4_t bits = vdupq_n_u32(0);
    EACH_PART(i)
    {
        uint32x4_t own = vshlq_u32(vdupq_n_u32(1), vaddq_s32(lane, vdupq_n_s32(4 * i)));
        bits = vorrq_u32(bits, vandq_u32(m.part[i], own));
    }
    return vaddvq_u32(bits);
}

/* ---- memory ---- */
VEC v16 v_set1(float x)
{
    float32x4_t v = vdupq_n_f32(x);
    return (v16){{v, v, v, v}};
}

VEC v16 v_zero(void) { return v_set1(0); }

VEC v16 v_load(const float *p)
{
    return (v16){{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
}

VEC void v_store(float *p, v16 a)
{
    EACH_PART(i) vst1q_f32(p + 4 * i, a.part[i]);
}

/* As bytes_load_n: the last number first. */
VEC v16 v_load_n(const float *p, size_t n)
{
    if (n == 16)
        return v_load(p);
    v16 r = v_zero();
    if (n & 1)
        r.part[0] = vld1q_lane_f32(p + n - 1, r.part[0], 0);
    if (n & 2)
        r.part[0] = vcombine_f32(vld1_f32(p + (n & 12)), vget_low_f32(r.part[0]));
    if (n & 4) {
        r.part[1] = r.part[0];
        r.part[0] = vld1q_f32(p + (n & 8));
    }
    if (n & 8)
        r = (v16){{vld1q_f32(p), vld1q_f32(p + 4), r.part[0], r.part[1]}};
    return r;
}

VEC void v_store_n(float *p, v16 a, size_t n)
{
    if (n == 16) {
        v_store(p, a);
        return;
    }
    if (n & 8) {
        vst1q_f32(p, a.part[0]);
        vst1q_f32(p + 4, a.part[1]);
        a.part[0] = a.part[2];
        a.part[1] = a.part[3];
        p += 8;
    }
    if (n & 4) {
        vst1q_f32(p, a.part[0]);
        a.part[0] = a.part[1];
        p += 4;
    }
    float32x2_t rest = vget_low_f32(a.part[0]);
    if (n & 2) {
        vst1_f32(p, rest);
        rest = vget_high_f32(a.part[0]);
        p += 2;
    }
    if (n & 1)
        vst1_lane_f32(p, rest, 0);
}

VEC v16 v_broadcast(const float *p, const int uses)
{
    (void)uses;
    float32x4_t v = vld1q_dup_f32(p);
    return (v16){{v, v, v, v}};
}

/* ---- arithmetic ---- */
/* Not vmaxq_f32, which has its own order of zeros and NaN. */
VEC float32x4_t max4(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }

#define PARTWISE(name, word)                                 \
    VEC v16 name(v16 a, v16 b)                               \
    {                                                        \
        EACH_PART(i) a.part[i] = word(a.part[i], b.part[i]); \
        return a;                                            \
    }
PARTWISE(v_add, vaddq_f32)
PARTWISE(v_sub, vsubq_f32)
PARTWISE(v_mul, vmulq_f32)
PARTWISE(v_div, vdivq_f32)
PARTWISE(v_max, max4)
#undef PARTWISE

VEC v16 v_sqrt(v16 a)
{
    EACH_PART(i) a.part[i] = vsqrtq_f32(a.part[i]);
    return a;
}

VEC v16 v_fma(v16 a, v16 b, v16 c)
{
    EACH_PART(i) c.part[i] = vfmaq_f32(c.part[i], a.part[i], b.part[i]);
    return c;
}

VEC v16 v_fnma(v16 a, v16 b, v16 c)
{
    EACH_PART(i) c.part[i] = vfmsq_f32(c.part[i], a.part[i], b.part[i]);
    return c;
}

VEC float s_from_size(size_t n) { return (float)n; }
VEC float s_sqrt(float x) { return vget_lane_f32(vsqrt_f32(vdup_n_f32(x)), 0); }

/* ---- across lanes ---- */
VEC float v_sum(v16 a)
{
    float32x4_t four = vaddq_f32(vaddq_f32(a.part[0], a.part[2]), vaddq_f32(a.part[1], a.part[3]));
    return vpadds_f32(vadd_f32(vget_low_f32(four), vget_high_f32(four)));
}

VEC float v_hmax(v16 a)
{
    float32x4_t four = max4(max4(a.part[0], a.part[2]), max4(a.part[1], a.part[3]));
    float32x4_t two = max4(four, vextq_f32(four, four, 2));
    return vgetq_lane_f32(max4(two, vextq_f32(two, two, 1)), 0);
}

VEC void transpose4(float32x4_t r[4])
{
    float64x2_t even[2], odd[2]; /* columns 0 and 2, 1 and 3, of two rows each */
    UNROLL
    for (int i = 0; i < 2; i++) {
        even[i] = vreinterpretq_f64_f32(vtrn1q_f32(r[2 * i], r[2 * i + 1]));
        odd[i] = vreinterpretq_f64_f32(vtrn2q_f32(r[2 * i], r[2 * i + 1]));
    }
    r[0] = vreinterpretq_f32_f64(vtrn1q_f64(even[0], even[1]));
    r[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd[0], odd[1]));
    r[2] = vreinterpretq_f32_f64(vtrn2q_f64(even[0], even[1]));
    r[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd[0], odd[1]));
}

/* Sixteen blocks of 4 x 4; the one at (i, j) goes to (j, i). */
VEC void v_transpose(v16 r[16])
{
    v16 s[16];
    EACH_PART(i)
    EACH_PART(j)
    {
        float32x4_t block[4];
        EACH_PART(k) block[k] = r[4 * i + k].part[j];
        transpose4(block);
        EACH_PART(k) s[4 * j + k].part[i] = block[k];
    }
    UNROLL
    for (int i = 0; i < 16; i++)
        r[i] = s[i];
}

/* ---- comparisons ---- */
#define COMPARISON(name, word)                               \
    VEC m16 name(v16 a, v16 b)                               \
    {                                                        \
        m16 r;                                               \
        EACH_PART(i) r.part[i] = word(a.part[i], b.part[i]); \
        return r;                                            \
    }
COMPARISON(m_gt, vcgtq_f32)
COMPARISON(m_ge, vcgeq_f32)
COMPARISON(m_eq, vceqq_f32)
#undef COMPARISON

VEC v16 v_select(m16 m, v16 a, v16 b)
{
    EACH_PART(i) a.part[i] = vbslq_f32(m.part[i], a.part[i], b.part[i]);
    return a;
}

VEC v16 v_first(size_t n, v16 a, v16 b) { return n == 16 ? a : v_select(m_first(n), a, b); }

/* ---- words ---- */
VEC v16 v_shift_exponent(v16 a, v16 t)
{
    EACH_PART(i)
    {
        uint32x4_t k = vshlq_n_u32(vreinterpretq_u32_f32(t.part[i]), 23);
        a.part[i] = vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a.part[i]), k));
    }
    return a;
}

VEC q16 q_set1(uint64_t x)
{
    uint32x4_t low = vdupq_n_u32((uint32_t)x), high = vdupq_n_u32((uint32_t)(x >> 32));
    return (q16){{low, low, low, low}, {high, high, high, high}};
}

VEC q16 q_iota(uint32_t start)
{
    const uint32x4_t lane = {0, 1, 2, 3};
    q16 r = q_set1(0);
    EACH_PART(i) r.low[i] = vaddq_u32(lane, vdupq_n_u32(start + 4 * (uint32_t)i));
    return r;
}

VEC q16 q_mul(q16 a, q16 b)
{
    EACH_PART(i)
    {
        uint32x4_t first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(a.low[i]), vget_low_u32(b.low[i])));
        uint32x4_t last = vreinterpretq_u32_u64(vmull_high_u32(a.low[i], b.low[i]));
        a.low[i] = vuzp1q_u32(first, last);
        a.high[i] = vuzp2q_u32(first, last);
    }
    return a;
}

VEC q16 q_high(q16 a)
{
    EACH_PART(i) a.low[i] = a.high[i];
    return a;
}

VEC q16 q_xor3(q16 a, q16 b, q16 c)
{
    EACH_PART(i) a.low[i] = veorq_u32(veorq_u32(a.low[i], b.low[i]), c.low[i]);
    return a;
}

VEC w16 w_from_q(q16 a) { return (w16){{a.low[0], a.low[1], a.low[2], a.low[3]}}; }

VEC m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    const uint32x4_t least = vdupq_n_u32(threshold);
    m16 r;
    EACH_PART(i)
    {
        uint32x4_t bits = half ? vshrq_n_u32(a.part[i], 16) : vandq_u32(a.part[i], vdupq_n_u32(0xffff));
        r.part[i] = vcgeq_u32(bits, least);
    }
    return r;
}

/* ---- pairs of bf16; without instructions for them, which few of these processors have ---- */
#define VEC_BF16

/* Rounded to the upper 16 bits; the lower 16 bits are garbage. */
VEC uint32x4_t bf16_round(float32x4_t a)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(a), quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t up = vaddq_u32(vaddq_u32(bits, odd), vdupq_n_u32(0x7fff));
    return vbslq_u32(vceqq_f32(a, a), up, quiet);
}

/* The upper half of `odd`, followed by the upper half of `even`. */
VEC float32x4_t bf16_join(uint32x4_t even, uint32x4_t odd) { return vreinterpretq_f32_u32(vsriq_n_u32(odd, even, 16)); }

VEC v16 v_pair(v16 even, v16 odd)
{
    EACH_PART(i) even.part[i] = bf16_join(bf16_round(even.part[i]), bf16_round(odd.part[i]));
    return even;
}

VEC v16 v_pair_neighbors(v16 first, v16 second)
{
    v16 even, odd;
    UNROLL
    for (int i = 0; i < 2; i++) {
        even.part[i] = vuzp1q_f32(first.part[2 * i], first.part[2 * i + 1]);
        odd.part[i] = vuzp2q_f32(first.part[2 * i], first.part[2 * i + 1]);
        even.part[i + 2] = vuzp1q_f32(second.part[2 * i], second.part[2 * i + 1]);
        odd.part[i + 2] = vuzp2q_f32(second.part[2 * i], second.part[2 * i + 1]);
    }
    return v_pair(even, odd);
}

VEC float32x4_t bf16_low(float32x4_t a) { return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 16)); }

VEC float32x4_t bf16_high(float32x4_t a)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(0xffff0000)));
}

VEC v16 v_dot(v16 a, v16 b, v16 sum)
{
    EACH_PART(i)
    {
        float32x4_t low = vfmaq_f32(sum.part[i], bf16_low(a.part[i]), bf16_low(b.part[i]));
        sum.part[i] = vfmaq_f32(low, bf16_high(a.part[i]), bf16_high(b.part[i]));
    }
    return sum;
}

/* ---- bytes of quantized weights (body/quant_lanes.h); with the dot product if there is one ---- */
#define VEC_V16I
typedef struct v16i { int32x4_t part[4]; } v16i;

VEC v16i i_load(const float *p)
{
    v16i r;
    EACH_PART(i) r.part[i] = vreinterpretq_s32_f32(vld1q_f32(p + 4 * i));
    return r;
}

VEC v16i i_broadcast(const float *p)
{
    const int32x4_t x = vreinterpretq_s32_f32(vld1q_dup_f32(p));
    return (v16i){{x, x, x, x}};
}

VEC v16i i_zero(void)
{
    const int32x4_t zero = vdupq_n_s32(0);
    return (v16i){{zero, zero, zero, zero}};
}

VEC v16i i_bits(v16i a, int from, uint32_t mask)
{
    EACH_PART(i)
    {
        const uint32x4_t moved = vshlq_u32(vreinterpretq_u32_s32(a.part[i]), vdupq_n_s32(-from));
        a.part[i] = vreinterpretq_s32_u32(vandq_u32(moved, vdupq_n_u32(mask)));
    }
    return a;
}

VEC v16i i_or(v16i a, v16i b)
{
    EACH_PART(i) a.part[i] = vorrq_s32(a.part[i], b.part[i]);
    return a;
}

VEC v16i i_start(const float *p)
{
    (void)p;
    return i_zero();
}

/* sum + 16 products of signed bytes, four to each lane. */
VEC int32x4_t i4_dot(int8x16_t x, int8x16_t y, int32x4_t sum)
{
#ifdef __ARM_FEATURE_DOTPROD
    return vdotq_s32(sum, x, y);
#else
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(x, y));
    return vaddq_s32(sum, vpaddq_s32(low, high));
#endif
}

VEC v16i i_dot_small(v16i w, v16i a, v16i sum)
{
    EACH_PART(i)
        sum.part[i] = i4_dot(vreinterpretq_s8_s32(w.part[i]), vreinterpretq_s8_s32(a.part[i]), sum.part[i]);
    return sum;
}

VEC v16i i_dot(v16i w, v16i a, v16i sum)
{
    EACH_PART(i) w.part[i] = veorq_s32(w.part[i], vdupq_n_s32((int)0x80808080));
    return i_dot_small(w, a, sum);
}

VEC v16 v_of_i(v16i a)
{
    v16 r;
    EACH_PART(i) r.part[i] = vcvtq_f32_s32(a.part[i]);
    return r;
}

VEC v16 v_widen_bf16(const float *p, const int high)
{
    v16 r;
    EACH_PART(i)
    {
        const float32x4_t pairs = vld1q_f32(p + 4 * i);
        r.part[i] = high ? bf16_high(pairs) : bf16_low(pairs);
    }
    return r;
}

VEC v16 v_widen_f16(const float *p, const int high)
{
    v16 r;
    EACH_PART(i)
    {
        const uint32x4_t pairs = vreinterpretq_u32_f32(vld1q_f32(p + 4 * i));
        r.part[i] = vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32(high ? vshrq_n_u32(pairs, 16) : pairs)));
    }
    return r;
}

#include "kernels/arm/vec_neon_words.h"

#undef EACH_PART

#endif
