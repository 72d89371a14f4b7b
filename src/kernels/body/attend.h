/* kernels/body/attend.h: attention of one query: scores, softmax and weighted sum, with the same order of sums as the GEMM and
 * `softmax`. For decoding steps, whose heads are so small that calling those kernels would take as long as the computation. Each
 * of the three stages is computed for all heads before the next, so that the chains of dependent instructions of several heads
 * overlap. Several queries are faster with the GEMM (ops/attention_head.c). */
#ifndef KERNELS_BODY_ATTEND_H
#define KERNELS_BODY_ATTEND_H

#define ATTEND_VECTORS 4 /* vectors of values that are summed side by side: enough independent sums to hide the latency of one */
#define ATTEND_AHEAD 16  /* values from the prefetch of a row to its use: hardware does not foresee their stride */
#define ATTEND_HEADS 4   /* query heads of one key-value head that read its keys and values together */

/* ---- scores: q K^T ------------------------------------------------------------------------------------------------ */

/* Scores of the first 16 * vectors keys of a panel of K^T. */
VEC void attend_panel(const int vectors, size_t d, const rapt_real *q, const rapt_real *panel, rapt_real *scores)
{
    v16 sum[GEMM_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = v_zero();
    for (size_t i = 0; i < d; i++, panel += GEMM_NR) {
        const v16 x = v_broadcast(q + i, vectors);
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v] = v_fma(x, v_load(panel + 16 * v), sum[v]);
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        v_store(scores + 16 * v, sum[v]);
}

VEC void attend_panels(const kernels_query *a, const rapt_real *q, const rapt_real *panel, rapt_real *scores)
{
    for (size_t j = 0; j < a->keys; j += GEMM_NR, panel += a->d * GEMM_NR) {
        if (GEMM_VECTORS > 1 && a->keys - j > 16)
            attend_panel(GEMM_VECTORS, a->d, q, panel, scores + j);
        else
            attend_panel(1, a->d, q, panel, scores + j);
    }
}

/* sum[h] += `count` features of the query of head h, which are d apart, times the features of 16 keys. If only `keys` exist, the
 * last one stands in for the missing ones, whose scores nobody reads. */
VEC void attend_rows(const int heads, const rapt_real *q, size_t d, const rapt_real *k, ptrdiff_t k_row, size_t keys,
                     size_t count, v16 *sum)
{
    const rapt_real *last = k + (ptrdiff_t)(keys - 1) * k_row;
    v16 r[16];
    UNROLL
    for (int n = 0; n < 16; n++, k += k < last ? k_row : 0) {
        __builtin_prefetch(k + 16 * k_row);
        r[n] = v_load_n(k, count);
    }
    v_transpose(r);
    UNROLL
    for (int n = 0; n < 16; n++)
        if ((size_t)n < count)
            UNROLL
            for (int h = 0; h < heads; h++)
                sum[h] = v_fma(v_broadcast(q + h * d + n, 1), r[n], sum[h]);
}

/* Keys as they lie in a cache are turned in registers. Scores of heads are `width` apart. */
VEC void attend_keys_of(const int heads, const kernels_query *a, const rapt_real *q, const rapt_real *k, rapt_real *scores,
                        size_t width)
{
    for (size_t j = 0; j < a->keys; j += 16, k += 16 * a->k_row) {
        v16 sum[ATTEND_HEADS];
        UNROLL
        for (int h = 0; h < heads; h++)
            sum[h] = v_zero();
        EACH_VECTOR(i, count, a->d, {
            attend_rows(heads, q + i, a->d, k + i, a->k_row, pack_min(16, a->keys - j), count, sum);
        });
        UNROLL
        for (int h = 0; h < heads; h++)
            v_store(scores + h * width + j, sum[h]);
    }
}

static void attend_keys(size_t heads, const kernels_query *a, const rapt_real *q, const rapt_real *k, rapt_real *scores,
                        size_t width)
{
    switch (heads) {
    case 1: attend_keys_of(1, a, q, k, scores, width); break;
    case 2: attend_keys_of(2, a, q, k, scores, width); break;
    case 3: attend_keys_of(3, a, q, k, scores, width); break;
    default: attend_keys_of(ATTEND_HEADS, a, q, k, scores, width);
    }
}

/* ---- output: p V -------------------------------------------------------------------------------------------------- */

/* Sums 16 * vectors columns, of which the last vector has `last`, for heads whose weights are `width` and results dv apart. */
VEC void attend_columns(const int heads, const kernels_query *a, const rapt_real *p, size_t width, const rapt_real *v,
                        const int vectors, const size_t last, rapt_real *out)
{
    for (size_t from = 0; from < a->keys; from += KERNELS_K_BLOCK) {
        const size_t end = pack_min(from + KERNELS_K_BLOCK, a->keys);
        v16 sum[ATTEND_HEADS][ATTEND_VECTORS];
        UNROLL
        for (int i = 0; i < heads * vectors; i++)
            sum[i / vectors][i % vectors] = v_zero();
        for (size_t j = from; j < end; j++, v += a->v_row)
            UNROLL
            for (int i = 0; i < vectors; i++) {
                __builtin_prefetch(v + ATTEND_AHEAD * a->v_row + 16 * i);
                const v16 values = v_load_n(v + 16 * i, gemm_lanes(i, vectors, last));
                UNROLL
                for (int h = 0; h < heads; h++)
                    sum[h][i] = v_fma(v_broadcast(p + h * width + j, vectors), values, sum[h][i]);
            }
        UNROLL
        for (int i = 0; i < heads * vectors; i++) {
            const size_t lanes = gemm_lanes(i % vectors, vectors, last);
            rapt_real *to = out + (size_t)(i / vectors) * a->dv + 16 * (i % vectors);
            const v16 block = sum[i / vectors][i % vectors];
            v_store_n(to, from > 0 ? v_add(v_load_n(to, lanes), block) : block, lanes);
        }
    }
}

/* The most columns at once, for all heads. */
static void attend_wide_columns(size_t heads, const kernels_query *a, const rapt_real *p, size_t width, const rapt_real *v,
                                rapt_real *out)
{
    switch (heads) {
    case 1: attend_columns(1, a, p, width, v, ATTEND_VECTORS, 16, out); break;
    case 2: attend_columns(2, a, p, width, v, ATTEND_VECTORS, 16, out); break;
    case 3: attend_columns(3, a, p, width, v, ATTEND_VECTORS, 16, out); break;
    default: attend_columns(ATTEND_HEADS, a, p, width, v, ATTEND_VECTORS, 16, out);
    }
}

static void attend_values(size_t heads, const kernels_query *a, const rapt_real *p, size_t width, const rapt_real *v,
                          rapt_real *out)
{
    size_t c = 0;
    for (; c + 16 * ATTEND_VECTORS <= a->dv; c += 16 * ATTEND_VECTORS)
        attend_wide_columns(heads, a, p, width, v + c, out + c);
    v += c, out += c;
    for (size_t h = 0; h < heads; h++, p += width, out += a->dv) {
        const size_t pair = a->dv - c >= 32 ? 32 : 0;
        if (pair)
            attend_columns(1, a, p, width, v, 2, 16, out);
        EACH_VECTOR(i, count, a->dv - c - pair, {
            attend_columns(1, a, p, width, v + pair + i, 1, count, out + pair + i);
        });
    }
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

/* The key-value head that head h reads. Without a division for small heads. */
VEC size_t attend_from(const kernels_query *a, size_t h)
{
    return a->group == 1 ? a->first + h : (a->first + h) / a->group;
}

/* The heads from h on that read the same keys, at most ATTEND_HEADS. */
VEC size_t attend_together(const kernels_query *a, size_t h)
{
    return a->group == 1 ? 1 : pack_min(ATTEND_HEADS, pack_min(a->group - (a->first + h) % a->group, a->heads - h));
}

static void attend(const kernels_query *a)
{
    const size_t width = (a->keys + KERNELS_LANES - 1) / KERNELS_LANES * KERNELS_LANES;
    for (size_t h = 0, count; h < a->heads; h += count) {
        const size_t from = attend_from(a, h);
        count = a->panels ? 1 : attend_together(a, h);
        if (a->panels)
            attend_panels(a, a->q + h * a->d, a->panels + from * a->panels_head, a->p + h * width);
        else
            attend_keys(count, a, a->q + h * a->d, a->k + from * a->d, a->p + h * width, width);
    }
    for (size_t h = 0; h < a->heads; h++)
        softmax(width, a->keys, a->p + h * width, a->keep, a->scale, a->p + h * width, &a->max[h], &a->inv_sum[h]);
    for (size_t h = 0, count; h < a->heads; h += count) {
        count = attend_together(a, h);
        attend_values(count, a, a->p + h * width, width, a->v + attend_from(a, h) * a->dv, a->out + h * a->dv);
    }
}

#endif
