/* ops/attention_op.c: scaled dot-product attention of all heads (Vaswani et al. 2017, eq. 1), fused: checks, memory, and the
 * distribution of heads over threads. Read attention_observed.c first: it has the same attention as a sequence of small
 * operations. attention_head.c and attention_backward.c compute one head.
 *
 * Forward, for one head:  S = Q K^T,  P = softmax(scale S),  D = dropout(P),  O = D V.
 *
 * Backward:
 *   dV = D^T dO,  dD = dO V^T,  dS = scale (D dD - P rowsum(D dD)),  dQ = dS K,  dK = dS^T Q,
 * Products are elementwise except the matrix products; scale is 1 / sqrt(d) unless the caller sets another. Dropout's own
 * gradient needs no second mask: P times dropout(dD) is D dD. */
#include "ops/attention_op.h"

#include "base/min.h"
#include "ops/heads_off.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <math.h>
#include <string.h>

static void attention_forward_heads(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const attention_loop *loop = context;
    (void)chunk;
    const size_t heads = loop->n->heads;
    rapt_real *scratch = loop->scratch + (size_t)worker * loop->scratch_size;
    attention_head h;
    for (size_t item = first; item < last;) {
        const size_t end = MIN(last, item - item % heads + heads); /* the end of the example, or of this thread's part of it */
        attention_set_example(&h, loop, item / heads);
        while (attention_is_single(&h) && item < end) {
            const size_t count = MIN(QUERY_TILE, end - item);
            attention_forward_single(&h, item % heads, count, scratch);
            item += count;
        }
        for (; item < end; item++) {
            attention_set_head(&h, item % heads);
            attention_forward_head(&h, scratch);
        }
    }
}

/* A unit is a group of query heads: they add to the same gradients of keys and values, one after the other. */
static void attention_backward_groups(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const attention_loop *loop = context;
    (void)chunk;
    for (size_t item = first * loop->n->group; item < last * loop->n->group; item++)
        attention_backward_head(loop, item, loop->scratch + (size_t)worker * loop->scratch_size);
}

/* The cost of one head, in the units of tape_units. */
static size_t head_cost(const attention_node *n)
{
    return n->queries * n->keys * (n->d + n->dv + 16) / 4;
}

static rapt_real *attention_gradient_of(rapt_tape *t, rapt_tensor *x, bool shared, bool *add)
{
    *add = shared;
    return shared ? tape_grad_zeroed(t, x) : tape_grad(t, x, add);
}

/* Floating-point operations of both matrix products of the forward pass, over all keys, including masked ones. */
static double attention_gemm_flops(const attention_node *n)
{
    return 2.0 * (double)(rapt_tensor_rows(n->q) * n->heads) * (double)(n->keys * (n->d + n->dv));
}

static double attention_bytes_of(const attention_node *n)
{
    const size_t own = (rapt_tensor_size(n->q) + rapt_tensor_size(n->out)) * sizeof(rapt_real), rows = rapt_tensor_rows(n->k);
    const size_t kv_heads = n->heads / n->group;
    const rapt_type storage = n->stored.k ? n->stored.storage : RAPT_TYPE_FP32;
    return (double)(own + rows * kv_heads * (stored_bytes(storage, n->d) + stored_bytes(storage, n->dv)));
}

