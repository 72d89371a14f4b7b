/* ops/attention_head.c: the forward pass of one head of the fused attention: scores, mask, softmax, dropout and weighted sum for
 * one tile of queries after the other, so that the [queries, keys] weights are never stored as a whole; all heads together if
 * there is a single query. For attention_op.c; attention_backward.c shares the functions that address a head and its tiles. The
 * unfused reference is attention_observed.c. */
#include "ops/attention_op.h"

#include "base/min.h"

#include <string.h>

#define ROWS_AHEAD 16 /* rows from the prefetch of a stored one to its widening: hardware does not foresee their stride */
#define KEY_TILE 128 /* stored keys that are widened together: whole panels of all kernels */

static const rapt_mask *mask_of(const attention_node *n)
{
    return n->masked ? &n->mask : NULL;
}

static ptrdiff_t row_stride(const rapt_tensor *x)
{
    return (ptrdiff_t)rapt_tensor_features(x);
}

/* The columns of one head in the rows of one example: [rows, width]. */
matrix attention_slice(const rapt_tensor *x, const rapt_real *data, tape_rows rows, size_t head, size_t width)
{
    return (matrix){data + rows.first * (size_t)row_stride(x) + head * width, row_stride(x), 1};
}

void attention_set_example(attention_head *h, const attention_loop *loop, size_t example)
{
    const attention_node *n = loop->n;
    h->n = n;
    h->kn = loop->t->k;
    h->gemm = loop->t->team.gemm;
    h->example = example;
    h->query_rows = tape_rows_of(n->q, example);
    h->key_rows = tape_rows_of(n->k, mask_keys_example(&n->mask, example));
    h->seen = mask_keys(mask_of(n), example, h->query_rows.count, h->key_rows.count);
    h->q = attention_slice(n->q, n->q->data, h->query_rows, 0, n->d);
    if (!n->stored.k) {
        h->k = attention_slice(n->k, n->k->data, h->key_rows, 0, n->d);
        h->v = attention_slice(n->v, n->v->data, h->key_rows, 0, n->dv);
    }
    h->key = n->key;
    h->key.example = tape_example(loop->t, example);
}

/* The beginning of the columns of a head, in rows that are `stride` apart. */
static const rapt_real *attention_data(const rapt_tensor *x, tape_rows rows, ptrdiff_t stride, size_t head, size_t width)
{
    return x->data + rows.first * (size_t)stride + head * width;
}

/* Only changes pointers: copying whole structs would stall, as it would for operands (panels_multiply_block). */
void attention_set_head(attention_head *h, size_t head)
{
    const attention_node *n = h->n;
    h->head = head;
    h->kv_head = n->group == 1 ? head : head / n->group;
    h->q.data = attention_data(n->q, h->query_rows, h->q.row, head, n->d);
    if (!n->stored.k) {
        h->k.data = attention_data(n->k, h->key_rows, h->k.row, h->kv_head, n->d);
        h->v.data = attention_data(n->v, h->key_rows, h->v.row, h->kv_head, n->dv);
    }
    attention_panels_find(n->stored.panels, h->gemm, n->d, mask_keys_example(&n->mask, h->example), h->kv_head, &h->packed);
    h->columns = h->packed.keys ? h->packed.columns : h->seen;
    h->key.head = (uint32_t)head;
}

size_t attention_row(const attention_head *h, size_t query)
{
    return h->query_rows.first * h->n->heads + h->head * h->query_rows.count + query;
}

query_tile attention_tile(const attention_head *h, size_t first)
{
    const rapt_mask *mask = mask_of(h->n);
    query_tile tile = {.first = first, .m = MIN(QUERY_TILE, h->query_rows.count - first), .seen = h->seen};
    if (mask && mask->causal)
        tile.seen = MIN(tile.seen, mask_past(mask, h->example) + first + tile.m);
    tile.width = attention_vectors(tile.seen);
    return tile;
}

panel_matrix attention_operand(const attention_head *h, size_t k, size_t n, matrix b, rapt_real *panels)
{
    if (h->query_rows.count <= QUERY_TILE && panels_can_stay(h->gemm, b, n))
        return (panel_matrix){.in_place = b};
    panels_pack(h->gemm, k, n, &b, panels);
    return (panel_matrix){.packed = panels, .rows = k};
}

