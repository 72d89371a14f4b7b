/* kernels/body/attend.h: attention of one query: scores, softmax and weighted sum, with the same order of sums as the GEMM and
 * `softmax`. For decoding steps, whose heads are so small that calling those kernels would take as long as the computation. Each
 * of the three stages is computed for all heads before the next, so that the chains of dependent instructions of several heads
 * overlap. Several queries are faster with the GEMM (ops/attention_head.c). */
#ifndef KERNELS_BODY_ATTEND_H
#define KERNELS_BODY_ATTEND_H

#define ATTEND_VECTORS 4 /* vectors of values that are summed side by side: enough independent sums to hide the latency of one */
#define ATTEND_AHEAD 16  /* values from the prefetch of a row to its use: hardware does not foresee their stride */

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

/* sum += `count` features of the query times the features of 16 keys. If only `keys` exist, the last one stands in for the
 * missing ones, whose scores nobody reads. */
VEC v16 attend_rows(const rapt_real *q, const rapt_real *k, ptrdiff_t k_row, size_t keys, size_t count, v16 sum)
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
            sum = v_fma(v_broadcast(q + n, 1), r[n], sum);
    return sum;
}

/* Keys as they lie in a cache are turned in registers. */
VEC void attend_keys(const kernels_query *a, const rapt_real *q, const rapt_real *k, rapt_real *scores)
{
    for (size_t j = 0; j < a->keys; j += 16, k += 16 * a->k_row) {
        v16 sum = v_zero();
        EACH_VECTOR(i, count, a->d, {
            sum = attend_rows(q + i, k + i, a->k_row, pack_min(16, a->keys - j), count, sum);
        });
        v_store(scores + j, sum);
    }
}

/* ---- output: p V -------------------------------------------------------------------------------------------------- */

/* Sums 16 * vectors columns, of which the last vector has `last`. */
VEC void attend_columns(const kernels_query *a, const rapt_real *p, const rapt_real *v, const int vectors, const size_t last,
                        rapt_real *out)
{
    for (size_t from = 0; from < a->keys; from += KERNELS_K_BLOCK) {
        const size_t end = pack_min(from + KERNELS_K_BLOCK, a->keys);
        v16 sum[ATTEND_VECTORS];
        UNROLL
        for (int i = 0; i < vectors; i++)
            sum[i] = v_zero();
        for (size_t j = from; j < end; j++, v += a->v_row) {
            const v16 x = v_broadcast(p + j, vectors);
            UNROLL
            for (int i = 0; i < vectors; i++) {
                __builtin_prefetch(v + ATTEND_AHEAD * a->v_row + 16 * i);
                sum[i] = v_fma(x, v_load_n(v + 16 * i, gemm_lanes(i, vectors, last)), sum[i]);
            }
        }
        UNROLL
        for (int i = 0; i < vectors; i++) {
            const size_t lanes = gemm_lanes(i, vectors, last);
            v_store_n(out + 16 * i, from > 0 ? v_add(v_load_n(out + 16 * i, lanes), sum[i]) : sum[i], lanes);
        }
    }
}

VEC void attend_values(const kernels_query *a, const rapt_real *p, const rapt_real *v, rapt_real *out)
{
    size_t c = 0;
    for (; c + 16 * ATTEND_VECTORS <= a->dv; c += 16 * ATTEND_VECTORS)
        attend_columns(a, p, v + c, ATTEND_VECTORS, 16, out + c);
    if (c + 32 <= a->dv) {
        attend_columns(a, p, v + c, 2, 16, out + c);
        c += 32;
    }
    EACH_VECTOR(i, count, a->dv - c, {
        attend_columns(a, p, v + c + i, 1, count, out + c + i);
    });
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

static void attend(const kernels_query *a)
{
    const size_t width = (a->keys + KERNELS_LANES - 1) / KERNELS_LANES * KERNELS_LANES;
    for (size_t h = 0; h < a->heads; h++) {
        const size_t from = (a->first + h) / a->group;
        if (a->panels)
            attend_panels(a, a->q + h * a->d, a->panels + from * a->panels_head, a->p + h * width);
        else
            attend_keys(a, a->q + h * a->d, a->k + from * a->d, a->p + h * width);
    }
    for (size_t h = 0; h < a->heads; h++)
        softmax(width, a->keys, a->p + h * width, a->keep, a->scale, a->p + h * width, &a->max[h], &a->inv_sum[h]);
    for (size_t h = 0; h < a->heads; h++)
        attend_values(a, a->p + h * width, a->v + (a->first + h) / a->group * a->dv, a->out + h * a->dv);
}

#endif
