/* ops/attention_backward.c: the gradients of one head of the fused attention; the weights are computed again, bit for bit,
 * from each row's maximum and sum. For attention_op.c, where the formulas stand. */
#include "ops/attention_op.h"

#include <string.h>

/* Where one head's gradients go; each pointer may be NULL. */
typedef struct head_gradients {
    rapt_real *dq, *dk, *dv;
    size_t ldq, ldk, ldv;
    bool add_q, add_k, add_v; /* they hold sums already */
} head_gradients;

static rapt_real *gradient_slice(const rapt_tensor *x, rapt_real *grad, tape_rows rows, size_t head, size_t width)
{
    return grad ? grad + rows.first * rapt_tensor_features(x) + head * width : NULL;
}

static head_gradients gradients_of(const attention_loop *loop, const attention_head *h)
{
    const attention_node *n = h->n;
    bool again = h->head % n->group > 0; /* an earlier head of the group left its part */
    return (head_gradients){gradient_slice(n->q, loop->dq, h->query_rows, h->head, n->d),
                            gradient_slice(n->k, loop->dk, h->key_rows, h->head / n->group, n->d),
                            gradient_slice(n->v, loop->dv, h->key_rows, h->head / n->group, n->dv),
                            rapt_tensor_features(n->q), rapt_tensor_features(n->k), rapt_tensor_features(n->v),
                            loop->add_q, loop->add_k || again, loop->add_v || again};
}

/* out [seen, width] (+)= rows^T [seen, m] times right [m, width]. */
static void transposed_product(const attention_head *h, const query_tile *tile, const rapt_real *rows, matrix right,
                               size_t width, rapt_real *panels, rapt_real *out, size_t ldo, bool add)
{
    panel_matrix factor = attention_operand(h, tile->m, width, right, panels);
    panels_multiply(h->gemm, tile->seen, width, tile->m, &(matrix){rows, 1, (ptrdiff_t)tile->width}, &factor, out, ldo,
                    &(kernels_epilogue){.accumulate = add});
}

typedef struct backward_scratch {
    rapt_real *keys_t, *values_t, *right, *weights, *dropped, *dscores;
    panel_matrix keys;
} backward_scratch;

/* Lays out the memory and packs what all tiles of queries read. */
static backward_scratch attention_backward_prepare(const attention_head *h, rapt_real *from)
{
    const attention_node *n = h->n;
    backward_scratch s;
    s.keys_t = attention_take(&from, panels_size(h->gemm, n->d, h->seen));
    s.keys = attention_operand(h, h->seen, n->d, h->k, attention_take(&from, panels_size(h->gemm, h->seen, n->d)));
    s.values_t = attention_take(&from, panels_size(h->gemm, n->dv, h->seen));
    panels_pack(h->gemm, n->d, h->seen, attention_transposed(h->k), s.keys_t);
    panels_pack(h->gemm, n->dv, h->seen, attention_transposed(h->v), s.values_t);
    s.right = attention_take(&from, panels_size(h->gemm, QUERY_TILE, n->d > n->dv ? n->d : n->dv));
    s.weights = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    s.dropped = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    s.dscores = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    return s;
}

size_t attention_backward_size(const kernels_gemm *kn, const attention_node *n)
{
    size_t width = n->d > n->dv ? n->d : n->dv, line = KERNELS_ALIGN / sizeof(rapt_real);
    return panels_size(kn, n->d, n->keys) + panels_size(kn, n->keys, n->d) + panels_size(kn, n->dv, n->keys) +
           panels_size(kn, QUERY_TILE, width) + 3 * QUERY_TILE * attention_vectors(n->keys) + 8 * line;
}

static void softmax_rows_again(const attention_head *h, const query_tile *tile, rapt_real *rows)
{
    const attention_node *n = h->n;
    for (size_t i = 0; i < tile->m; i++) {
        mask_row row = attention_mask_row(h, tile->first + i);
        size_t at = attention_row(h, tile->first + i);
        h->kn->softmax_recompute(tile->width, row.count, rows + i * tile->width, row.keep, n->scale, n->row_max[at],
                             n->row_inv_sum[at], rows + i * tile->width);
    }
}

