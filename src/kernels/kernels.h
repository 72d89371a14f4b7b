/* kernels/kernels.h: the table of all kernels (loops over elements), one table per ISA. Pure functions on pointers: no tensors,
 * no allocation, no threads, no failure (all checks come before them). All ISAs give the same bits (in fp32, not in bf16): every
 * sum has the order that is written here, whatever the vector width.
 *
 * The number format
 *   - A vector is always 16 lanes. A row sum adds element i into lane i % 16 in order of i, then folds the lanes
 *     as a tree: l[i] += l[i+8] (i < 8), l[i] += l[i+4], l[i] += l[i+2], l[0] + l[1]. Lanes past the end add 0.
 *   - A product sum (GEMM) starts each block of KERNELS_K_BLOCK products along K at +0, adds its products one by
 *     one with a fused multiply-add, and is then added to the output, block after block.
 *   - A product sum in bf16 rounds its operands first and adds products two by two, in an order that the processor decides;
 *     blocks as above. It is the same for any number of threads, but not on every machine.
 *   - A product sum of quantized weights is exact in blocks of 32, whose sums are added one by one with a fused multiply-add
 *     (docs/number-format.md); blocks of KERNELS_K_BLOCK as above.
 *   - Fused multiply-adds are always explicit; division and square root are IEEE exact; no approximations.
 *   - max(a, b) is `a > b ? a : b`, like x86's maxps.
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "rapt/base.h"

#define KERNELS_K_BLOCK 384 /* products that are summed before C is touched; part of the number format */
#define KERNELS_LANES 16
#define KERNELS_MAX_MR 32
#define KERNELS_MAX_NR 64
#define KERNELS_MAX_A (16 * KERNELS_K_BLOCK) /* elements of a packed A: 16 rows, or 32 of pairs */
#define KERNELS_AHEAD ((size_t)96 << 10) /* bytes of stored blocks from a prefetch to its packing */
#define KERNELS_ALIGN 64 /* bytes; packed panels start at multiples of it */

/* What happens to a GEMM tile after its products are summed, in this order. */
typedef struct kernels_epilogue {
    bool accumulate;       /* add to the contents of C (second and later K blocks, or C += A B) */
    const rapt_real *bias; /* n values added to each row, or NULL */
    bool relu;             /* max(0, x), NaN stays NaN */
} kernels_epilogue;

/* Identifies the random numbers of one dropout; see `dropout` below. */
typedef struct kernels_dropout {
    uint32_t key[2];    /* Philox key: (seed, step, op) already mixed by the caller */
    uint32_t example;   /* index of the example in the global batch */
    uint32_t head;      /* head or other sub-stream within the example */
    uint32_t threshold; /* round(p * 65536): an element is dropped when its 16 random bits are below */
    rapt_real scale;    /* 1 / (1 - p), multiplies the kept elements */
} kernels_dropout;

typedef struct kernels_adam {
    rapt_real beta1, beta2;
    rapt_real step_size;    /* lr / (1 - beta1^t) */
    rapt_real inv_sqrt_bc2; /* 1 / sqrt(1 - beta2^t) */
    rapt_real eps;
    rapt_real grad_scale;   /* gradients are multiplied by it first (clipping) */
    rapt_real decay;        /* 1 - lr * weight_decay, multiplies the parameter first (decoupled); 1: none */
} kernels_adam;

typedef struct kernels_sgd {
    rapt_real lr, momentum;
    rapt_real weight_decay; /* times the parameter is added to the gradient */
    rapt_real grad_scale;   /* gradients are multiplied by it first (clipping) */
    bool nesterov;
} kernels_sgd;

#define KERNELS_ADAM8_BLOCK ((size_t)256) /* elements of 8-bit moments with a common exponent; part of the number format */

static inline size_t kernels_adam8_blocks(size_t n)
{
    return (n + KERNELS_ADAM8_BLOCK - 1) / KERNELS_ADAM8_BLOCK;
}

