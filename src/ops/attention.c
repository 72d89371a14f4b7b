/* ops/attention.c: scaled dot-product attention of all heads (Vaswani et al. 2017, eq. 1), fused: scores, mask,
 * softmax, dropout and weighted sum of a few queries at a time, so that the weights of a whole sentence are never
 * stored; the backward pass computes them again, bit for bit, from each row's maximum and sum.
 *
 * Backward, for one head, P the weights before and D after dropout:
 *   dV = D^T dO,  dD = dO V^T,  dS = (D dD - P rowsum(D dD)) / sqrt(d),  dQ = dS K,  dK = dS^T Q,
 * where dropout's own gradient needs no second mask: P times dropout(dD) is D dD. */
#include "ops/mask.h"
#include "ops/tape.h"

#include <math.h>
#include <string.h>

#define QUERY_TILE 56 /* queries handled together: a multiple of the row tiles of all kernels but a few rows */
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct attention_node {
    tape_node node;
    rapt_tensor *q, *k, *v, *out;
    size_t batch, queries, keys; /* of the longest example */
    size_t heads, d, dv;
    size_t group;                /* query heads that share a head of keys and values */
    rapt_mask mask;      /* the caller's arrays are copied: they must last until the backward pass */
    bool masked, drops;
    kernels_dropout key;
    rapt_real scale;
    rapt_real *row_max, *row_inv_sum; /* of each query of each head of each example */
    rapt_weights_wish wish;
    rapt_real *weights;               /* [batch, heads, queries, keys], or NULL */
} attention_node;

typedef struct attention_loop {
    rapt_tape *t;
    const attention_node *n;
    rapt_real *scratch;
    size_t scratch_size; /* numbers, for each worker */
    rapt_real *dq, *dk, *dv;
    bool add_q, add_k, add_v; /* they hold sums already */
} attention_loop;

/* One head of one example, seen as matrices. */
typedef struct attention_head {
    const attention_node *n;
    const kernels *kn;
    size_t example, head;
    tape_rows query_rows, key_rows; /* of the example */
    size_t seen;  /* keys that any query attends to */
    size_t width; /* of a row of scores: seen, and zeros up to whole vectors */
    matrix q, k, v;
    kernels_dropout key;
} attention_head;

static const rapt_mask *mask_of(const attention_node *n)
{
    return n->masked ? &n->mask : NULL;
}

static ptrdiff_t row_stride(const rapt_tensor *x)
{
    return (ptrdiff_t)rapt_tensor_features(x);
}

static matrix transposed(matrix a)
{
    return (matrix){a.data, a.col, a.row};
}

/* The columns of one head in rows of one example. */
static matrix slice(const rapt_tensor *x, const rapt_real *data, tape_rows rows, size_t head, size_t width)
{
    return (matrix){data + rows.first * (size_t)row_stride(x) + head * width, row_stride(x), 1};
}

static size_t whole_vectors(size_t n)
{
    return (n + KERNELS_LANES - 1) / KERNELS_LANES * KERNELS_LANES;
}

static attention_head head_of(const attention_loop *loop, size_t item)
{
    const attention_node *n = loop->n;
    attention_head h = {.n = n, .kn = loop->t->k, .example = item / n->heads, .head = item % n->heads, .key = n->key};
    h.query_rows = tape_rows_of(n->q, h.example);
    h.key_rows = tape_rows_of(n->k, h.example);
    h.seen = mask_keys(mask_of(n), h.example, h.query_rows.count, h.key_rows.count);
    h.width = whole_vectors(h.seen);
    h.q = slice(n->q, n->q->data, h.query_rows, h.head, n->d);
    h.k = slice(n->k, n->k->data, h.key_rows, h.head / n->group, n->d);
    h.v = slice(n->v, n->v->data, h.key_rows, h.head / n->group, n->dv);
    h.key.example = tape_example(loop->t, h.example);
    h.key.head = (uint32_t)h.head;
    return h;
}

static size_t row_at(const attention_head *h, size_t query)
{
    return h->query_rows.first * h->n->heads + h->head * h->query_rows.count + query;
}

/* A right factor [k x n] of this head's products: few queries read it where it stands, if they can. */
static panel_matrix right_factor(const attention_head *h, size_t k, size_t n, matrix b, rapt_real *panels)
{
    if (h->query_rows.count <= QUERY_TILE && panels_can_stay(b, n))
        return (panel_matrix){.in_place = b};
    panels_pack(h->kn, k, n, b, panels);
    return (panel_matrix){.packed = panels};
}

