/* kernels/wasm/vec_wasm.h: the vector primitives with the 128-bit SIMD of WebAssembly, 16 lanes in four vectors. For the bodies.
 * Fused multiply-adds are instructions where the compiler may use relaxed SIMD, and else made of doubles (kernels/fused.h). Not
 * the meaning of the primitives: that is in vec_portable.h. */
#ifndef KERNELS_WASM_VEC_WASM_H
#define KERNELS_WASM_VEC_WASM_H

#include <math.h>
#include <string.h>
#include <wasm_simd128.h>

#include "kernels/vec.h"
#include "kernels/vec_inline.h"
#ifndef __wasm_relaxed_simd__
#include "kernels/fused.h"
#endif

typedef struct v16 { v128_t part[4]; } v16; /* lanes 0-3, 4-7, 8-11, 12-15 */
typedef struct m16 { v128_t part[4]; } m16; /* all bits of a lane are its truth */
typedef struct w16 { v128_t part[4]; } w16;
typedef struct q16 { v128_t low[4], high[4]; } q16; /* the halves of the 64 bits apart */

#define EACH_PART(i) \
    UNROLL           \
    for (int i = 0; i < 4; i++)

#define PARTWISE(kind, name, expression)       \
    VEC kind name(kind a, kind b)              \
    {                                          \
        EACH_PART(i) a.part[i] = (expression); \
        return a;                              \
    }

/* ---- truths ---- */
VEC m16 m_first(size_t n)
{
    const v128_t lane = wasm_i32x4_const(0, 1, 2, 3), count = wasm_i32x4_splat((int32_t)n);
    m16 r;
    EACH_PART(i) r.part[i] = wasm_i32x4_lt(wasm_i32x4_add(lane, wasm_i32x4_splat(4 * i)), count);
    return r;
}

/* 16 bytes as words. */
VEC w16 w_widen_bytes(v128_t bytes)
{
    const v128_t low = wasm_u16x8_extend_low_u8x16(bytes), high = wasm_u16x8_extend_high_u8x16(bytes);
    return (w16){{wasm_u32x4_extend_low_u16x8(low), wasm_u32x4_extend_high_u16x8(low), wasm_u32x4_extend_low_u16x8(high),
                  wasm_u32x4_extend_high_u16x8(high)}};
}

VEC w16 w_load_bytes(const uint8_t *p, size_t n)
{
    uint8_t all[16] = {0};
    if (n < 16)
        p = memcpy(all, p, n);
    return w_widen_bytes(wasm_v128_load(p));
}

VEC m16 m_load_n(const uint8_t *keep, size_t n)
{
    const w16 bytes = w_load_bytes(keep, n);
    m16 r;
    EACH_PART(i) r.part[i] = wasm_i32x4_ne(bytes.part[i], wasm_i32x4_const(0, 0, 0, 0));
    return r;
}

VEC unsigned m_bits(m16 m)
{
    unsigned bits = 0;
    EACH_PART(i) bits |= (unsigned)wasm_i32x4_bitmask(m.part[i]) << 4 * i;
    return bits;
}

/* ---- memory ---- */
VEC v16 v_set1(float x)
{
    const v128_t v = wasm_f32x4_splat(x);
    return (v16){{v, v, v, v}};
}

VEC v16 v_zero(void) { return v_set1(0); }

VEC v16 v_load(const float *p)
{
    return (v16){{wasm_v128_load(p), wasm_v128_load(p + 4), wasm_v128_load(p + 8), wasm_v128_load(p + 12)}};
}

VEC void v_store(float *p, v16 a)
{
    EACH_PART(i) wasm_v128_store(p + 4 * i, a.part[i]);
}

/* The last number first, then 2, 4 and 8 numbers, each in front of what is loaded. */
VEC v16 v_load_n(const float *p, size_t n)
{
    if (n == 16)
        return v_load(p);
    v16 r = v_zero();
    if (n & 1)
        r.part[0] = wasm_v128_load32_zero(p + n - 1);
    if (n & 2)
        r.part[0] = wasm_i64x2_shuffle(wasm_v128_load64_zero(p + (n & 12)), r.part[0], 0, 2);
    if (n & 4) {
        r.part[1] = r.part[0];
        r.part[0] = wasm_v128_load(p + (n & 8));
    }
    if (n & 8)
        r = (v16){{wasm_v128_load(p), wasm_v128_load(p + 4), r.part[0], r.part[1]}};
    return r;
}