/* Bytes of a moment of n elements in 8 bits. */
static inline size_t kernels_adam8_bytes(size_t n)
{
    return n + kernels_adam8_blocks(n);
}

/* The strides of a packed A: element (i, k) is at [i * row + k * col]. */
typedef struct kernels_strides {
    ptrdiff_t row, col;
} kernels_strides;

/* GEMM kernels for one numeric type. Operands are packed elements: for fp32 the elements themselves; for bf16 pairs of elements
 * that are adjacent along K, rounded to nearest even, the first in the low half; both products of a pair are added to one sum.
 * With `wide_a`, B has such pairs, of bf16 or binary16, and A has elements: kc counts pairs, a_row and a_col count elements. */
typedef struct kernels_gemm {
    const char *name; /* name of the kernels: "fp32"; "avx512_bf16", "amx", "emulated"; for quantized weights "avx512_vnni",
                         ... */
    int mr, nr;       /* rows and columns of a tile; nr is a power of two, 16 at least */
    int a_stride;     /* elements per k in a packed A panel whose strides are {1, a_stride}; >= mr */
    int far;          /* from this row stride on, in elements, B and a transposed A are read faster packed than in place; 0 where
                         both are always packed */
    bool wide_a;      /* A has fp32 elements, whatever `pair` is: for weights that are stored in 16 bits */
    int pair;         /* products of a packed element: 1, 2 of 16 bits, 4 of 8 bits, 8 of fewer */
    int step;         /* packed elements along K come in multiples of it, */
    int scales;       /* each step is followed by this number of elements with scales and with the upper bits of 5- or 6-bit
                         numbers */
    int a_row;        /* for quantized weights: numbers that pack_a makes of a row of A in a K block, whatever the depth of the
                         block; rows are contiguous. Else 0 */
    /* C[m x n] = epilogue(sum over kc of A[i,k] * B[k,j]), 1 <= m <= mr, 1 <= n <= nr, kc packed elements, whole steps with their
     * scales, for 0 < products <= KERNELS_K_BLOCK. A element (i,k) is a[i * a_row + k * a_col]. Any strides are correct; the
     * strides of a packed panel, and a_col == 1, are fast. amx needs a_col == 1, and kernels of quantized weights need what their
     * pack_a has packed. B element (k,j) is b[k * b_row + j]. If there are fewer than 16 columns, only these are read, otherwise
     * the next multiple of 16: a packed panel has b_row nr; for a matrix in place, n must be below 16 or a multiple of 16. c:
     * row-major with ldc; nothing outside m x n is read or written. */
    void (*gemm_tile)(int m, int n, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col,
                      const rapt_real *b, ptrdiff_t b_row, rapt_real *c, ptrdiff_t ldc, const kernels_epilogue *epilogue);
    /* gemm_tile for one row of A, a[k * a_col], and `panels` whole packed panels, each `panel` numbers after the previous one:
     * c[p * nr + j], with the bits of gemm_tile. Several panels are read at once, because memory delivers them faster than one.
     * May be NULL. */
    void (*gemm_row)(size_t panels, size_t kc, const rapt_real *a, ptrdiff_t a_col, const rapt_real *b, size_t panel,
                     rapt_real *c, const kernels_epilogue *epilogue);
    /* Packs A element (i, k) = a[i * a_row + k * a_col], i < m, k < kc, into KERNELS_MAX_A elements, followed by zeros up to
     * whole steps and, if k is the slower index, up to a_stride. Returns their strides. One of the strides is 1. */
    kernels_strides (*pack_a)(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst);
    /* dst[k * nr + j] = b[k * b_row + j * b_col] for j < n, and 0 up to a multiple of 16; the tile reads no further. For pairs, k
     * counts pairs, with zeros up to whole steps. One of the strides is 1. */
    void (*pack_b)(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst);
    /* For quantized weights: the formats of blocks (kernels_stored_format, ended by 0) that pack_stored packs without change.
     * Column j of the panel is in the blocks at columns[j], from row k0 on, kc rows, which are whole blocks. What follows
     * KERNELS_AHEAD bytes later is prefetched. pack_b is NULL if rapt does not round numbers to the type. */
    int stored[3];
    void (*pack_stored)(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst);
    /* Called around the calls of gemm_tile of one thread, close to them in time; NULL if nothing is to be set up. */
    void (*begin)(void);
    void (*end)(void);
} kernels_gemm;