/* scores [m, width] = Q rows times packed K^T, unscaled; the panels' padding gives zeros beyond `seen`. */
static void scores_of(const attention_head *h, size_t first, size_t m, const rapt_real *keys, rapt_real *scores)
{
    panels_multiply(h->kn, m, h->width, h->n->d, &(matrix){h->q.data + (ptrdiff_t)first * h->q.row, h->q.row, 1},
                    &(panel_matrix){.packed = keys}, scores, h->width, &(kernels_tail){0});
}

static void drop(const attention_head *h, size_t first, size_t m, rapt_real *rows)
{
    if (h->n->drops)
        h->kn->dropout(&h->key, h->n->mask.past + first, m, h->width, rows, h->width, rows, h->width);
}

static void keep_weights(const attention_head *h, size_t first, size_t m, const rapt_real *rows)
{
    for (size_t i = 0; i < m; i++) {
        size_t row = (h->example * h->n->heads + h->head) * h->n->queries + first + i;
        rapt_real *to = h->n->weights + row * h->n->keys;
        memcpy(to, rows + i * h->width, h->seen * sizeof *to);
        memset(to + h->seen, 0, (h->n->keys - h->seen) * sizeof *to);
    }
}

static void softmax_rows(const attention_head *h, size_t first, size_t m, rapt_real *rows)
{
    const attention_node *n = h->n;
    for (size_t i = 0; i < m; i++) {
        mask_row row = mask_row_of(mask_of(n), h->example, first + i, h->query_rows.count, h->key_rows.count);
        size_t at = row_at(h, first + i);
        h->kn->softmax(h->width, row.count, rows + i * h->width, row.keep, n->scale, rows + i * h->width,
                       &n->row_max[at], &n->row_inv_sum[at]);
    }
}

static void softmax_rows_again(const attention_head *h, size_t first, size_t m, rapt_real *rows)
{
    const attention_node *n = h->n;
    for (size_t i = 0; i < m; i++) {
        mask_row row = mask_row_of(mask_of(n), h->example, first + i, h->query_rows.count, h->key_rows.count);
        size_t at = row_at(h, first + i);
        h->kn->softmax_again(h->width, row.count, rows + i * h->width, row.keep, n->scale, n->row_max[at],
                             n->row_inv_sum[at], rows + i * h->width);
    }
}

/* Panels start on cache lines. */
static rapt_real *take(rapt_real **from, size_t numbers)
{
    size_t line = KERNELS_ALIGN / sizeof(rapt_real);
    rapt_real *p = *from;
    *from += (numbers + line - 1) / line * line;
    return p;
}

static void zero_rows(size_t rows, size_t width, rapt_real *x, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        memset(x + i * ld, 0, width * sizeof *x);
}

static void forward_head(const attention_head *h, rapt_real *scratch)
{
    const attention_node *n = h->n;
    size_t ldo = (size_t)row_stride(n->out);
    size_t queries = h->query_rows.count;
    rapt_real *out = n->out->data + h->query_rows.first * ldo + h->head * n->dv;
    rapt_real *keys = take(&scratch, panels_size(h->kn, n->d, h->seen));
    panel_matrix values = right_factor(h, h->seen, n->dv, h->v, take(&scratch, panels_size(h->kn, h->seen, n->dv)));
    panels_pack(h->kn, n->d, h->seen, transposed(h->k), keys);
    if (h->seen == 0)
        zero_rows(queries, n->dv, out, ldo);
    for (size_t i = 0; i < queries && (h->seen > 0 || n->weights); i += QUERY_TILE) {
        size_t m = MIN(QUERY_TILE, queries - i);
        scores_of(h, i, m, keys, scratch);
        softmax_rows(h, i, m, scratch);
        if (n->wish == RAPT_WEIGHTS_BEFORE_DROPOUT)
            keep_weights(h, i, m, scratch);
        drop(h, i, m, scratch);
        if (n->wish == RAPT_WEIGHTS_AFTER_DROPOUT)
            keep_weights(h, i, m, scratch);
        panels_multiply(h->kn, m, n->dv, h->seen, &(matrix){scratch, (ptrdiff_t)h->width, 1}, &values, out + i * ldo, ldo,
                        &(kernels_tail){0});
    }
}

static void forward_heads(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const attention_loop *loop = context;
    (void)chunk;
    for (size_t item = first; item < last; item++) {
        attention_head h = head_of(loop, item);
        forward_head(&h, loop->scratch + (size_t)worker * loop->scratch_size);
    }
}

/* Where one head's gradients go; each pointer may be NULL. */
typedef struct head_gradients {
    rapt_real *dq, *dk, *dv;
    size_t ldq, ldk, ldv;
    bool add_q, add_k, add_v; /* the next tile's part is added */
} head_gradients;