VEC void v_store_n(float *p, v16 a, size_t n)
{
    if (n == 16) {
        v_store(p, a);
        return;
    }
    if (n & 8) {
        wasm_v128_store(p, a.part[0]);
        wasm_v128_store(p + 4, a.part[1]);
        a.part[0] = a.part[2];
        a.part[1] = a.part[3];
        p += 8;
    }
    if (n & 4) {
        wasm_v128_store(p, a.part[0]);
        a.part[0] = a.part[1];
        p += 4;
    }
    if (n & 2) {
        wasm_v128_store64_lane(p, a.part[0], 0);
        a.part[0] = wasm_i64x2_shuffle(a.part[0], a.part[0], 1, 1);
        p += 2;
    }
    if (n & 1)
        wasm_v128_store32_lane(p, a.part[0], 0);
}

VEC v16 v_broadcast(const float *p, const int uses)
{
    (void)uses;
    const v128_t v = wasm_v128_load32_splat(p);
    return (v16){{v, v, v, v}};
}

/* ---- arithmetic ---- */
VEC v128_t max4(v128_t a, v128_t b) { return wasm_f32x4_pmax(b, a); } /* b < a ? a : b */
PARTWISE(v16, v_add, wasm_f32x4_add(a.part[i], b.part[i]))
PARTWISE(v16, v_sub, wasm_f32x4_sub(a.part[i], b.part[i]))
PARTWISE(v16, v_mul, wasm_f32x4_mul(a.part[i], b.part[i]))
PARTWISE(v16, v_div, wasm_f32x4_div(a.part[i], b.part[i]))
PARTWISE(v16, v_max, max4(a.part[i], b.part[i]))

VEC v16 v_sqrt(v16 a)
{
    EACH_PART(i) a.part[i] = wasm_f32x4_sqrt(a.part[i]);
    return a;
}

#ifdef __wasm_relaxed_simd__
/* Rounded once or twice: the engine decides (kernels_relaxed_is_fused). Clang 14 has the instruction by an older name. */
VEC v16 v_fma(v16 a, v16 b, v16 c)
{
#if __has_builtin(__builtin_wasm_relaxed_madd_f32x4)
    EACH_PART(i) c.part[i] = __builtin_wasm_relaxed_madd_f32x4(a.part[i], b.part[i], c.part[i]);
#else
    EACH_PART(i) c.part[i] = __builtin_wasm_fma_f32x4(a.part[i], b.part[i], c.part[i]);
#endif
    return c;
}
#else
VEC v128_t upper_half(v128_t a) { return wasm_i64x2_shuffle(a, a, 1, 1); }

/* As fused_part, of which the compiler makes sixteen conversions of single numbers. */
VEC v128_t fused_part_wasm(v128_t a, v128_t b, v128_t c, v128_t *rare)
{
    const v128_t low = wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(a), wasm_f64x2_promote_low_f32x4(b)),
                                      wasm_f64x2_promote_low_f32x4(c));
    const v128_t high = wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(upper_half(a)),
                                                      wasm_f64x2_promote_low_f32x4(upper_half(b))),
                                       wasm_f64x2_promote_low_f32x4(upper_half(c)));
    const v128_t r = wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 2);
    const v128_t last = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
    const v128_t half = wasm_i32x4_eq(wasm_i32x4_shl(last, 3), wasm_i32x4_splat(INT32_MIN));
    const v128_t small = wasm_i32x4_lt(wasm_i32x4_add(wasm_i32x4_shl(r, 1), wasm_i32x4_splat(INT32_MAX)),
                                       wasm_i32x4_splat(INT32_MIN + 0x01000000)); /* 0 < |r| <= FLT_MIN */
    *rare = wasm_v128_or(*rare, wasm_v128_or(half, small));
    return r;
}

/* A function of its own: inlined, it would make the module twice as large. */
static __attribute__((noinline)) v128_t fused_four(v128_t a, v128_t b, v128_t c)
{
    v128_t rare = wasm_i32x4_const(0, 0, 0, 0);
    const v128_t r = fused_part_wasm(a, b, c, &rare);
    if (__builtin_expect(!wasm_v128_any_true(rare), 1))
        return r;
    float x[4], y[4], z[4];
    wasm_v128_store(x, a);
    wasm_v128_store(y, b);
    wasm_v128_store(z, c);
    for (int i = 0; i < 4; i++)
        z[i] = fused_by_odd(x[i], y[i], z[i]);
    return wasm_v128_load(z);
}

VEC v16 v_fma(v16 a, v16 b, v16 c)
{
    EACH_PART(i) c.part[i] = fused_four(a.part[i], b.part[i], c.part[i]);
    return c;
}