void attention_times_keys(const attention_head *h, const query_tile *tile, size_t d, const matrix *rows,
                          const rapt_real *panels, rapt_real *out)
{
    panels_multiply(h->gemm, tile->m, tile->width, d, rows, &(panel_matrix){.packed = panels, .columns = h->columns}, out,
                    tile->width, &(kernels_epilogue){0});
}

void attention_scores(const attention_head *h, const query_tile *tile, const rapt_real *keys_t, rapt_real *scores,
                      rapt_real *slopes)
{
    matrix q = matrix_at(h->q, tile->first, 0);
    attention_times_keys(h, tile, h->n->d, &q, keys_t, scores);
    if (h->n->cap != 0)
        h->kn->softcap(tile->m * tile->width, h->n->scale, h->n->cap, scores, scores, slopes);
}

void attention_drop(const attention_head *h, const query_tile *tile, rapt_real *rows)
{
    if (h->n->drops)
        h->kn->dropout(&h->key, h->n->mask.past + tile->first, tile->m, tile->width, rows, tile->width, rows, tile->width);
}

/* Copies the weights of a tile to the captured ones, [batch, heads, queries, keys], which are zero after `seen`. */
static void attention_capture_tile(const attention_head *h, const query_tile *tile, const rapt_real *rows)
{
    for (size_t i = 0; i < tile->m; i++) {
        size_t row = (h->example * h->n->heads + h->head) * h->n->queries + tile->first + i;
        memcpy(h->n->weights + row * h->n->keys, rows + i * tile->width, tile->seen * sizeof *rows);
    }
}

mask_row attention_mask_row(const attention_head *h, size_t query)
{
    mask_row row = mask_row_of(mask_of(h->n), h->example, query, h->query_rows.count, h->key_rows.count);
    row.keep = mask_keep_of(row, h->n->pattern, h->n->keys);
    return row;
}

rapt_real *attention_take(rapt_real **from, size_t elements)
{
    size_t line = KERNELS_ALIGN / sizeof(rapt_real);
    rapt_real *p = *from;
    *from += (elements + line - 1) / line * line;
    return p;
}

void attention_zero(size_t rows, size_t width, rapt_real *x, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        memset(x + i * ld, 0, width * sizeof *x);
}

/* Stored keys or values first .. first + count - 1 of the head, widened to rows [count, width]. */
static matrix attention_widen(const attention_head *h, const uint8_t *stored, size_t first, size_t count, size_t width,
                              rapt_real *rows)
{
    const attention_node *n = h->n;
    const size_t kv_heads = n->heads / n->group, bytes = stored_bytes(n->stored.storage, width), stride = kv_heads * bytes;
    const uint8_t *from = stored + (h->key_rows.first + first) * stride + h->kv_head * bytes;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = from + i * stride, *ahead = row + (i + ROWS_AHEAD < count ? ROWS_AHEAD * stride : 0);
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + bytes - 1);
        stored_read(h->kn, n->stored.storage, width, row, rows + i * width);
    }
    return (matrix){rows, (ptrdiff_t)width, 1};
}

/* Packs K^T [d, seen] into panels. Stored keys are widened a few at a time into `few` [KEY_TILE, d], so that they are still in
 * the cache. */
static void attention_pack_keys(const attention_head *h, rapt_real *few, rapt_real *keys_t)
{
    const attention_node *n = h->n;
    if (!n->stored.k)
        panels_pack(h->gemm, n->d, h->seen, &(matrix){h->k.data, h->k.col, h->k.row}, keys_t);
    for (size_t j = 0; n->stored.k && j < h->seen; j += KEY_TILE) {
        const size_t count = MIN(KEY_TILE, h->seen - j);
        const matrix keys = attention_transposed(attention_widen(h, n->stored.k, j, count, n->d, few));
        panels_pack_columns(h->gemm, n->d, h->seen, j, count, &keys, keys_t);
    }
}

bool attention_is_single(const attention_head *h)
{
    const attention_node *n = h->n;
    return h->query_rows.count == 1 && h->seen > 0 && h->gemm == &h->kn->gemm && !n->stored.k && !n->drops &&
           n->capture == RAPT_CAPTURE_NONE && attention_is_plain(&n->bias, n->cap, n->d);
}

