/* ops/attention_backward.c: the backward pass of one head of the fused attention. The weights are recomputed, bit for bit,
 * from each row's maximum and sum, which the forward pass (attention_head.c) keeps. For attention_op.c, which has the
 * formulas. */
#include "ops/attention_op.h"

#include <string.h>

/* The destinations of one head's gradients; each pointer may be NULL. */
typedef struct head_gradients {
    rapt_real *dq, *dk, *dv;  /* [queries, d], [keys, d], [keys, dv], rows ld apart */
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
    bool again = h->head % n->group > 0; /* an earlier head of the group has filled them */
    return (head_gradients){gradient_slice(n->q, loop->dq, h->query_rows, h->head, n->d),
                            gradient_slice(n->k, loop->dk, h->key_rows, h->kv_head, n->d),
                            gradient_slice(n->v, loop->dv, h->key_rows, h->kv_head, n->dv),
                            rapt_tensor_features(n->q), rapt_tensor_features(n->k), rapt_tensor_features(n->v),
                            loop->add_q, loop->add_k || again, loop->add_v || again};
}

/* out [seen, width] (+)= rows^T [seen, m] times b [m, width]. */
static void attention_multiply_transposed(const attention_head *h, const query_tile *tile, const rapt_real *rows,
                                          matrix b, size_t width, rapt_real *panels, rapt_real *out, size_t ldo, bool add)
{
    panel_matrix operand = attention_operand(h, tile->m, width, b, panels);
    panels_multiply(h->gemm, tile->seen, width, tile->m, &(matrix){rows, 1, (ptrdiff_t)tile->width}, &operand, out, ldo,
                    &(kernels_epilogue){.accumulate = add});
}

typedef struct backward_scratch {
    rapt_real *keys_t, *values_t; /* K^T [d, seen] and V^T [dv, seen], in panels */
    panel_matrix keys;            /* K [seen, d] */
    rapt_real *panels;            /* panels of dO or Q of a tile, [m, dv] or [m, d] */
    rapt_real *weights, *dropped, *dscores; /* P, D and dS of a tile, [m, width] each */
    rapt_real *slopes;            /* derivatives of capped scores, [m, width]; NULL: scores are not capped */
} backward_scratch;

/* Lays out the memory and packs what all tiles of queries read. */
static backward_scratch attention_backward_prepare(const attention_head *h, rapt_real *from)
{
    const attention_node *n = h->n;
    backward_scratch s;
    s.keys_t = attention_take(&from, panels_size(h->gemm, n->d, h->seen));
    s.keys = attention_operand(h, h->seen, n->d, h->k, attention_take(&from, panels_size(h->gemm, h->seen, n->d)));
    s.values_t = attention_take(&from, panels_size(h->gemm, n->dv, h->seen));
    const matrix keys_t = attention_transposed(h->k), values_t = attention_transposed(h->v);
    panels_pack(h->gemm, n->d, h->seen, &keys_t, s.keys_t);
    panels_pack(h->gemm, n->dv, h->seen, &values_t, s.values_t);
    s.panels = attention_take(&from, panels_size(h->gemm, QUERY_TILE, n->d > n->dv ? n->d : n->dv));
    s.weights = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    s.dropped = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    s.dscores = attention_take(&from, QUERY_TILE * attention_vectors(h->seen));
    s.slopes = n->cap != 0 ? attention_take(&from, QUERY_TILE * attention_vectors(h->seen)) : NULL;
    return s;
}

size_t attention_backward_size(const kernels_gemm *kn, const attention_node *n)
{
    size_t width = n->d > n->dv ? n->d : n->dv, line = KERNELS_ALIGN / sizeof(rapt_real);
    return panels_size(kn, n->d, n->keys) + panels_size(kn, n->keys, n->d) + panels_size(kn, n->dv, n->keys) +
           panels_size(kn, QUERY_TILE, width) + (n->cap != 0 ? 4 : 3) * QUERY_TILE * attention_vectors(n->keys) + 9 * line;
}