/* For matrix products. */
#define GEMM_FMA v_fma_inline
VEC v16 v_fma_inline(v16 a, v16 b, v16 c)
{
    v16 r;
    v128_t rare = wasm_i32x4_const(0, 0, 0, 0);
    EACH_PART(i) r.part[i] = fused_part_wasm(a.part[i], b.part[i], c.part[i], &rare);
    if (__builtin_expect(wasm_v128_any_true(rare), 0)) {
        float x[16], y[16], z[16], odd[16];
        v_store(x, a);
        v_store(y, b);
        v_store(z, c);
        fused_rare(odd, x, y, z);
        return v_load(odd);
    }
    return r;
}
#endif

VEC v16 v_fnma(v16 a, v16 b, v16 c)
{
    EACH_PART(i) a.part[i] = wasm_f32x4_neg(a.part[i]);
    return v_fma(a, b, c);
}

VEC float s_from_size(size_t n) { return (float)n; }
VEC float s_sqrt(float x) { return __builtin_sqrtf(x); }

/* ---- across lanes ---- */
VEC float v_sum(v16 a)
{
    const v128_t four = wasm_f32x4_add(wasm_f32x4_add(a.part[0], a.part[2]), wasm_f32x4_add(a.part[1], a.part[3]));
    const v128_t two = wasm_f32x4_add(four, wasm_i64x2_shuffle(four, four, 1, 1));
    return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}

VEC float v_hmax(v16 a)
{
    const v128_t four = max4(max4(a.part[0], a.part[2]), max4(a.part[1], a.part[3]));
    const v128_t two = max4(four, wasm_i64x2_shuffle(four, four, 1, 1));
    return wasm_f32x4_extract_lane(max4(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1)), 0);
}

VEC void transpose4(v128_t r[4])
{
    const v128_t low0 = wasm_i32x4_shuffle(r[0], r[1], 0, 4, 1, 5), low1 = wasm_i32x4_shuffle(r[2], r[3], 0, 4, 1, 5);
    const v128_t high0 = wasm_i32x4_shuffle(r[0], r[1], 2, 6, 3, 7), high1 = wasm_i32x4_shuffle(r[2], r[3], 2, 6, 3, 7);
    r[0] = wasm_i64x2_shuffle(low0, low1, 0, 2);
    r[1] = wasm_i64x2_shuffle(low0, low1, 1, 3);
    r[2] = wasm_i64x2_shuffle(high0, high1, 0, 2);
    r[3] = wasm_i64x2_shuffle(high0, high1, 1, 3);
}

