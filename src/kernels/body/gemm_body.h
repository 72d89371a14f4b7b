/* kernels/body/gemm_body.h: one tile of C = A B, with its sums in registers from the first product to the epilogue. For the GEMM
 * driver, through the table. An ISA first defines GEMM_MR rows, GEMM_VECTORS vectors of 16 columns, and GEMM_A_STRIDE.
 * GEMM_TILE(gemm_tile, GEMM_ELEMENTS) makes a function for a kind of packed numbers. Blocking is in tensor/gemm.c, packing in
 * body/pack_body.h. */
#ifndef KERNELS_BODY_GEMM_BODY_H
#define KERNELS_BODY_GEMM_BODY_H

#define GEMM_NR (16 * GEMM_VECTORS)
#define GEMM_AHEAD 16     /* steps of k from the prefetch of an operand to its use: some 400 cycles */
/* Up to this many rows (decoding), a packed panel is as often in memory as in a cache, and read front to back: the hardware
 * prefetcher is better at that than software prefetch. */
#define GEMM_FEW (GEMM_MR / 2 + 1)
#define GEMM_ROW_GROUP 3 /* rows that share a pointer: few enough pointers for 16 registers */
#define GEMM_ROWS 16 /* that sums have capacity for */
#define GEMM_POINTERS ((GEMM_ROWS + GEMM_ROW_GROUP - 1) / GEMM_ROW_GROUP)

/* An ISA whose v_fma is a call defines an inlined one. */
#ifndef GEMM_FMA
#define GEMM_FMA v_fma
#endif

/* What a packed number of B is: an element; a pair of bf16 values that are adjacent along K, as in A; or such a pair of bf16 or
 * binary16 weights, which are widened while A has elements, with the same sums as for elements. */
enum { GEMM_ELEMENTS = 1, GEMM_PAIRS, GEMM_BF16_WEIGHTS, GEMM_F16_WEIGHTS };
#define GEMM_IS_WIDENED(KIND) ((KIND) >= GEMM_BF16_WEIGHTS)

/* A loop over the sums of a tile of m rows. */
#define EACH_SUM(i, v)          \
    UNROLL                      \
    for (int i = 0; i < m; i++) \
        UNROLL                  \
        for (int v = 0; v < vectors; v++)

typedef struct gemm_operands {
    size_t kc;
    const rapt_real *a;
    ptrdiff_t a_row, a_col;
    const rapt_real *b;
    ptrdiff_t b_row;
    size_t b_lanes; /* columns of a tile of one vector: a narrow matrix is read in place, and no further */
} gemm_operands;

/* Prefetches what a later step reads. Rows of B, or of a transposed A, are far apart in memory, and the hardware prefetcher does
 * not predict them. The first row tile that reads a packed panel gets it from memory, later tiles from a cache; all of them
 * prefetch the next panel, so that it is in the L2 cache by then. Tiles of one vector leave packed operands to the hardware: they
 * are bound by loads, and each prefetch takes the place of one. */
VEC void gemm_ahead(const int m, const int vectors, const gemm_operands *o, const rapt_real *a, const rapt_real *b)
{
    UNROLL
    for (int v = 0; v < vectors; v++) {
        if (o->b_row != GEMM_NR || GEMM_VECTORS > 1)
            __builtin_prefetch(b + GEMM_AHEAD * o->b_row + 16 * v);
        if (o->b_row == GEMM_NR && GEMM_VECTORS > 1)
            __builtin_prefetch(b + o->kc * GEMM_NR + 16 * v, 0, 2);
    }
    if (o->a_row == 1 && (o->a_col != GEMM_A_STRIDE || GEMM_VECTORS > 1)) {
        __builtin_prefetch(a + GEMM_AHEAD * o->a_col);
        __builtin_prefetch(a + GEMM_AHEAD * o->a_col + m - 1);
    }
}

/* sum + a b, for elements or pairs. */
WORD v16 gemm_add_product(const int kind, v16 a, v16 b, v16 sum)
{
#ifndef RAPT_DOUBLE
    if (kind == GEMM_PAIRS)
        return v_dot(a, b, sum);
#endif
    (void)kind;
    return GEMM_FMA(a, b, sum);
}