static rapt_real *gradient_slice(const rapt_tensor *x, rapt_real *grad, tape_rows rows, size_t head, size_t width)
{
    return grad ? grad + rows.first * (size_t)row_stride(x) + head * width : NULL;
}

static head_gradients gradients_of(const attention_loop *loop, const attention_head *h)
{
    const attention_node *n = h->n;
    bool again = h->head % n->group > 0; /* an earlier head of the group left its part */
    return (head_gradients){gradient_slice(n->q, loop->dq, h->query_rows, h->head, n->d),
                            gradient_slice(n->k, loop->dk, h->key_rows, h->head / n->group, n->d),
                            gradient_slice(n->v, loop->dv, h->key_rows, h->head / n->group, n->dv),
                            (size_t)row_stride(n->q), (size_t)row_stride(n->k), (size_t)row_stride(n->v),
                            loop->add_q, loop->add_k || again, loop->add_v || again};
}

/* out [seen, width] (+)= rows^T [seen, m] times right [m, width]. */
static void transposed_product(const attention_head *h, size_t m, const rapt_real *rows, matrix right, size_t width,
                               rapt_real *panels, rapt_real *out, size_t ldo, bool add)
{
    panel_matrix factor = right_factor(h, m, width, right, panels);
    panels_multiply(h->kn, h->seen, width, m, &(matrix){rows, 1, (ptrdiff_t)h->width}, &factor, out, ldo,
                    &(kernels_tail){.accumulate = add});
}

typedef struct backward_scratch {
    rapt_real *keys_t, *values_t, *right, *weights, *dropped, *dscores;
    panel_matrix keys;
} backward_scratch;

/* Lays out the memory and packs what all tiles of queries read. */
static backward_scratch prepare(const attention_head *h, rapt_real *from)
{
    const attention_node *n = h->n;
    backward_scratch s;
    s.keys_t = take(&from, panels_size(h->kn, n->d, h->seen));
    s.keys = right_factor(h, h->seen, n->d, h->k, take(&from, panels_size(h->kn, h->seen, n->d)));
    s.values_t = take(&from, panels_size(h->kn, n->dv, h->seen));
    panels_pack(h->kn, n->d, h->seen, transposed(h->k), s.keys_t);
    panels_pack(h->kn, n->dv, h->seen, transposed(h->v), s.values_t);
    s.right = take(&from, panels_size(h->kn, QUERY_TILE, n->d > n->dv ? n->d : n->dv));
    s.weights = take(&from, QUERY_TILE * h->width);
    s.dropped = take(&from, QUERY_TILE * h->width);
    s.dscores = take(&from, QUERY_TILE * h->width);
    return s;
}

static size_t backward_scratch_size(const kernels *kn, const attention_node *n)
{
    size_t width = n->d > n->dv ? n->d : n->dv, line = KERNELS_ALIGN / sizeof(rapt_real);
    return panels_size(kn, n->d, n->keys) + panels_size(kn, n->keys, n->d) + panels_size(kn, n->dv, n->keys) +
           panels_size(kn, QUERY_TILE, width) + 3 * QUERY_TILE * whole_vectors(n->keys) + 8 * line;
}

/* The weights once more, before dropout and, where it drops, after. */
static const rapt_real *weights_again(const attention_head *h, size_t i, size_t m, const backward_scratch *s)
{
    scores_of(h, i, m, s->keys_t, s->weights);
    softmax_rows_again(h, i, m, s->weights);
    if (!h->n->drops)
        return s->weights;
    memcpy(s->dropped, s->weights, m * h->width * sizeof *s->dropped);
    drop(h, i, m, s->dropped);
    return s->dropped;
}

static void backward_tile(const attention_head *h, size_t i, size_t m, const backward_scratch *s, head_gradients *g)
{
    const attention_node *n = h->n;
    matrix dout = matrix_at(slice(n->out, n->out->grad, h->query_rows, h->head, n->dv), i, 0);
    const rapt_real *dropped = weights_again(h, i, m, s);
    if (g->dv)
        transposed_product(h, m, dropped, dout, n->dv, s->right, g->dv, g->ldv, g->add_v);
    g->add_v = true;
    if (!g->dq && !g->dk)
        return;
    panels_multiply(h->kn, m, h->width, n->dv, &dout, &(panel_matrix){.packed = s->values_t}, s->dscores, h->width,
                    &(kernels_tail){0});
    for (size_t r = 0; r < m * h->width; r += h->width)
        h->kn->softmax_backward(h->width, s->weights + r, dropped + r, s->dscores + r, n->scale, s->dscores + r);
    if (g->dq)
        panels_multiply(h->kn, m, n->d, h->seen, &(matrix){s->dscores, (ptrdiff_t)h->width, 1}, &s->keys,
                        g->dq + i * g->ldq, g->ldq, &(kernels_tail){.accumulate = g->add_q});
    if (g->dk)
        transposed_product(h, m, s->dscores, matrix_at(h->q, i, 0), n->d, s->right, g->dk, g->ldk, g->add_k);
    g->add_k = true;
}