/* Sixteen blocks of 4 x 4; the one at (i, j) goes to (j, i). */
VEC void v_transpose(v16 r[16])
{
    v16 s[16];
    EACH_PART(i)
    EACH_PART(j)
    {
        v128_t block[4];
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
COMPARISON(m_gt, wasm_f32x4_gt)
COMPARISON(m_ge, wasm_f32x4_ge)
COMPARISON(m_eq, wasm_f32x4_eq)
#undef COMPARISON

VEC v16 v_select(m16 m, v16 a, v16 b)
{
    EACH_PART(i) a.part[i] = wasm_v128_bitselect(a.part[i], b.part[i], m.part[i]);
    return a;
}

VEC v16 v_first(size_t n, v16 a, v16 b) { return n == 16 ? a : v_select(m_first(n), a, b); }

/* ---- words ---- */
PARTWISE(v16, v_shift_exponent, wasm_i32x4_add(a.part[i], wasm_i32x4_shl(b.part[i], 23)))

VEC q16 q_set1(uint64_t x)
{
    const v128_t low = wasm_i32x4_splat((int32_t)(uint32_t)x), high = wasm_i32x4_splat((int32_t)(x >> 32));
    return (q16){{low, low, low, low}, {high, high, high, high}};
}

VEC q16 q_iota(uint32_t start)
{
    q16 r = q_set1(0);
    EACH_PART(i) r.low[i] = wasm_i32x4_add(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat((int32_t)(start + 4 * (uint32_t)i)));
    return r;
}

VEC q16 q_mul(q16 a, q16 b)
{
    EACH_PART(i)
    {
        const v128_t first = wasm_u64x2_extmul_low_u32x4(a.low[i], b.low[i]);
        const v128_t last = wasm_u64x2_extmul_high_u32x4(a.low[i], b.low[i]);
        a.low[i] = wasm_i32x4_shuffle(first, last, 0, 2, 4, 6);
        a.high[i] = wasm_i32x4_shuffle(first, last, 1, 3, 5, 7);
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
    EACH_PART(i) a.low[i] = wasm_v128_xor(wasm_v128_xor(a.low[i], b.low[i]), c.low[i]);
    return a;
}

VEC w16 w_from_q(q16 a) { return (w16){{a.low[0], a.low[1], a.low[2], a.low[3]}}; }

VEC m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    const v128_t least = wasm_i32x4_splat((int32_t)threshold);
    m16 r;
    EACH_PART(i)
    {
        const v128_t bits = half ? wasm_u32x4_shr(a.part[i], 16) : wasm_v128_and(a.part[i], wasm_i32x4_splat(0xffff));
        r.part[i] = wasm_i32x4_ge(bits, least);
    }
    return r;
}

/* ---- words that stored formats need ---- */
VEC w16 w_of_v(v16 a) { return (w16){{a.part[0], a.part[1], a.part[2], a.part[3]}}; }
VEC v16 v_of_w(w16 a) { return (v16){{a.part[0], a.part[1], a.part[2], a.part[3]}}; }
VEC w16 w_set1(uint32_t x) { return w_from_q(q_set1(x)); }
VEC w16 w_load(const uint32_t *p) { return w_of_v(v_load((const float *)p)); }

PARTWISE(w16, w_add, wasm_i32x4_add(a.part[i], b.part[i]))
PARTWISE(w16, w_sub, wasm_i32x4_sub(a.part[i], b.part[i]))
PARTWISE(w16, w_mul, wasm_i32x4_mul(a.part[i], b.part[i]))
PARTWISE(w16, w_xor, wasm_v128_xor(a.part[i], b.part[i]))
PARTWISE(w16, w_and, wasm_v128_and(a.part[i], b.part[i]))
PARTWISE(w16, w_or, wasm_v128_or(a.part[i], b.part[i]))
PARTWISE(w16, w_min, wasm_u32x4_min(a.part[i], b.part[i]))
PARTWISE(w16, w_max, wasm_u32x4_max(a.part[i], b.part[i]))
PARTWISE(w16, w_where, wasm_v128_and(wasm_i32x4_ne(a.part[i], wasm_i32x4_const(0, 0, 0, 0)), b.part[i]))
#undef PARTWISE

VEC w16 w_left(w16 a, const int bits)
{
    EACH_PART(i) a.part[i] = wasm_i32x4_shl(a.part[i], (uint32_t)bits);
    return a;
}

VEC w16 w_right(w16 a, const int bits)
{
    EACH_PART(i) a.part[i] = wasm_u32x4_shr(a.part[i], (uint32_t)bits);
    return a;
}

VEC uint32_t w_hmax(w16 a)
{
    const v128_t four = wasm_u32x4_max(wasm_u32x4_max(a.part[0], a.part[1]), wasm_u32x4_max(a.part[2], a.part[3]));
    const v128_t two = wasm_u32x4_max(four, wasm_i64x2_shuffle(four, four, 1, 1));
    return (uint32_t)wasm_i32x4_extract_lane(wasm_u32x4_max(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1)), 0);
}

/* The lower halves of eight words. */
VEC v128_t w_eight_halves(w16 a, const int first)
{
    return wasm_i16x8_shuffle(a.part[first], a.part[first + 1], 0, 2, 4, 6, 8, 10, 12, 14);
}

VEC void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    uint8_t all[16];
    wasm_v128_store(n == 16 ? p : all, wasm_i8x16_shuffle(w_eight_halves(a, 0), w_eight_halves(a, 2), 0, 2, 4, 6, 8, 10, 12, 14,
                                                          16, 18, 20, 22, 24, 26, 28, 30));
    if (n < 16)
        memcpy(p, all, n);
}

VEC w16 w_load_halves(const uint16_t *p, size_t n)
{
    uint16_t all[16] = {0};
    if (n < 16)
        p = memcpy(all, p, n * sizeof *p);
    const v128_t low = wasm_v128_load(p), high = wasm_v128_load(p + 8);
    return (w16){{wasm_u32x4_extend_low_u16x8(low), wasm_u32x4_extend_high_u16x8(low), wasm_u32x4_extend_low_u16x8(high),
                  wasm_u32x4_extend_high_u16x8(high)}};
}

VEC void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    uint16_t all[16], *to = n == 16 ? p : all;
    wasm_v128_store(to, w_eight_halves(a, 0));
    wasm_v128_store(to + 8, w_eight_halves(a, 2));
    if (n < 16)
        memcpy(p, all, n * sizeof *p);
}

#undef EACH_PART

#endif
