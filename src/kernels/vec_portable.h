/* kernels/vec_portable.h: the vector primitives in plain C, 16 lanes as loops. It is the definition of every
 * word; x86/vec_avx2.h, x86/vec_avx512.h and arm/vec_neon.h say the same with intrinsics. For the kernel bodies.
 * Not fast, and not meant to be: without a fused multiply-add in hardware each fma is a call into libm. */
#ifndef KERNELS_VEC_PORTABLE_H
#define KERNELS_VEC_PORTABLE_H

#include <math.h>
#include <string.h>

#include "kernels/vec.h"

/* Declarations of primitives and bodies, and loops over accumulators. Here the compiler decides about inlining: there are no
 * vector registers to keep accumulators in, and inlining everything made the code three times larger and no faster. */
#define VEC static inline
#define UNROLL

/* Sixteen copies of each word would make the code ten times larger and no faster. */
#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif
#define EACH_LANE(i) \
    ROLLED           \
    for (int i = 0; i < 16; i++)

typedef struct v16 { rapt_real lane[16]; } v16; /* 16 elements */
typedef struct m16 { uint32_t bits; } m16;      /* 16 truths, lane i is bit i */
typedef struct w16 { uint32_t lane[16]; } w16;  /* 16 words */
typedef struct q16 {
    uint64_t lane[16];
} q16; /* 16 words in the low halves of 64 bits; the high halves are rubbish */

/* ---- memory: p need not be aligned; the _n forms touch n elements, 0 <= n <= 16, other lanes read as 0
 * ---- */
VEC v16 v_load(const rapt_real *p)
{
    v16 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

VEC void v_store(rapt_real *p, v16 a) { memcpy(p, a.lane, sizeof a.lane); }

VEC v16 v_load_n(const rapt_real *p, size_t n)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? p[i] : 0;
    return r;
}

VEC void v_store_n(rapt_real *p, v16 a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = a.lane[i];
}

VEC v16 v_set1(rapt_real x)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = x;
    return r;
}

VEC v16 v_zero(void) { return v_set1(0); }

/* All lanes *p, for `uses` multiply-adds; the broadcast of the GEMM. */
VEC v16 v_broadcast(const rapt_real *p, const int uses)
{
    (void)uses;
    return v_set1(*p);
}

/* ---- arithmetic, lane by lane, rounded once ------------------------------------------------------------ */
#define LANEWISE(name, expression)             \
    VEC v16 name(v16 a, v16 b)                 \
    {                                          \
        v16 r;                                 \
        EACH_LANE(i) r.lane[i] = (expression); \
        return r;                              \
    }
LANEWISE(v_add, a.lane[i] + b.lane[i])
LANEWISE(v_sub, a.lane[i] - b.lane[i])
LANEWISE(v_mul, a.lane[i] * b.lane[i])
LANEWISE(v_div, a.lane[i] / b.lane[i])
LANEWISE(v_max, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
#undef LANEWISE

#ifdef RAPT_DOUBLE
#define PORTABLE_FMA fma
#define PORTABLE_SQRT sqrt
#else
#define PORTABLE_FMA fmaf
#define PORTABLE_SQRT sqrtf
#endif

/* a b + c */
VEC v16 v_fma(v16 a, v16 b, v16 c)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = PORTABLE_FMA(a.lane[i], b.lane[i], c.lane[i]);
    return r;
}

/* c - a b */
VEC v16 v_fnma(v16 a, v16 b, v16 c)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = PORTABLE_FMA(-a.lane[i], b.lane[i], c.lane[i]);
    return r;
}

VEC v16 v_sqrt(v16 a)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = PORTABLE_SQRT(a.lane[i]);
    return r;
}

/* Operations on single elements, for the steps after a row sum. */
VEC rapt_real s_from_size(size_t n) { return (rapt_real)n; }
VEC rapt_real s_sqrt(rapt_real x) { return PORTABLE_SQRT(x); }

/* ---- across lanes -------------------------------------------------------------------------------------- */
/* Folds the lanes as the tree of kernels.h: 16 to 8 to 4 to 2 to 1. */
VEC rapt_real v_sum(v16 a)
{
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.lane[i] += a.lane[i + half];
    return a.lane[0];
}

/* The tree of v_sum with max. */
VEC rapt_real v_hmax(v16 a)
{
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
    return a.lane[0];
}

/* r[i] lane j becomes r[j] lane i. */
VEC void v_transpose(v16 r[16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < i; j++) {
            rapt_real x = r[i].lane[j];
            r[i].lane[j] = r[j].lane[i];
            r[j].lane[i] = x;
        }
}

/* ---- truths -------------------------------------------------------------------------------------------- */
VEC m16 m_first(size_t n) { return (m16){(1u << n) - 1}; } /* lanes 0 .. n-1 */

/* Lanes whose byte is not 0; reads n bytes, lanes past them are false. */
VEC m16 m_load_n(const uint8_t *keep, size_t n)
{
    m16 r = {0};
    for (size_t i = 0; i < n; i++)
        r.bits |= (uint32_t)(keep[i] != 0) << i;
    return r;
}

VEC m16 m_gt(v16 a, v16 b) /* false if one is NaN */
{
    m16 r = {0};
    EACH_LANE(i) r.bits |= (uint32_t)(a.lane[i] > b.lane[i]) << i;
    return r;
}

