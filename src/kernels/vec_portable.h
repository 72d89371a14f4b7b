/* kernels/vec_portable.h: the vector primitives in plain C and the vectors that gcc and clang have on every processor. It is
 * the definition of every word; x86/vec_avx2.h, x86/vec_avx512.h, arm/vec_neon.h and wasm/vec_wasm.h say the same with
 * intrinsics. For the kernel bodies. Fast where products are; what few models need, and what is done once for many products, are
 * loops over lanes. */
#ifndef KERNELS_VEC_PORTABLE_H
#define KERNELS_VEC_PORTABLE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/vec.h"

/* Whether fused multiply-adds are made of doubles: where fmaf would be a call. Not in x87's registers, which round doubles
 * twice. */
#if defined(RAPT_DOUBLE) || defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__) || defined(__riscv_flen) || \
    FLT_EVAL_METHOD == 2
#define PORTABLE_FUSED 0
#else
#define PORTABLE_FUSED 1
#include "kernels/fused.h"
#endif

/* Declarations of words, of bodies, and loops over accumulators. Words are inlined, and so are the steps of a product; about
 * bodies the compiler decides: there are not enough registers to keep accumulators in, and inlining everything made the code five
 * times larger, and products slower. */
#define WORD static inline __attribute__((always_inline))
#define VEC static inline
#define UNROLL

/* Sixteen copies of each word would make the code ten times larger and no faster; the four parts of a vector are registers only
 * if the loops over them vanish. */
#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable)")
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#define UNROLLED _Pragma("GCC unroll 8")
#endif
#define EACH_LANE(i) \
    ROLLED           \
    for (int i = 0; i < 16; i++)

/* What can be said of several lanes at once is said of parts, 16 bytes of a vector, as gcc and clang have them on every
 * processor. */
typedef rapt_real portable_part __attribute__((vector_size(16)));
#ifdef RAPT_DOUBLE
typedef int64_t portable_int;
#define PART_OF(x) (portable_part){x, x}
#else
typedef int32_t portable_int;
#define PART_OF(x) (portable_part){x, x, x, x}
#endif
typedef portable_int portable_truths __attribute__((vector_size(16)));
#define PART_LANES ((int)(sizeof(portable_part) / sizeof(rapt_real)))
#define PARTS (16 / PART_LANES)
#define EACH_PART(i) \
    UNROLLED         \
    for (int i = 0; i < PARTS; i++)

typedef union v16 { rapt_real lane[16]; portable_part part[PARTS]; } v16;      /* 16 elements */
typedef union m16 { portable_int lane[16]; portable_truths part[PARTS]; } m16; /* 16 truths, 0 or -1 */
typedef struct w16 { uint32_t lane[16]; } w16;                                 /* 16 words */
typedef struct q16 {
    uint64_t lane[16];
} q16; /* 16 words in the low halves of 64 bits; the high halves are rubbish */

/* ---- memory: p need not be aligned; the _n forms touch n elements, 0 <= n <= 16, other lanes read as 0
 * ---- */