/* The weights once more, before dropout and, where it drops, after. */
static const rapt_real *weights_again(const attention_head *h, const query_tile *tile, const backward_scratch *s)
{
    attention_scores(h, tile, s->keys_t, s->weights);
    softmax_rows_again(h, tile, s->weights);
    if (!h->n->drops)
        return s->weights;
    memcpy(s->dropped, s->weights, tile->m * tile->width * sizeof *s->dropped);
    attention_drop(h, tile, s->dropped);
    return s->dropped;
}

/* dscores: from the weights and the gradient of the output. */
static void score_gradients(const attention_head *h, const query_tile *tile, const matrix *dout, const rapt_real *dropped,
                            const backward_scratch *s)
{
    attention_times_keys(h, tile, h->n->dv, dout, s->values_t, s->dscores);
    for (size_t r = 0; r < tile->m * tile->width; r += tile->width)
        h->kn->softmax_backward(tile->width, s->weights + r, dropped + r, s->dscores + r, h->n->scale, s->dscores + r);
}

static void backward_tile(const attention_head *h, const query_tile *tile, const backward_scratch *s, const head_gradients *g)
{
    const attention_node *n = h->n;
    matrix dout = matrix_at(attention_slice(n->out, n->out->grad, h->query_rows, h->head, n->dv), tile->first, 0);
    const rapt_real *dropped = weights_again(h, tile, s);
    if (g->dv)
        transposed_product(h, tile, dropped, dout, n->dv, s->right, g->dv, g->ldv, g->add_v);
    if (!g->dq && !g->dk)
        return;
    score_gradients(h, tile, &dout, dropped, s);
    if (g->dq)
        panels_multiply(h->gemm, tile->m, n->d, tile->seen, &(matrix){s->dscores, (ptrdiff_t)tile->width, 1}, &s->keys,
                        g->dq + tile->first * g->ldq, g->ldq, &(kernels_epilogue){.accumulate = g->add_q});
    if (g->dk)
        transposed_product(h, tile, s->dscores, matrix_at(h->q, tile->first, 0), n->d, s->right, g->dk, g->ldk, g->add_k);
}

/* Gradients of what no query attends to, and of queries that attend to nothing. */
static void clear_unseen(const attention_head *h, const head_gradients *g)
{
    const attention_node *n = h->n;
    size_t unseen = h->key_rows.count - h->seen;
    if (g->dq && !g->add_q && h->seen == 0)
        attention_zero(h->query_rows.count, n->d, g->dq, g->ldq);
    if (g->dk && !g->add_k)
        attention_zero(unseen, n->d, g->dk + h->seen * g->ldk, g->ldk);
    if (g->dv && !g->add_v)
        attention_zero(unseen, n->dv, g->dv + h->seen * g->ldv, g->ldv);
}

static size_t last_tile(size_t queries)
{
    return (queries - 1) / QUERY_TILE * QUERY_TILE;
}

/* From the last tile to the first: the last one sees all keys that any sees, so its part is what the others add to. */
void attention_backward_head(const attention_loop *loop, size_t item, rapt_real *scratch)
{
    attention_head h = attention_head_of(loop, item);
    head_gradients g = gradients_of(loop, &h);
    clear_unseen(&h, &g);
    if (h.seen == 0)
        return;
    size_t queries = h.query_rows.count;
    backward_scratch s = attention_backward_prepare(&h, scratch);
    for (size_t i = last_tile(queries) + QUERY_TILE; i > 0; i -= QUERY_TILE) {
        query_tile tile = attention_tile(&h, i - QUERY_TILE);
        backward_tile(&h, &tile, &s, &g);
        g.add_k = g.add_v = true;
    }
}