/* 16 columns of B for one number of A; for widened pairs the first element or, with `second`, the second. */
WORD v16 gemm_column(const int kind, const rapt_real *b, const int second)
{
#ifndef RAPT_DOUBLE
    if (GEMM_IS_WIDENED(kind))
        return kind == GEMM_BF16_WEIGHTS ? v_widen_bf16(b, second) : v_widen_f16(b, second);
#endif
    (void)kind, (void)second;
    return v_load(b);
}

/* sum[i][v] += row i of A times the 16 columns of vector v, for one k. `a` has a pointer a group of rows. */
WORD void gemm_step(const int kind, const int m, const int vectors, const rapt_real *const *a, ptrdiff_t a_row,
                   const rapt_real *b, size_t b_lanes, const int second, v16 sum[GEMM_ROWS][GEMM_VECTORS])
{
    v16 column[GEMM_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        const bool narrow = vectors == 1 && !GEMM_IS_WIDENED(kind); /* only elements are read in place */
        column[v] = narrow ? v_load_n(b, b_lanes) : gemm_column(kind, b + 16 * v, second);
    }
    UNROLL
    for (int i = 0; i < m; i++) {
        v16 x = v_broadcast(a[i / GEMM_ROW_GROUP] + i % GEMM_ROW_GROUP * a_row, vectors);
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = gemm_add_product(kind, x, column[v], sum[i][v]);
    }
}

/* The next k of A. */
WORD void gemm_advance(const int m, const rapt_real **a, ptrdiff_t a_col)
{
    UNROLL
    for (int g = 0; g < (m + GEMM_ROW_GROUP - 1) / GEMM_ROW_GROUP; g++)
        a[g] += a_col;
}

/* The products of each row and column, added one by one from 0. */
VEC void gemm_sums(const int kind, const int m, const int vectors, gemm_operands o, v16 sum[GEMM_ROWS][GEMM_VECTORS])
{
    const rapt_real *a[GEMM_POINTERS];
    UNROLL
    for (int g = 0; g < (m + GEMM_ROW_GROUP - 1) / GEMM_ROW_GROUP; g++)
        a[g] = o.a + g * GEMM_ROW_GROUP * o.a_row;
    EACH_SUM(i, v) sum[i][v] = v_zero();
    const rapt_real *b = o.b;
    for (size_t k = 0; k < o.kc; k++) {
        if (m > GEMM_FEW || o.b_row != GEMM_NR)
            gemm_ahead(m, vectors, &o, a[0], b);
        gemm_step(kind, m, vectors, a, o.a_row, b, o.b_lanes, 0, sum);
        gemm_advance(m, a, o.a_col);
        if (GEMM_IS_WIDENED(kind)) {
            gemm_step(kind, m, vectors, a, o.a_row, b, o.b_lanes, 1, sum);
            gemm_advance(m, a, o.a_col);
        }
        b += o.b_row;
    }
}

/* The number of lanes of vector v that exist: only the last vector of a short tile has fewer than 16. */
VEC size_t gemm_lanes(int v, const int vectors, size_t last) { return v + 1 < vectors ? 16 : last; }

/* The epilogue: one pass over the registers for each of its parts. `last`: columns of the last vector. */
VEC void gemm_finish(const int m, const int vectors, size_t last, v16 (*sum)[GEMM_VECTORS],
                     rapt_real *c, ptrdiff_t ldc, const kernels_epilogue *epilogue)
{
    if (epilogue->accumulate)
        EACH_SUM(i, v)
            sum[i][v] = v_add(v_load_n(c + i * ldc + 16 * v, gemm_lanes(v, vectors, last)), sum[i][v]);
    if (epilogue->bias) {
        v16 bias[GEMM_VECTORS];
        UNROLL
        for (int v = 0; v < vectors; v++)
            bias[v] = v_load_n(epilogue->bias + 16 * v, gemm_lanes(v, vectors, last));
        EACH_SUM(i, v) sum[i][v] = v_add(sum[i][v], bias[v]);
    }
    if (epilogue->relu)
        EACH_SUM(i, v) sum[i][v] = v_max(v_zero(), sum[i][v]);
    EACH_SUM(i, v) v_store_n(c + i * ldc + 16 * v, sum[i][v], gemm_lanes(v, vectors, last));
}