WORD v16 v_load(const rapt_real *p)
{
    v16 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

WORD void v_store(rapt_real *p, v16 a) { memcpy(p, a.lane, sizeof a.lane); }

WORD v16 v_set1(rapt_real x)
{
    v16 r;
    EACH_PART(i) r.part[i] = PART_OF(x);
    return r;
}

WORD v16 v_zero(void) { return v_set1(0); }

WORD v16 v_load_n(const rapt_real *p, size_t n)
{
    if (n == 16)
        return v_load(p);
    v16 r = v_zero();
    for (size_t i = 0; i < n; i++)
        r.lane[i] = p[i];
    return r;
}

WORD void v_store_n(rapt_real *p, v16 a, size_t n)
{
    if (n == 16)
        v_store(p, a);
    else
        for (size_t i = 0; i < n; i++)
            p[i] = a.lane[i];
}

/* All lanes *p, for `uses` multiply-adds; the broadcast of the GEMM. */
WORD v16 v_broadcast(const rapt_real *p, const int uses)
{
    (void)uses;
    return v_set1(*p);
}

/* ---- arithmetic, lane by lane, rounded once ------------------------------------------------------------ */
/* Truths that the compiler cannot see through: for `0 > x ? 0 : x`, clang 14 writes WebAssembly's f32.max, to which 0 is more
 * than -0. */
#ifdef __wasm__
WORD portable_truths portable_kept(portable_truths truths)
{
    for (int i = 0; i < PART_LANES; i++) {
        portable_int truth = truths[i];
        __asm__("" : "+r"(truth));
        truths[i] = truth;
    }
    return truths;
}
#else
#define portable_kept(truths) (truths)
#endif
/* a where the truth is -1, else b */
#define PART_WHERE(truths, a, b) (portable_part)(((truths) & (portable_truths)(a)) | (~(truths) & (portable_truths)(b)))

#define PARTWISE(name, expression)             \
    WORD v16 name(v16 a, v16 b)                \
    {                                          \
        v16 r;                                 \
        EACH_PART(i) r.part[i] = (expression); \
        return r;                              \
    }
PARTWISE(v_add, a.part[i] + b.part[i])
PARTWISE(v_sub, a.part[i] - b.part[i])
PARTWISE(v_mul, a.part[i] * b.part[i])
PARTWISE(v_div, a.part[i] / b.part[i])
PARTWISE(v_max, PART_WHERE(portable_kept(a.part[i] > b.part[i]), a.part[i], b.part[i]))
#undef PARTWISE

#ifdef RAPT_DOUBLE
#define PORTABLE_FMA fma
#define PORTABLE_SQRT sqrt
#else
#define PORTABLE_FMA fmaf
#define PORTABLE_SQRT sqrtf
#endif

/* a b + c */
#if PORTABLE_FUSED
WORD v16 v_fma(v16 a, v16 b, v16 c)
{
    v16 r;
    fused_truths rare = {0};
    EACH_PART(i) r.part[i] = fused_part(a.part[i], b.part[i], c.part[i], &rare);
    uint64_t any[2];
    memcpy(any, &rare, sizeof any);
    if (__builtin_expect((any[0] | any[1]) != 0, 0)) {
        const v16 x = a, y = b, z = c;
        v16 odd;
        fused_rare(odd.lane, x.lane, y.lane, z.lane);
        return odd;
    }
    return r;
}
#else
WORD v16 v_fma(v16 a, v16 b, v16 c)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = PORTABLE_FMA(a.lane[i], b.lane[i], c.lane[i]);
    return r;
}
#endif

/* c - a b */
WORD v16 v_fnma(v16 a, v16 b, v16 c)
{
    EACH_PART(i) a.part[i] = -a.part[i];
    return v_fma(a, b, c);
}

WORD v16 v_sqrt(v16 a)
{
    v16 r;
    EACH_LANE(i) r.lane[i] = PORTABLE_SQRT(a.lane[i]);
    return r;
}

/* Operations on single elements, for the steps after a row sum. */
WORD rapt_real s_from_size(size_t n) { return (rapt_real)n; }
WORD rapt_real s_sqrt(rapt_real x) { return PORTABLE_SQRT(x); }

/* ---- across lanes -------------------------------------------------------------------------------------- */
/* Folds the lanes as the tree of kernels.h: 16 to 8 to 4 to 2 to 1. */
WORD rapt_real v_sum(v16 a)
{
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.part[i] += a.part[i + half];
    for (int half = PART_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.lane[i] += a.lane[i + half];
    return a.lane[0];
}

/* The tree of v_sum with max. */
WORD rapt_real v_hmax(v16 a)
{
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
    return a.lane[0];
}

/* r[i] lane j becomes r[j] lane i. Moves integers: packed weights are no numbers, and the x87 unit changes a signaling NaN that
 * it moves. */
WORD void v_transpose(v16 r[16])
{
    m16 from[16], to[16];
    memcpy(from, r, sizeof from);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            to[i].lane[j] = from[j].lane[i];
    memcpy(r, to, sizeof to);
}

/* ---- truths -------------------------------------------------------------------------------------------- */
WORD m16 m_first(size_t n) /* lanes 0 .. n-1 */
{
    m16 r;
    EACH_LANE(i) r.lane[i] = -((size_t)i < n);
    return r;
}

/* Lanes whose byte is not 0; reads n bytes, lanes past them are false. */
WORD m16 m_load_n(const uint8_t *keep, size_t n)
{
    m16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? -(keep[i] != 0) : 0;
    return r;
}

#define PARTWISE(name, operator)                                                \
    WORD m16 name(v16 a, v16 b) /* false if one is NaN */                        \
    {                                                                           \
        m16 r;                                                                  \
        EACH_PART(i) r.part[i] = portable_kept(a.part[i] operator b.part[i]); \
        return r;                                                               \
    }
PARTWISE(m_gt, >)
PARTWISE(m_ge, >=)
PARTWISE(m_eq, ==)
#undef PARTWISE

WORD unsigned m_bits(m16 m) /* lane i is bit i */
{
    unsigned bits = 0;
    EACH_LANE(i) bits |= (unsigned)(m.lane[i] & 1) << i;
    return bits;
}

/* a where m, b elsewhere */
WORD v16 v_select(m16 m, v16 a, v16 b)
{
    v16 r;
    EACH_PART(i) r.part[i] = PART_WHERE(m.part[i], a.part[i], b.part[i]);
    return r;
}

/* Lanes 0 .. n-1 from a, the others from b. */
WORD v16 v_first(size_t n, v16 a, v16 b) { return n == 16 ? a : v_select(m_first(n), a, b); }

/* ---- words: what Philox and exp need ------------------------------------------------------------------- */
#ifndef RAPT_DOUBLE
/* a times 2^k, where the low bits of t hold k; correct if a and the result are normal numbers. */
WORD v16 v_shift_exponent(v16 a, v16 t)
{
    typedef uint32_t words __attribute__((vector_size(16)));
    EACH_PART(i) a.part[i] = (portable_part)((words)a.part[i] + ((words)t.part[i] << 23));
    return a;
}
#endif

WORD q16 q_set1(uint64_t x)
{
    q16 r;
    EACH_LANE(i) r.lane[i] = x;
    return r;
}

WORD q16 q_iota(uint32_t start) /* start + i in lane i */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = start + (uint32_t)i;
    return r;
}