VEC m16 m_ge(v16 a, v16 b)
{
    m16 r = {0};
    EACH_LANE(i) r.bits |= (uint32_t)(a.lane[i] >= b.lane[i]) << i;
    return r;
}

VEC m16 m_eq(v16 a, v16 b)
{
    m16 r = {0};
    EACH_LANE(i) r.bits |= (uint32_t)(a.lane[i] == b.lane[i]) << i;
    return r;
}

/* Lanes 0 .. n-1 from a, the others from b. */
VEC v16 v_first(size_t n, v16 a, v16 b)
{
    EACH_LANE(i) b.lane[i] = (size_t)i < n ? a.lane[i] : b.lane[i];
    return b;
}

VEC unsigned m_bits(m16 m) { return m.bits; }

/* a where m, b elsewhere */
VEC v16 v_select(m16 m, v16 a, v16 b)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = m.bits >> i & 1 ? a.lane[i] : b.lane[i];
    return r;
}

/* ---- words: what Philox and exp need ------------------------------------------------------------------- */
#ifndef RAPT_DOUBLE
/* a times 2^k, where the low bits of t hold k; correct if a and the result are normal numbers. */
VEC v16 v_shift_exponent(v16 a, v16 t)
{
    uint32_t x[16], k[16];
    memcpy(x, a.lane, sizeof x);
    memcpy(k, t.lane, sizeof k);
    EACH_LANE(i) x[i] += k[i] << 23;
    memcpy(a.lane, x, sizeof x);
    return a;
}
#endif

VEC q16 q_set1(uint64_t x)
{
    q16 r;
    EACH_LANE(i) r.lane[i] = x;
    return r;
}

VEC q16 q_iota(uint32_t start) /* start + i in lane i */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = start + (uint32_t)i;
    return r;
}

VEC q16 q_mul(q16 a, q16 b) /* the 64-bit products of the words */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = (uint64_t)(uint32_t)a.lane[i] * (uint32_t)b.lane[i];
    return r;
}

VEC q16 q_high(q16 a) /* the high halves, as words */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = a.lane[i] >> 32;
    return r;
}

VEC q16 q_xor3(q16 a, q16 b, q16 c)
{
    q16 r;
    EACH_LANE(i) r.lane[i] = a.lane[i] ^ b.lane[i] ^ c.lane[i];
    return r;
}

VEC w16 w_from_q(q16 a)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (uint32_t)a.lane[i];
    return r;
}

/* Lanes whose half-word (0: low, 1: high) is at least the threshold, which may be 65536. */
VEC m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    m16 r = {0};
    EACH_LANE(i) r.bits |= (uint32_t)((a.lane[i] >> 16 * half & 0xffff) >= threshold) << i;
    return r;
}

/* ---- words: what a stored format needs, the 8-bit moments of Adam (body/adam8.h) --------------------------- */
#ifndef RAPT_DOUBLE
VEC w16 w_of_v(v16 a) /* the bits */
{
    w16 r;
    memcpy(r.lane, a.lane, sizeof r.lane);
    return r;
}

VEC v16 v_of_w(w16 a)
{
    v16 r;
    memcpy(r.lane, a.lane, sizeof r.lane);
    return r;
}

VEC w16 w_set1(uint32_t x)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = x;
    return r;
}

VEC w16 w_load(const uint32_t *p) /* 16 words */
{
    w16 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

#define LANEWISE(name, expression)             \
    VEC w16 name(w16 a, w16 b)                 \
    {                                          \
        w16 r;                                 \
        EACH_LANE(i) r.lane[i] = (expression); \
        return r;                              \
    }
LANEWISE(w_add, a.lane[i] + b.lane[i])
LANEWISE(w_sub, a.lane[i] - b.lane[i])
LANEWISE(w_mul, a.lane[i] * b.lane[i])
LANEWISE(w_xor, a.lane[i] ^ b.lane[i])
LANEWISE(w_and, a.lane[i] & b.lane[i])
LANEWISE(w_or, a.lane[i] | b.lane[i])
LANEWISE(w_min, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])
LANEWISE(w_max, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
LANEWISE(w_where, a.lane[i] ? b.lane[i] : 0) /* b if a is not 0, else 0 */
#undef LANEWISE

VEC w16 w_left(w16 a, const int bits)
{
    EACH_LANE(i) a.lane[i] <<= bits;
    return a;
}

VEC w16 w_right(w16 a, const int bits)
{
    EACH_LANE(i) a.lane[i] >>= bits;
    return a;
}

VEC uint32_t w_hmax(w16 a)
{
    uint32_t most = 0;
    EACH_LANE(i) most = a.lane[i] > most ? a.lane[i] : most;
    return most;
}

/* n bytes or half-words as words, 0 <= n <= 16; other lanes are 0. */
VEC w16 w_load_bytes(const uint8_t *p, size_t n)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? p[i] : 0;
    return r;
}

VEC w16 w_load_halves(const uint16_t *p, size_t n)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? p[i] : 0;
    return r;
}

/* Stores the first n words as bytes or half-words, into which they fit. */
VEC void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)a.lane[i];
}

VEC void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint16_t)a.lane[i];
}
#endif

#undef EACH_LANE

#endif