/* One query for several heads of attention, head after head in memory, and the `keys` keys that it attends to; keys with keep[j]
 * == 0 are left out. */
typedef struct kernels_query {
    size_t heads;
    size_t first, group;      /* head h reads the key-value head (first + h) / group */
    size_t keys;
    size_t d, dv;             /* features of a key (at most KERNELS_K_BLOCK) and of a value, per head */
    const rapt_real *q;       /* [heads, d] */
    const rapt_real *k;       /* [keys, key-value heads, d], rows k_row apart; not read with `panels` */
    const rapt_real *panels;  /* K^T of each key-value head in panels of the table's `gemm` (tensor/panels.h), or NULL */
    size_t panels_head;       /* elements from a head's to the next one's */
    const rapt_real *v;       /* [keys, key-value heads, dv], rows v_row apart */
    ptrdiff_t k_row, v_row;
    const uint8_t *keep;      /* [keys], or NULL: all keys are kept */
    rapt_real scale;
    rapt_real *p;             /* [heads, keys up to whole vectors] gets the weights */
    rapt_real *out;           /* [heads, dv] */
    rapt_real *max, *inv_sum; /* [heads] statistics of the softmax */
} kernels_query;

/* Packed numbers along K of kc products. */
static inline size_t kernels_packed_count(const kernels_gemm *g, size_t kc)
{
    const size_t numbers = (kc + (size_t)g->pair - 1) / (size_t)g->pair, step = (size_t)g->step;
    return (numbers + step - 1) / step * (step + (size_t)g->scales);
}

/* Whether operand A is converted while it is packed. */
static inline bool kernels_converts_a(const kernels_gemm *g)
{
    return g->pair > 1 && !g->wide_a;
}

/* The stored types of weights, with the numbers of GGUF (ggml_type): 16-bit numbers, and formats of blocks. */
enum kernels_stored_format {
    KERNELS_F16 = 1,
    KERNELS_Q4_0 = 2,
    KERNELS_Q5_0 = 6,
    KERNELS_Q8_0 = 8,
    KERNELS_Q4_K = 12,
    KERNELS_Q5_K = 13,
    KERNELS_Q6_K = 14,
    KERNELS_BF16 = 30
};

/* Products of quantized weights: integers of 8 to 4 bits in blocks of 32 or 16 with scales (body/quant_body.h). */
typedef struct kernels_quantized {
    kernels_gemm q8_0, q4_0, q4_k, q5_k, q6_k;
} kernels_quantized;

