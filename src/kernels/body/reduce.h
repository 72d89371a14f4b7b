/* kernels/body/reduce.h: sums and searches over a row, in the order that kernels.h fixes. For norms,
 * clipping, bias gradients and greedy decoding.
 * Not the sums inside softmax and layer norm: those stay with their formulas. */
#ifndef KERNELS_BODY_REDUCE_H
#define KERNELS_BODY_REDUCE_H

#define COLUMN_BLOCK 64 /* columns summed together: enough independent additions to hide their latency */

static rapt_real sum_row(size_t n, const rapt_real *x)
{
    v16 sums = v_zero();
    EACH_VECTOR(i, k, n, {
        sums = v_add(sums, v_load_n(x + i, k));
    });
    return v_sum(sums);
}

static rapt_real sum_squares_row(size_t n, const rapt_real *x)
{
    v16 sums = v_zero();
    EACH_VECTOR(i, k, n, {
        v16 v = v_load_n(x + i, k);
        sums = v_fma(v, v, sums);
    });
    return v_sum(sums);
}

/* 0 x is 0 for finite x and NaN for all others, and a NaN stays in the sum. */
static bool all_finite_row(size_t n, const rapt_real *x)
{
    v16 sums = v_zero();
    EACH_VECTOR(i, k, n, {
        sums = v_fma(v_load_n(x + i, k), v_zero(), sums);
    });
    return v_sum(sums) == 0;
}

/* Finds the largest value, then the first place that holds it: two passes over cached data, but no vectors of indices. */
static size_t argmax_row(size_t n, const rapt_real *x)
{
    const v16 max = v_set1(row_max(n, x));
    EACH_VECTOR(i, k, n, {
        unsigned hits = m_bits(m_eq(v_load_n(x + i, k), max)) & m_bits(m_first(k));
        if (hits)
            return i + (size_t)__builtin_ctz(hits);
    });
    return 0; /* all elements are NaN */
}

#define FIND_VECTORS 4 /* vectors that are compared together, because nearly always none of them has such an element */

static size_t first_at_least_row(size_t n, const rapt_real *x, rapt_real limit)
{
    const v16 low = v_set1(limit);
    size_t from = 0;
    for (; from + 16 * FIND_VECTORS <= n; from += 16 * FIND_VECTORS) {
        v16 max = v_load(x + from);
        UNROLL
        for (int v = 1; v < FIND_VECTORS; v++)
            max = v_max(v_load(x + from + 16 * v), max);
        if (m_bits(m_ge(max, low)))
            break;
    }
    EACH_VECTOR(i, k, n - from, {
        const unsigned hits = m_bits(m_ge(v_load_n(x + from + i, k), low)) & m_bits(m_first(k));
        if (hits)
            return from + i + (size_t)__builtin_ctz(hits);
    });
    return n;
}

VEC void column_block(size_t rows, size_t columns, const rapt_real *x, size_t ld, rapt_real *out)
{
    v16 sum[COLUMN_BLOCK / 16];
    size_t lanes[COLUMN_BLOCK / 16];
    UNROLL
    for (size_t v = 0; v < COLUMN_BLOCK / 16; v++) {
        sum[v] = v_zero();
        lanes[v] = columns <= 16 * v ? 0 : columns - 16 * v < 16 ? columns - 16 * v : 16;
    }
    for (size_t i = 0; i < rows; i++)
        UNROLL
        for (size_t v = 0; v < COLUMN_BLOCK / 16; v++)
            if (lanes[v])
                sum[v] = v_add(sum[v], v_load_n(x + i * ld + 16 * v, lanes[v]));
    UNROLL
    for (size_t v = 0; v < COLUMN_BLOCK / 16; v++)
        if (lanes[v])
            v_store_n(out + 16 * v, v_add(v_load_n(out + 16 * v, lanes[v]), sum[v]), lanes[v]);
}

static void column_sums(size_t rows, size_t cols, const rapt_real *x, size_t ld, rapt_real *out)
{
    size_t j = 0;
    for (; j + COLUMN_BLOCK <= cols; j += COLUMN_BLOCK)
        column_block(rows, COLUMN_BLOCK, x + j, ld, out + j);
    if (j < cols)
        column_block(rows, cols - j, x + j, ld, out + j);
}

#endif