WORD q16 q_mul(q16 a, q16 b) /* the 64-bit products of the words */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = (uint64_t)(uint32_t)a.lane[i] * (uint32_t)b.lane[i];
    return r;
}

WORD q16 q_high(q16 a) /* the high halves, as words */
{
    q16 r;
    EACH_LANE(i) r.lane[i] = a.lane[i] >> 32;
    return r;
}

WORD q16 q_xor3(q16 a, q16 b, q16 c)
{
    q16 r;
    EACH_LANE(i) r.lane[i] = a.lane[i] ^ b.lane[i] ^ c.lane[i];
    return r;
}

WORD w16 w_from_q(q16 a)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (uint32_t)a.lane[i];
    return r;
}

/* Lanes whose half-word (0: low, 1: high) is at least the threshold, which may be 65536. */
WORD m16 m_half_ge(w16 a, int half, uint32_t threshold)
{
    m16 r;
    EACH_LANE(i) r.lane[i] = -((a.lane[i] >> 16 * half & 0xffff) >= threshold);
    return r;
}

/* ---- words: what a stored format needs, the 8-bit moments of Adam (body/adam8.h) --------------------------- */
#ifndef RAPT_DOUBLE
WORD w16 w_of_v(v16 a) /* the bits */
{
    w16 r;
    memcpy(r.lane, a.lane, sizeof r.lane);
    return r;
}

WORD v16 v_of_w(w16 a)
{
    v16 r;
    memcpy(r.lane, a.lane, sizeof r.lane);
    return r;
}

WORD w16 w_set1(uint32_t x)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = x;
    return r;
}

WORD w16 w_load(const uint32_t *p) /* 16 words */
{
    w16 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

#define LANEWISE(name, expression)             \
    WORD w16 name(w16 a, w16 b)                 \
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

WORD w16 w_left(w16 a, const int bits)
{
    EACH_LANE(i) a.lane[i] <<= bits;
    return a;
}

WORD w16 w_right(w16 a, const int bits)
{
    EACH_LANE(i) a.lane[i] >>= bits;
    return a;
}

WORD uint32_t w_hmax(w16 a)
{
    uint32_t most = 0;
    EACH_LANE(i) most = a.lane[i] > most ? a.lane[i] : most;
    return most;
}

/* n bytes or half-words as words, 0 <= n <= 16; other lanes are 0. */
WORD w16 w_load_bytes(const uint8_t *p, size_t n)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? p[i] : 0;
    return r;
}

WORD w16 w_load_halves(const uint16_t *p, size_t n)
{
    w16 r;
    EACH_LANE(i) r.lane[i] = (size_t)i < n ? p[i] : 0;
    return r;
}

/* Stores the first n words as bytes or half-words, into which they fit. */
WORD void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)a.lane[i];
}

WORD void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint16_t)a.lane[i];
}
#endif

#undef EACH_LANE
#undef EACH_PART
#undef PART_WHERE
#undef PART_OF

#endif