typedef struct kernels {
    const char *name; /* "scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16", "amx", "neon", "neon_dot",
                         "simd128", "relaxed" */

    kernels_gemm gemm;        /* in the table's own numbers */
    const kernels_gemm *bf16; /* products of elements rounded to bf16; NULL in the double build */
    const kernels_quantized *quantized; /* products of quantized weights; NULL in the double build */
    /* Products with the bits of `gemm` for packed weights that are bf16 or binary16 numbers, an even number of them along K; NULL
     * in the double build. */
    const kernels_gemm *bf16_weights, *f16_weights;

    /* ---- rows ------------------------------------------------------------------------------------------ */
    /* p[j] = exp(scale * x[j] - max) / sum over the first n elements, without those that have keep[j] == 0 (keep may be NULL);
     * p[j] = 0 for these and for n <= j < total. *max and *inv_sum are for softmax_recompute. If no element is kept: p = 0, *max
     * = 0, *inv_sum = 0. p may be x. total >= n. */
    void (*softmax)(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale, rapt_real *p,
                    rapt_real *max, rapt_real *inv_sum);
    /* p = softmax(scale q K^T), out = p V of each head: the bits of gemm_tile, `softmax` and gemm_tile again. keys > 0. */
    void (*attend)(const kernels_query *a);
    /* Computes the p of softmax again, bit for bit, from the stored max and inv_sum. */
    void (*softmax_recompute)(size_t total, size_t n, const rapt_real *x, const uint8_t *keep, rapt_real scale,
                          rapt_real max, rapt_real inv_sum, rapt_real *p);
    /* dx[j] = scale * (d[j] dd[j] - p[j] sum_i d[i] dd[i]): softmax p, then dropout giving d, with the gradient dd of
     * d. Without dropout d is p. dx may be dd. */
    void (*softmax_backward)(size_t n, const rapt_real *p, const rapt_real *d, const rapt_real *dd, rapt_real scale,
                             rapt_real *dx);
    /* y = (x - mean) * rstd * gamma + beta over n features (population variance, rstd = 1/sqrt(var + eps));
     * gamma and beta may be NULL (1 and 0). y may be x. */
    void (*layer_norm)(size_t n, const rapt_real *x, const rapt_real *gamma, const rapt_real *beta, rapt_real eps,
                       rapt_real *y, rapt_real *mean, rapt_real *rstd);
    /* dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma, xhat = (x - mean) * rstd.
     * Adds dy * xhat to dgamma and dy to dbeta unless they are NULL. dx may be dy or x. */
    void (*layer_norm_backward)(size_t n, const rapt_real *dy, const rapt_real *x, const rapt_real *gamma,
                                rapt_real mean, rapt_real rstd, rapt_real *dx, rapt_real *dgamma, rapt_real *dbeta);
    /* y = x * rstd * gamma, rstd = 1/sqrt(mean(x^2) + eps); gamma may be NULL (1). y may be x. */
    void (*rms_norm)(size_t n, const rapt_real *x, const rapt_real *gamma, rapt_real eps, rapt_real *y, rapt_real *rstd);
    /* dx = rstd * (g - xhat * mean(g * xhat)), g = dy * gamma, xhat = x * rstd. Adds dy * xhat to dgamma unless it is
     * NULL. dx may be dy or x. */
    void (*rms_norm_backward)(size_t n, const rapt_real *dy, const rapt_real *x, const rapt_real *gamma, rapt_real rstd,
                              rapt_real *dx, rapt_real *dgamma);
    /* Turns the pairs (a, b) of features (j, half + j), j < half, in each of `heads` heads of 2 half features, by the
     * angle with cosine table[j] and sine table[half + j] times `direction`, 1 or, to turn back, -1:
     * (a c - b s, b c + a s). y may be x. */
    void (*rotary)(size_t heads, size_t half, rapt_real direction, const rapt_real *x, const rapt_real *table, rapt_real *y);
    /* *max = max x, *sum = sum exp(x - max) over n > 0 elements. */
    void (*log_sum_exp)(size_t n, const rapt_real *x, rapt_real *max, rapt_real *sum);
    /* dx[j] = scale * (exp(x[j] - max) * inv_sum - floor); dx may be x. The gradient of cross-entropy without the label's own
     * term. */
    void (*softmax_gradient)(size_t n, const rapt_real *x, rapt_real max, rapt_real inv_sum, rapt_real scale,
                             rapt_real floor, rapt_real *dx);

    /* ---- elements -------------------------------------------------------------------------------------- */
    void (*fill)(size_t n, rapt_real value, rapt_real *y);
    void (*add)(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y);         /* y = a + b; y may be a or b */
    void (*mul)(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y);         /* y = a b; y may be a or b */
    void (*mul_add)(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y);     /* y = fma(a, b, y) */
    void (*scale)(size_t n, rapt_real alpha, const rapt_real *x, rapt_real *y);          /* y = alpha x; y may be x */
    void (*axpy)(size_t n, rapt_real alpha, const rapt_real *x, rapt_real *y);           /* y = fma(alpha, x, y) */
    void (*scale_add)(size_t n, rapt_real alpha, const rapt_real *x, const rapt_real *b, rapt_real *y); /* fma(alpha, x, b) */
    void (*relu)(size_t n, const rapt_real *x, rapt_real *y);                            /* y = 0 > x ? 0 : x; NaN stays */
    void (*relu_backward)(size_t n, const rapt_real *y, const rapt_real *dy, rapt_real *dx); /* dx = y > 0 ? dy : 0 */
    /* y = f(x), and slope = f'(x) unless `slope` is NULL. y or slope may be x. GELU: x Phi(x), Phi of the normal distribution;
     * its tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); SiLU: x / (1 + exp(-x)). -inf gives 0, inf gives inf, NaN
     * stays; body/activation_body.h explains the computation; check_activation.c tests the error. */
    void (*gelu)(size_t n, const rapt_real *x, rapt_real *y, rapt_real *slope);
    void (*gelu_tanh)(size_t n, const rapt_real *x, rapt_real *y, rapt_real *slope);
    void (*silu)(size_t n, const rapt_real *x, rapt_real *y, rapt_real *slope);
    /* y = cap tanh(scale x / cap), and the derivative there, scale (1 - tanh^2), to `slope` unless it is NULL. y or slope
     * may be x. NaN stays. */
    void (*softcap)(size_t n, rapt_real scale, rapt_real cap, const rapt_real *x, rapt_real *y, rapt_real *slope);
    /* y = silu(gate) up; y may be gate or up. Backward: dgate = (dy up) silu'(gate), dup = dy silu(gate); dgate or dup
     * may be any of the inputs. */
    void (*swiglu)(size_t n, const rapt_real *gate, const rapt_real *up, rapt_real *y);
    void (*swiglu_backward)(size_t n, const rapt_real *gate, const rapt_real *up, const rapt_real *dy, rapt_real *dgate,
                            rapt_real *dup);
    void (*exp)(size_t n, const rapt_real *x, rapt_real *y);  /* <= 2 ulp; -inf gives 0, NaN stays, overflow inf */
    rapt_real (*sum)(size_t n, const rapt_real *x);           /* 16 lanes and the tree */
    rapt_real (*sum_squares)(size_t n, const rapt_real *x);   /* the sum of x * x, by fma */
    bool (*all_finite)(size_t n, const rapt_real *x);
    size_t (*argmax)(size_t n, const rapt_real *x);           /* first index of the largest; n > 0; NaN never wins */
    size_t (*first_at_least)(size_t n, const rapt_real *x, rapt_real limit); /* index of the first x >= limit; n: none. x has no
                                                                                NaN */
    /* out[j] += sum over rows of x[i * ld + j], in order of i, for j < cols. */
    void (*column_sums)(size_t rows, size_t cols, const rapt_real *x, size_t ld, rapt_real *out);
    /* y = keep ? x * scale : 0 on rows row0 .. row0+rows-1 (x, y point at row0's first element). Element (row r, column c) uses
     * 16 bits of Philox4x32-10 (Salmon et al. 2011) with key d->key and counter (c, r / 8, d->head, d->example): half-word r % 8
     * of its four words, low half first. So whether an element is kept depends only on its own indices. y may be x. */
    void (*dropout)(const kernels_dropout *d, size_t row0, size_t rows, size_t cols, const rapt_real *x, size_t ldx,
                    rapt_real *y, size_t ldy);
    /* Adam (Kingma & Ba 2015, Algorithm 1; PyTorch's order of operations), g = grad * grad_scale:
     * p *= decay; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
     * p -= step_size * m / (sqrt(v) * inv_sqrt_bc2 + eps). */
    void (*adam)(size_t n, rapt_real *p, const rapt_real *grad, rapt_real *m, rapt_real *v, const kernels_adam *a);
    /* `count` steps of `adam` with gradients of 0, one after the other, bit for bit. m and v NULL: moments of 0, so that
     * only the decay is left (eps > 0). */
    void (*adam_replay)(size_t n, rapt_real *p, rapt_real *m, rapt_real *v, size_t count, const kernels_adam *steps);
    /* `adam` with moments in 8 bits, kernels_adam8_bytes(n) each: an exponent for each block of KERNELS_ADAM8_BLOCK elements,
     * then a code for each element; zeros are moments of 0. Moments are rounded up or down at random, by numbers that depend on
     * `seed` and the element's index (body/adam8.h). NULL in the double build. */
    void (*adam8)(size_t n, rapt_real *p, const rapt_real *grad, uint8_t *m, uint8_t *v, uint32_t seed, const kernels_adam *a);

    /* Gradient descent as torch.optim.SGD does it without dampening, g = grad * grad_scale + weight_decay p:
     * m = momentum m + g; p -= lr (nesterov ? g + momentum m : m). m NULL: p -= lr g. grad NULL: zeros. */
    void (*sgd)(size_t n, rapt_real *p, const rapt_real *grad, rapt_real *m, const kernels_sgd *a);

    /* ---- numbers that are stored in fewer bytes, which need not be aligned ------------------------------- */
    /* 2 n bytes of bf16: the upper half of each number, rounded to nearest even; NaN stays. Widening is exact. */
    void (*round_bf16)(size_t n, const rapt_real *x, uint8_t *to);
    void (*widen_bf16)(size_t n, const uint8_t *from, rapt_real *y);
    /* Blocks of Q8_0: for each 32 numbers, or the fewer that are left, 2 bytes of a scale in binary16, then an integer of
     * 8 bits for each, as GGUF's reference rounds them (docs/number-format.md). Widening, scale times integer, is exact;
     * a block with a number that is not finite becomes NaN. */
    void (*round_q8)(size_t n, const rapt_real *x, uint8_t *to);
    void (*widen_q8)(size_t n, const uint8_t *from, rapt_real *y);
} kernels;