/* Computes the rows of one tile of queries; names as in attention_op.c. Each step names the step of the forward pass that it
 * inverts. */
static void attention_backward_tile(const attention_head *h, const query_tile *tile, const backward_scratch *s,
                                    const head_gradients *g)
{
    const attention_node *n = h->n;
    size_t width = tile->width;
    matrix dout = matrix_at(attention_slice(n->out, n->out->grad, h->query_rows, h->head, n->dv), tile->first, 0); /* [m, dv] */
    matrix q = matrix_at(h->q, tile->first, 0);                                                                    /* [m, d] */

    /* 1. P and D again, bit for bit as in the forward pass */
    attention_scores(h, tile, s->keys_t, s->weights, s->slopes);
    for (size_t r = 0; r < tile->m; r++) {
        mask_row mask = attention_mask_row(h, tile->first + r);
        size_t at = attention_row(h, tile->first + r);
        if (attention_is_biased(&n->bias))
            attention_bias_row(n, h->head, mask_past(&n->mask, h->example) + tile->first + r, tile->seen, s->weights + r * width);
        h->kn->softmax_recompute(width, mask.count, s->weights + r * width, mask.keep, attention_rest_scale(n),
                                 n->row_max[at], n->row_inv_sum[at], s->weights + r * width);
    }
    const rapt_real *dropped = n->drops ? s->dropped : s->weights;
    if (n->drops) {
        memcpy(s->dropped, s->weights, tile->m * width * sizeof *s->dropped);
        attention_drop(h, tile, s->dropped);
    }

    /* 2. dV (+)= D^T dO; forward: O = D V */
    if (g->dv)
        attention_multiply_transposed(h, tile, dropped, dout, n->dv, s->panels, g->dv, g->ldv, g->add_v);
    if (!g->dq && !g->dk)
        return;

    /* 3. dD = dO V^T, then in its place dS = scale (D dD - P rowsum(D dD)); forward: D = dropout(softmax(scale S)) */
    attention_times_keys(h, tile, n->dv, &dout, s->values_t, s->dscores);
    for (size_t r = 0; r < tile->m * width; r += width)
        h->kn->softmax_backward(width, s->weights + r, dropped + r, s->dscores + r, n->cap != 0 ? 1 : n->scale, s->dscores + r);
    if (n->cap != 0)
        h->kn->mul(tile->m * width, s->dscores, s->slopes, s->dscores);

    /* 4. dQ (+)= dS K and dK (+)= dS^T Q; forward: S = Q K^T */
    if (g->dq)
        panels_multiply(h->gemm, tile->m, n->d, tile->seen, &(matrix){s->dscores, (ptrdiff_t)width, 1}, &s->keys,
                        g->dq + tile->first * g->ldq, g->ldq, &(kernels_epilogue){.accumulate = g->add_q});
    if (g->dk)
        attention_multiply_transposed(h, tile, s->dscores, q, n->d, s->panels, g->dk, g->ldk, g->add_k);
}

/* Zeroes gradients of keys that no query attends to, and of queries that attend to nothing. */
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

/* Goes from the last tile to the first: the last tile attends to all keys that any tile attends to, so the others can add to the
 * gradients that it has filled. */
void attention_backward_head(const attention_loop *loop, size_t item, rapt_real *scratch)
{
    attention_head h;
    attention_set_example(&h, loop, item / loop->n->heads);
    attention_set_head(&h, item % loop->n->heads);
    head_gradients g = gradients_of(loop, &h);
    clear_unseen(&h, &g);
    if (h.seen == 0)
        return;
    size_t queries = h.query_rows.count;
    backward_scratch s = attention_backward_prepare(&h, scratch);
    for (size_t tiles = (queries + QUERY_TILE - 1) / QUERY_TILE; tiles > 0; tiles--) {
        query_tile tile = attention_tile(&h, (tiles - 1) * QUERY_TILE);
        attention_backward_tile(&h, &tile, &s, &g);
        g.add_k = g.add_v = true;
    }
}