VEC void gemm_rows(const int kind, const int m, const int vectors, int n, gemm_operands o, rapt_real *c, ptrdiff_t ldc,
                   const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_ROWS][GEMM_VECTORS];
    UNROLL
    for (int i = 0; i < m; i++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            __builtin_prefetch(c + i * ldc + 16 * v, 1);
    gemm_sums(kind, m, vectors, o, sum);
    if (n % 16 == 0)
        gemm_finish(m, vectors, 16, sum, c, ldc, epilogue);
    else
        gemm_finish(m, vectors, (size_t)n % 16, sum, c, ldc, epilogue);
}

#define GEMM_AT(A_ROW, A_COL, B_ROW) (gemm_operands){o.kc, o.a, A_ROW, A_COL, o.b, B_ROW, o.b_lanes}

/* With constant strides the loop over k has no branch and few pointers. Only elements of B are read in place; a tile of one
 * vector in place of two is the edge of a matrix. */
VEC void gemm_strides(const int kind, const int m, const int vectors, int n, gemm_operands o, rapt_real *c, ptrdiff_t ldc,
                      const kernels_epilogue *epilogue)
{
    const bool panel = kind != GEMM_ELEMENTS || o.b_row == GEMM_NR;
    if (vectors < GEMM_VECTORS)
        gemm_rows(kind, m, vectors, n, o, c, ldc, epilogue);
    else if (panel && o.a_row == 1 && o.a_col == GEMM_A_STRIDE)
        gemm_rows(kind, m, vectors, n, GEMM_AT(1, GEMM_A_STRIDE, GEMM_NR), c, ldc, epilogue);
    else if (panel && o.a_row == 1)
        gemm_rows(kind, m, vectors, n, GEMM_AT(1, o.a_col, GEMM_NR), c, ldc, epilogue);
    else if (panel)
        gemm_rows(kind, m, vectors, n, GEMM_AT(o.a_row, o.a_col, GEMM_NR), c, ldc, epilogue);
    else if (o.a_row == 1)
        gemm_rows(kind, m, vectors, n, GEMM_AT(1, o.a_col, o.b_row), c, ldc, epilogue);
    else
        gemm_rows(kind, m, vectors, n, o, c, ldc, epilogue);
}

#define GEMM_STREAMS 2 /* panels that a row reads at once: memory delivers two faster than one, four or eight */

/* sum[p][v] += *a times the columns of each panel, for one k. */
VEC void gemm_streams_step(const int kind, const int panels, const rapt_real *a, const rapt_real *b, size_t panel,
                           const int second, v16 sum[GEMM_STREAMS][1][GEMM_VECTORS])
{
    const v16 x = v_broadcast(a, panels * GEMM_VECTORS);
    UNROLL
    for (int p = 0; p < panels; p++)
        UNROLL
        for (int v = 0; v < GEMM_VECTORS; v++)
            sum[p][0][v] = gemm_add_product(kind, x, gemm_column(kind, b + (size_t)p * panel + 16 * v, second), sum[p][0][v]);
}

/* Prefetches the part of the next panels for this k, because a short panel ends before the hardware prefetcher has got far ahead.
 * Long panels would only take longer: two threads already read them at the memory bandwidth. */
VEC void gemm_streams_ahead(const int panels, const rapt_real *b, size_t panel)
{
    UNROLL
    for (int p = 0; p < panels; p++)
        UNROLL
        for (int v = 0; v < GEMM_VECTORS; v++)
            __builtin_prefetch(b + (size_t)(panels + p) * panel + 16 * v);
}