extern const kernels kernels_scalar;
#ifndef RAPT_DOUBLE
extern const kernels kernels_avx2;
extern const kernels kernels_avx2_vnni; /* avx2 with products of quantized weights by AVX-VNNI */
extern const kernels kernels_avx512;
extern const kernels kernels_avx512_vnni; /* avx512 with those by AVX-512 VNNI */
extern const kernels kernels_avx512_bf16; /* avx512_vnni with products in bf16 by instructions for them */
extern const kernels kernels_amx;         /* avx512_bf16 with the tiles of AMX */
extern const kernels kernels_neon;
extern const kernels kernels_neon_dot; /* neon with products of quantized weights by the dot product of Armv8.2 */
extern const kernels_gemm kernels_bf16_scalar, kernels_bf16_weights_scalar, kernels_f16_weights_scalar; /* with TABLE_LENDS */
extern const kernels_quantized kernels_quantized_scalar;
extern const kernels kernels_simd128; /* WebAssembly */
extern const kernels kernels_relaxed; /* WebAssembly with relaxed SIMD, which has the bits of the others only where */
bool kernels_relaxed_is_fused(void);  /* this engine fuses its multiply-adds */
extern const kernels_gemm kernels_gemm_avx512_bf16, kernels_gemm_amx; /* their products */
extern const kernels_quantized kernels_quantized_avx512_vnni, kernels_quantized_avx_vnni, kernels_quantized_neon_dot;
#endif

/* The names of all ISAs of this build, best last, NULL at the end. */
extern const char *const kernels_names[];

/* The table of an ISA. NULL with a message: unknown name, or this CPU (or its OS) lacks it, or the processor that the
 * environment's RAPT_CPU_MASK names (for tests: base/cpu.h); or that name is unknown, or no mask of this CPU. */
const kernels *kernels_of_isa(const char *name, rapt_error *err);

/* The table that this process uses: the best one, or the one that the environment variable RAPT_ISA names. NULL with a message if
 * RAPT_ISA is unknown or this machine lacks it. Thread-safe. */
const kernels *kernels_active(rapt_error *err);

#endif