static void attention_op_backward(rapt_tape *t, tape_node *node)
{
    attention_node *n = (attention_node *)node;
    if (!n->out->grad_filled)
        return;
    /* five matrix products instead of two */
    profile_op_bytes(t, "attention", 2.5 * attention_gemm_flops(n), 2 * attention_bytes_of(n));
    attention_loop loop = {.t = t, .n = n, .scratch_size = attention_backward_size(t->team.gemm, n)};
    bool shared = n->q == n->k || n->k == n->v || n->v == n->q; /* one tensor in two roles: its gradients are added */
    loop.dq = attention_gradient_of(t, n->q, shared, &loop.add_q);
    loop.dk = attention_gradient_of(t, n->k, shared, &loop.add_k);
    loop.dv = attention_gradient_of(t, n->v, shared, &loop.add_v);
    loop.scratch = tape_scratch(t, loop.scratch_size * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    if (loop.scratch && !tape_failed(t))
        tape_units(t, n->batch * n->heads / n->group, 3 * n->group * head_cost(n), attention_backward_groups, &loop);
}

static void attention_forward(rapt_tape *t, const attention_node *n)
{
    attention_loop loop = {.t = t, .n = n, .scratch_size = attention_forward_size(t->team.gemm, n)};
    profile_op_bytes(t, "attention", attention_gemm_flops(n), attention_bytes_of(n));
    loop.scratch = tape_scratch(t, loop.scratch_size * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    if (loop.scratch)
        tape_units(t, n->batch * n->heads, head_cost(n), attention_forward_heads, &loop);
}

static bool attention_is_batch(const rapt_tensor *x)
{
    return x->ndim == 3 || x->ragged;
}

/* The number of key-value heads, which divides the number of query heads; 0 if the shapes don't fit. */
static size_t kv_heads_of(const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v, size_t heads)
{
    size_t dq = rapt_tensor_features(q), dk = rapt_tensor_features(k), dv = rapt_tensor_features(v);
    if (heads == 0 || dq % heads != 0 || dk % (dq / heads) != 0)
        return 0;
    size_t count = dk / (dq / heads);
    return heads % count == 0 && dv % count == 0 ? count : 0;
}

/* Whether each example has its own row of keys, or a row of a cache that holds its positions. */
static bool attention_examples_fit(const rapt_tensor *q, const rapt_tensor *k, const rapt_mask *mask)
{
    bool fit = true;
    if (!mask || !mask->cached)
        return tape_examples(q) == tape_examples(k);
    for (size_t b = 0; b < tape_examples(q); b++)
        fit = fit && mask->cached[b].row < tape_examples(k) && mask->cached[b].past <= tape_longest(k) &&
              tape_rows_of(q, b).count <= tape_longest(k) - mask->cached[b].past;
    return fit && !k->ragged;
}

static bool attention_shapes_fit(const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v, size_t heads,
                                 const rapt_mask *mask)
{
    return attention_is_batch(q) && attention_is_batch(k) && attention_is_batch(v) && attention_examples_fit(q, k, mask) &&
           tape_examples(k) == tape_examples(v) && k->ragged == v->ragged && tape_longest(k) == tape_longest(v) &&
           kv_heads_of(q, k, v, heads) > 0;
}

/* The number of keys that any query may attend to: in a cache, the positions that it holds, not its capacity. */
static size_t attention_keys(const rapt_tensor *q, const rapt_tensor *k, const rapt_mask *mask)
{
    size_t keys = 0;
    if (!mask || !mask->cached)
        return tape_longest(k);
    for (size_t b = 0; b < tape_examples(q); b++) {
        size_t end = mask->cached[b].past + tape_rows_of(q, b).count;
        keys = end > keys ? end : keys;
    }
    return keys;
}

static rapt_tensor *attention_check(rapt_tape *t, const rapt_tensor *q, const rapt_tensor *k, const rapt_tensor *v,
                                    size_t heads, const rapt_mask *mask, double p)
{
    char sq[96], sk[96], sv[96];
    if (!attention_shapes_fit(q, k, v, heads, mask))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention: query %s, key %s, value %s do not fit %zu heads",
                              rapt_shape_text(q, sq, sizeof sq), rapt_shape_text(k, sk, sizeof sk),
                              rapt_shape_text(v, sv, sizeof sv), heads);
    if (mask && (q->ragged || k->ragged) && (mask->keep || mask->per_query))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: ragged examples take valid_lens of keys and causal, no other mask");
    if (!mask_fits(mask))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: a window and cached rows are of causal masks without keep");
    if (mask && mask->cached && (tape_wants(t, q) || tape_wants(t, k) || tape_wants(t, v)))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: there is no backward pass of cached rows");
    if (!(p >= 0 && p < 1))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: dropout probability %g is not in [0, 1)", p);
    return NULL;
}

static rapt_tensor *attention_check_off(rapt_tape *t, const uint8_t *off, bool gradient)
{
    if (!off || !gradient)
        return NULL;
    return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: there is no backward pass of heads that are switched off");
}

/* NULL if the scores are valid; else the poison tensor. */
static rapt_tensor *attention_check_scores(rapt_tape *t, const rapt_attention_scores *s, size_t heads, bool gradient)
{
    if (s->bias.weight && gradient)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: there is no backward pass of relative biases");
    if (!attention_bias_fits(&s->bias, heads))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention: relative biases that are not of %zu heads", heads);
    if (attention_is_biased(&s->bias) && s->cap != 0)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: relative biases of capped scores");
    if (!(s->cap >= 0 && isfinite(s->cap)))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: scores are capped at %g", s->cap);
    if (!isfinite(s->scale))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "attention: scores are multiplied by %g", s->scale);
    return NULL;
}

static void attention_set_scores(rapt_tape *t, attention_node *n, const rapt_attention_scores *s)
{
    n->scale = attention_scale(s, n->d);
    n->cap = (rapt_real)s->cap;
    n->bias = s->bias;
    if (n->bias.weight)
        tape_refresh(t, n->bias.weight);
}