/* One row times `panels` panels side by side. */
VEC void gemm_streams(const int kind, const int panels, size_t kc, const rapt_real *a, ptrdiff_t a_col, const rapt_real *b,
                      size_t panel, rapt_real *c, const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_STREAMS][1][GEMM_VECTORS];
    UNROLL
    for (int p = 0; p < panels; p++)
        UNROLL
        for (int v = 0; v < GEMM_VECTORS; v++)
            sum[p][0][v] = v_zero();
    for (size_t k = 0; k < kc; k++, a += a_col, b += GEMM_NR) {
        if (GEMM_IS_WIDENED(kind) && GEMM_VECTORS == 1 && panels > 1)
            gemm_streams_ahead(panels, b, panel);
        gemm_streams_step(kind, panels, a, b, panel, 0, sum);
        if (GEMM_IS_WIDENED(kind))
            gemm_streams_step(kind, panels, a += a_col, b, panel, 1, sum);
    }
    UNROLL
    for (int p = 0; p < panels; p++) {
        kernels_epilogue part = {epilogue->accumulate, epilogue->bias ? epilogue->bias + p * GEMM_NR : NULL, epilogue->relu};
        gemm_finish(1, GEMM_VECTORS, 16, sum[p], c + p * GEMM_NR, 0, &part);
    }
}

#define GEMM_ROW(NAME, KIND)                                                                                          \
    static void NAME(size_t panels, size_t kc, const rapt_real *a, ptrdiff_t a_col, const rapt_real *b, size_t panel, \
                     rapt_real *c, const kernels_epilogue *epilogue)                                                          \
    {                                                                                                                 \
        for (size_t done = 0; done < panels; done += GEMM_STREAMS) {                                                  \
            const rapt_real *from = b + done * panel;                                                                 \
            kernels_epilogue part = *epilogue;                                                                                \
            part.bias = epilogue->bias ? epilogue->bias + done * GEMM_NR : NULL;                                              \
            if (panels - done >= GEMM_STREAMS)                                                                        \
                gemm_streams(KIND, GEMM_STREAMS, kc, a, a_col, from, panel, c + done * GEMM_NR, &part);               \
            else                                                                                                      \
                gemm_streams(KIND, 1, kc, a, a_col, from, panel, c + done * GEMM_NR, &part);                          \
        }                                                                                                             \
    }

/* One function for each number of rows, so that the sums are registers. */
typedef void gemm_function(int n, const gemm_operands *o, rapt_real *c, ptrdiff_t ldc,
                           const kernels_epilogue *epilogue);

#define GEMM_FUNCTION(NAME, KIND, M)                                                                \
    static __attribute__((noinline)) void NAME##_##M(int n, const gemm_operands *o, rapt_real *c,   \
                                                     ptrdiff_t ldc, const kernels_epilogue *epilogue)       \
    {                                                                                               \
        if (M > GEMM_MR)                                                                            \
            return;                                                                                 \
        if (GEMM_VECTORS > 1 && n <= 16)                                                            \
            gemm_strides(KIND, M, 1, n, *o, c, ldc, epilogue);                                          \
        else                                                                                        \
            gemm_strides(KIND, M, GEMM_VECTORS, n, *o, c, ldc, epilogue);                               \
    }
#define GEMM_EACH(DO, NAME, KIND)                                                                          \
    DO(NAME, KIND, 1) DO(NAME, KIND, 2) DO(NAME, KIND, 3) DO(NAME, KIND, 4) DO(NAME, KIND, 5)              \
    DO(NAME, KIND, 6) DO(NAME, KIND, 7) DO(NAME, KIND, 8) DO(NAME, KIND, 9) DO(NAME, KIND, 10)             \
    DO(NAME, KIND, 11) DO(NAME, KIND, 12) DO(NAME, KIND, 13) DO(NAME, KIND, 14)
#define GEMM_ADDRESS(NAME, KIND, M) NAME##_##M,

#define GEMM_TILE(NAME, KIND)                                                                                    \
    GEMM_EACH(GEMM_FUNCTION, NAME, KIND)                                                                         \
    static void NAME(int m, int n, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col,              \
                     const rapt_real *b, ptrdiff_t b_row, rapt_real *c, ptrdiff_t ldc, const kernels_epilogue *epilogue) \
    {                                                                                                            \
        static gemm_function *const functions[] = {GEMM_EACH(GEMM_ADDRESS, NAME, KIND)};                         \
        const gemm_operands o = {kc, a, a_row, a_col, b, b_row, (size_t)n};                                      \
        functions[m - 1](n, &o, c, ldc, epilogue);                                                                   \
    }

#endif