/* Gradients of what no query attends to, and of queries that attend to nothing. */
static void clear_unseen(const attention_head *h, const head_gradients *g)
{
    const attention_node *n = h->n;
    size_t unseen = h->key_rows.count - h->seen;
    if (g->dq && !g->add_q && h->seen == 0)
        zero_rows(h->query_rows.count, n->d, g->dq, g->ldq);
    if (g->dk && !g->add_k)
        zero_rows(unseen, n->d, g->dk + h->seen * g->ldk, g->ldk);
    if (g->dv && !g->add_v)
        zero_rows(unseen, n->dv, g->dv + h->seen * g->ldv, g->ldv);
}

static void backward_head(const attention_loop *loop, size_t item, rapt_real *scratch)
{
    attention_head h = head_of(loop, item);
    head_gradients g = gradients_of(loop, &h);
    clear_unseen(&h, &g);
    if (h.seen == 0)
        return;
    size_t queries = h.query_rows.count;
    backward_scratch s = prepare(&h, scratch);
    for (size_t i = 0; i < queries; i += QUERY_TILE)
        backward_tile(&h, i, MIN(QUERY_TILE, queries - i), &s, &g);
}

/* A unit is a group of query heads: they add to the same gradients of keys and values, one after the other. */
static void backward_groups(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const attention_loop *loop = context;
    (void)chunk;
    for (size_t item = first * loop->n->group; item < last * loop->n->group; item++)
        backward_head(loop, item, loop->scratch + (size_t)worker * loop->scratch_size);
}

static size_t head_cost(const attention_node *n)
{
    return n->queries * n->keys * (n->d + n->dv + 16) / 4;
}

static rapt_real *gradient_of(rapt_tape *t, rapt_tensor *x, bool shared, bool *add)
{
    *add = shared;
    return shared ? tape_grad_zeroed(t, x) : tape_grad(t, x, add);
}