static const void *attention_copy(rapt_tape *t, const void *from, size_t bytes)
{
    void *to = from ? tape_alloc(t, bytes, 1) : NULL;
    return to ? memcpy(to, from, bytes) : NULL;
}

static void attention_copy_mask(rapt_tape *t, attention_node *n, const rapt_mask *mask)
{
    n->masked = mask != NULL;
    if (!mask)
        return;
    n->mask = *mask;
    if (mask->window) {
        uint8_t *pattern = tape_alloc(t, 2 * n->keys, 1);
        if (pattern)
            mask_fill_pattern(pattern, n->keys);
        n->pattern = pattern;
    }
    n->mask.valid_lens = attention_copy(t, mask->valid_lens, n->batch * (mask->per_query ? n->queries : 1) * sizeof(int32_t));
    n->mask.keep = attention_copy(t, mask->keep, n->batch * (mask->keep_per_query ? n->queries : 1) * n->keys);
}

/* Captured weights [batch, heads, queries, keys]; ragged examples are padded with zeros to the length of the longest. */
static rapt_tensor *attention_allocate_weights(rapt_tape *t, attention_node *n)
{
    rapt_tensor *w = tape_output(t, 4, (size_t[]){n->batch, n->heads, n->queries, n->keys}, false);
    n->weights = w ? w->data : NULL;
    if (w && tape_computes(t))
        memset(w->data, 0, rapt_tensor_size(w) * sizeof *w->data);
    return w;
}

static rapt_tensor *attention_allocate_output(rapt_tape *t, const attention_node *n)
{
    bool grad = tape_wants(t, n->q) || tape_wants(t, n->k) || tape_wants(t, n->v);
    size_t shape[RAPT_MAX_DIMS] = {n->q->shape[0], n->q->shape[1]};
    shape[n->q->ndim - 1] = n->heads * n->dv;
    rapt_tensor *out = tape_output(t, n->q->ndim, shape, grad);
    if (out)
        out->ragged = n->q->ragged;
    return out;
}

rapt_tensor *attention_op_stored(rapt_tape *t, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v, attention_stored stored,
                                 const rapt_op_attention_options *options)
{
    const size_t heads = options->heads;
    const double p = options->dropout;
    const rapt_mask *mask = options->mask;
    const rapt_attention_scores *scores = &options->scores;
    rapt_tensor *bad, **weights = options->weights;
    if (weights)
        *weights = NULL;
    if (tape_failed(t))
        return &t->poison;
    const bool gradient = tape_wants(t, q) || tape_wants(t, k) || tape_wants(t, v);
    if ((bad = attention_check(t, q, k, v, heads, mask, p)) || (bad = attention_check_scores(t, scores, heads, gradient)) ||
        (bad = attention_check_off(t, options->off, gradient)))
        return bad;
    attention_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    size_t kv_heads = kv_heads_of(q, k, v, heads);
    *n = (attention_node){.q = q, .k = k, .v = v, .stored = stored, .batch = tape_examples(q), .queries = tape_longest(q),
                          .keys = attention_keys(q, k, mask), .heads = heads, .d = rapt_tensor_features(q) / heads,
                          .dv = rapt_tensor_features(v) / kv_heads, .group = heads / kv_heads,
                          .off = options->off, .capture = weights ? options->capture : RAPT_CAPTURE_NONE,
                          .drops = p > 0 && t->pass.training};
    attention_set_scores(t, n, scores);
    attention_copy_mask(t, n, mask);
    if (observe_here(t) && !q->ragged && !k->ragged && !n->mask.cached)
        return attention_observed(t, n, p, weights);
    if (n->drops)
        n->key = tape_dropout(t, p);
    n->row_max = tape_elements(t, rapt_tensor_rows(q) * heads);
    n->row_inv_sum = tape_elements(t, rapt_tensor_rows(q) * heads);
    n->out = attention_allocate_output(t, n);
    if (n->capture != RAPT_CAPTURE_NONE)
        *weights = attention_allocate_weights(t, n);
    arena_mark mark = tape_mark(t);
    if (!tape_failed(t))
        attention_forward(t, n);
    tape_release(t, mark);
    heads_off(t, n->out, heads, n->off);
    if (!tape_failed(t) && n->out->requires_grad)
        tape_record(t, &n->node, attention_op_backward);
    return tape_failed(t) ? &t->poison : n->out;
}

rapt_tensor *rapt_op_attention(rapt_tape *t, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v,
                               const rapt_op_attention_options *options)
{
    return attention_op_stored(t, q, k, v, (attention_stored){.k = NULL}, options);
}