void attention_forward_single(attention_head *h, size_t first, size_t count, rapt_real *scratch)
{
    const attention_node *n = h->n;
    attention_set_head(h, first);
    const size_t at = attention_row(h, 0);
    h->kn->attend(&(kernels_query){
        .heads = count, .first = first % n->group, .group = n->group, .keys = h->seen, .d = n->d, .dv = n->dv, .q = h->q.data,
        .k = h->k.data, .panels = h->packed.keys, .panels_head = attention_panels_head(n->stored.panels), .v = h->v.data,
        .k_row = h->k.row, .v_row = h->v.row, .keep = attention_mask_row(h, 0).keep, .scale = n->scale, .p = scratch,
        .out = n->out->data + h->query_rows.first * (size_t)row_stride(n->out) + first * n->dv, .max = &n->row_max[at],
        .inv_sum = &n->row_inv_sum[at]});
}

void attention_forward_head(const attention_head *h, rapt_real *scratch)
{
    const attention_node *n = h->n;
    rapt_real *few = attention_take(&scratch, n->stored.k ? KEY_TILE * n->d : 0);
    rapt_real *widened = attention_take(&scratch, n->stored.k ? h->seen * n->dv : 0);
    const matrix v = n->stored.k ? attention_widen(h, n->stored.v, 0, h->seen, n->dv, widened) : h->v;
    size_t queries = h->query_rows.count, ldo = (size_t)row_stride(n->out);
    rapt_real *out = n->out->data + h->query_rows.first * ldo + h->head * n->dv;          /* [queries, dv], rows ldo apart */
    rapt_real *own = attention_take(&scratch, h->packed.keys ? 0 : panels_size(h->gemm, n->d, h->seen));
    const rapt_real *keys_t = h->packed.keys ? h->packed.keys : own;                      /* K^T [d, seen], in panels */
    rapt_real *v_panels = attention_take(&scratch, h->packed.values ? 0 : panels_size(h->gemm, h->seen, n->dv));
    const panel_matrix values = h->packed.values ? (panel_matrix){.packed = h->packed.values, .rows = h->packed.rows}
                                                 : attention_operand(h, h->seen, n->dv, v, v_panels); /* V [seen, dv] */
    rapt_real *rows = scratch;                                                            /* a tile's [m, width] */
    if (!h->packed.keys)
        attention_pack_keys(h, few, own);
    if (h->seen == 0)
        attention_zero(queries, n->dv, out, ldo);
    for (size_t i = 0; i < queries && (h->seen > 0 || n->weights); i += QUERY_TILE) {
        query_tile tile = attention_tile(h, i);

        /* 1. scores: S = Q K^T, unscaled */
        attention_scores(h, &tile, keys_t, rows, NULL);

        /* 2. weights: P = softmax(scale S) under the mask; the statistics from which the backward pass recomputes P are kept */
        for (size_t r = 0; r < tile.m; r++) {
            mask_row mask = attention_mask_row(h, i + r);
            size_t at = attention_row(h, i + r);
            if (attention_is_biased(&n->bias))
                attention_bias_row(n, h->head, mask_past(&n->mask, h->example) + i + r, tile.seen, rows + r * tile.width);
            h->kn->softmax(tile.width, mask.count, rows + r * tile.width, mask.keep, attention_rest_scale(n),
                           rows + r * tile.width, &n->row_max[at], &n->row_inv_sum[at]);
        }
        if (n->capture == RAPT_CAPTURE_BEFORE_DROPOUT)
            attention_capture_tile(h, &tile, rows);

        /* 3. D = dropout(P) */
        attention_drop(h, &tile, rows);
        if (n->capture == RAPT_CAPTURE_AFTER_DROPOUT)
            attention_capture_tile(h, &tile, rows);

        /* 4. output: O = D V, [m, dv] */
        panels_multiply(h->gemm, tile.m, n->dv, tile.seen, &(matrix){rows, (ptrdiff_t)tile.width, 1}, &values,
                        out + i * ldo, ldo, &(kernels_epilogue){0});
    }
}

size_t attention_forward_size(const kernels_gemm *kn, const attention_node *n)
{
    const size_t line = KERNELS_ALIGN / sizeof(rapt_real), widened = n->stored.k ? KEY_TILE * n->d + n->keys * n->dv : 0;
    return widened + panels_size(kn, n->d, n->keys) + panels_size(kn, n->keys, n->dv) +
           QUERY_TILE * attention_vectors(n->keys) + 5 * line;
}