static void backward(rapt_tape *t, tape_node *node)
{
    attention_node *n = (attention_node *)node;
    if (!n->out->grad_filled)
        return;
    attention_loop loop = {.t = t, .n = n, .scratch_size = backward_scratch_size(t->k, n)};
    bool shared = n->q == n->k || n->k == n->v || n->v == n->q; /* one tensor in two roles: its parts are added */
    loop.dq = gradient_of(t, n->q, shared, &loop.add_q);
    loop.dk = gradient_of(t, n->k, shared, &loop.add_k);
    loop.dv = gradient_of(t, n->v, shared, &loop.add_v);
    loop.scratch = tape_scratch(t, loop.scratch_size * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    if (loop.scratch && !tape_failed(t))
        tape_units(t, n->batch * n->heads / n->group, 3 * n->group * head_cost(n), backward_groups, &loop);
}

static void forward(rapt_tape *t, const attention_node *n)
{
    size_t line = KERNELS_ALIGN / sizeof(rapt_real);
    attention_loop loop = {.t = t, .n = n};
    loop.scratch_size = panels_size(t->k, n->d, n->keys) + panels_size(t->k, n->keys, n->dv) +
                        QUERY_TILE * whole_vectors(n->keys) + 3 * line;
    loop.scratch = tape_scratch(t, loop.scratch_size * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    if (loop.scratch)
        tape_units(t, n->batch * n->heads, head_cost(n), forward_heads, &loop);
}

static bool is_batch(const rapt_tensor *x)
{
    return x->ndim == 3 || x->ragged;
}

/* Heads of keys and values: as many as of queries, or a part of them. 0 where the shapes don't fit. */
static size_t key_heads(const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v, size_t heads)
{
    size_t dq = rapt_tensor_features(q), dk = rapt_tensor_features(k), dv = rapt_tensor_features(v);
    if (heads == 0 || dq % heads != 0 || dk % (dq / heads) != 0)
        return 0;
    size_t count = dk / (dq / heads);
    return heads % count == 0 && dv % count == 0 ? count : 0;
}

static bool shapes_fit(const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v, size_t heads)
{
    return is_batch(q) && is_batch(k) && is_batch(v) && tape_examples(q) == tape_examples(k) &&
           tape_examples(k) == tape_examples(v) && k->ragged == v->ragged && tape_longest(k) == tape_longest(v) &&
           key_heads(q, k, v, heads) > 0;
}

static rapt_tensor *check(rapt_tape *t, const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v, size_t heads,
                          const rapt_mask *mask, double p)
{
    char sq[96], sk[96], sv[96];
    if (!shapes_fit(q, k, v, heads))
        return rapt_tape_fail(t, RAPT_SHAPE, "attention: query %s, key %s, value %s do not fit %zu heads",
                              rapt_shape_text(q, sq, sizeof sq), rapt_shape_text(k, sk, sizeof sk),
                              rapt_shape_text(v, sv, sizeof sv), heads);
    if (mask && (q->ragged || k->ragged) && (mask->keep || mask->per_query))
        return rapt_tape_fail(t, RAPT_VALUE, "attention: ragged examples take valid_lens of keys and causal, no other mask");
    if (!(p >= 0 && p < 1))
        return rapt_tape_fail(t, RAPT_VALUE, "attention: dropout probability %g is not in [0, 1)", p);
    return NULL;
}

static const void *copy(rapt_tape *t, const void *from, size_t bytes)
{
    void *to = from ? tape_alloc(t, bytes, 1) : NULL;
    return to ? memcpy(to, from, bytes) : NULL;
}

static void copy_mask(rapt_tape *t, attention_node *n, const rapt_mask *mask)
{
    n->masked = mask != NULL;
    if (!mask)
        return;
    n->mask = *mask;
    n->mask.valid_lens = copy(t, mask->valid_lens, n->batch * (mask->per_query ? n->queries : 1) * sizeof(int32_t));
    n->mask.keep = copy(t, mask->keep, n->batch * (mask->keep_per_query ? n->queries : 1) * n->keys);
}

/* Of ragged examples, weights have the length of the longest, and zeros behind the others' ends. */
static rapt_tensor *allocate_weights(rapt_tape *t, attention_node *n)
{
    rapt_tensor *w = tape_output(t, 4, (size_t[]){n->batch, n->heads, n->queries, n->keys}, false);
    n->weights = w ? w->data : NULL;
    if (w)
        memset(w->data, 0, rapt_tensor_size(w) * sizeof *w->data);
    return w;
}

static rapt_tensor *allocate_output(rapt_tape *t, const attention_node *n)
{
    bool grad = tape_wants(t, n->q) || tape_wants(t, n->k) || tape_wants(t, n->v);
    size_t shape[RAPT_MAX_DIMS] = {n->q->shape[0], n->q->shape[1]};
    shape[n->q->ndim - 1] = n->heads * n->dv;
    rapt_tensor *out = tape_output(t, n->q->ndim, shape, grad);
    if (out)
        out->ragged = n->q->ragged;
    return out;
}

rapt_tensor *rapt_attention_op(rapt_tape *t, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v, size_t heads,
                               const rapt_mask *mask, double p, rapt_weights_wish wish, rapt_tensor **weights)
{
    rapt_tensor *bad;
    if (tape_failed(t))
        return &t->poison;
    if ((bad = check(t, q, k, v, heads, mask, p)))
        return bad;
    attention_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    size_t shared = key_heads(q, k, v, heads);
    *n = (attention_node){.q = q, .k = k, .v = v, .batch = tape_examples(q), .queries = tape_longest(q),
                          .keys = tape_longest(k), .heads = heads, .d = rapt_tensor_features(q) / heads,
                          .dv = rapt_tensor_features(v) / shared, .group = heads / shared,
                          .wish = weights ? wish : RAPT_WEIGHTS_NONE, .drops = p > 0 && t->pass.training};
    n->scale = (rapt_real)(1 / sqrt((double)n->d));
    copy_mask(t, n, mask);
    if (n->drops)
        n->key = tape_dropout(t, p);
    n->row_max = tape_alloc(t, rapt_tensor_rows(q) * heads, sizeof *n->row_max);
    n->row_inv_sum = tape_alloc(t, rapt_tensor_rows(q) * heads, sizeof *n->row_inv_sum);
    n->out = allocate_output(t, n);
    if (n->wish != RAPT_WEIGHTS_NONE)
        *weights = allocate_weights(t, n);
    arena_mark mark = tape_mark(t);
    if (!tape_failed(t))
        forward(t, n);
    tape_release(t, mark);
    if (!tape_failed(t) && n->out->requires_grad)
        tape_record(t, &n->node, backward);
    return tape_failed(t) ? &t->poison : n->out;
}
