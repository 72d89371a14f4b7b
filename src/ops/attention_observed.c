/* ops/attention_observed.c: the readable reference of attention: small operations in the order of the formula, every
 * intermediate under its name (rapt/observe.h). Runs when a tape is observed, and checks the fused implementation
 * (attention_op.c), which computes all other passes. */
#include "ops/attention_op.h"
#include "ops/dropout_op.h"
#include "ops/heads_off.h"
#include "tape/observe_op.h"

#include <math.h>
#include <string.h>

/* The first `rows` rows of each example of a KV cache [batch, capacity, features]; the others are undefined. `stored`: its
 * elements, if not in fp32; else NULL. */
static rapt_tensor *attention_first_rows(rapt_tape *t, const attention_node *n, rapt_tensor *cache, const uint8_t *stored,
                                         size_t rows)
{
    const size_t features = cache->shape[2], capacity = cache->shape[1], kv_heads = n->heads / n->group;
    const size_t width = features / kv_heads, bytes = stored_bytes(n->stored.storage, width);
    if (rows == capacity && !stored)
        return cache;
    rapt_tensor *y = tape_output(t, 3, (size_t[]){cache->shape[0], rows, features}, false);
    for (size_t b = 0; y && tape_computes(t) && b < cache->shape[0]; b++)
        if (!stored)
            memcpy(y->data + b * rows * features, cache->data + b * capacity * features, rows * features * sizeof *y->data);
        else
            for (size_t i = 0; i < rows * kv_heads; i++)
                stored_read(t->k, n->stored.storage, width, stored + (b * capacity * kv_heads + i) * bytes,
                            y->data + b * rows * features + i * width);
    return y ? y : &t->poison;
}

/* The number of rows of keys and values that are defined: in a KV cache, up to the last query's position. */
static size_t attention_filled(const rapt_tape *t, const attention_node *n)
{
    bool cached = n->masked && n->mask.causal && !n->mask.keep && !tape_wants(t, n->k) && !tape_wants(t, n->v);
    size_t last = n->mask.past + n->queries;
    return cached && last < n->keys ? last : n->keys;
}

/* Observes a copy of `scores` [batch, heads, queries, keys] that has -inf where the mask hides a key. */
static void attention_observe_masked(rapt_tape *t, const rapt_tensor *scores, const rapt_mask *mask, const char *formula)
{
    rapt_tensor *y = observe_copy(t, scores);
    if (!y)
        return;
    size_t heads = y->shape[1], queries = y->shape[2], keys = y->shape[3];
    for (size_t i = 0; tape_computes(t) && i < y->shape[0] * heads * queries; i++) {
        mask_row row = mask_row_of(mask, i / queries / heads, i % queries, queries, keys);
        for (size_t j = 0; j < keys; j++) {
            bool hidden = j < row.first || j >= row.count || (row.keep && !row.keep[j]);
            y->data[i * keys + j] = hidden ? -(rapt_real)INFINITY : scores->data[i * keys + j];
        }
    }
    observe_tensor(t, "masked", formula, OBSERVE_WEIGHTS, y);
}

/* Scaled scores with relative biases; `scaled` itself if there are none. */
static rapt_tensor *attention_observe_biased(rapt_tape *t, const attention_node *n, rapt_tensor *scaled)
{
    if (!attention_is_biased(&n->bias) || tape_failed(t))
        return scaled;
    const size_t heads = n->heads, queries = scaled->shape[2], keys = scaled->shape[3];
    rapt_tensor *biases = tape_output(t, 3, (size_t[]){heads, queries, keys}, false);
    if (!biases)
        return &t->poison;
    if (tape_computes(t))
        memset(biases->data, 0, rapt_tensor_size(biases) * sizeof *biases->data);
    for (size_t i = 0; tape_computes(t) && i < heads * queries; i++)
        attention_bias_row(n, i / queries, n->mask.past + i % queries, keys, biases->data + i * keys);
    observe_from(t, (observe_source){.inputs = {scaled}});
    const char *formula = n->bias.slopes ? "scaled - slope |i - j|" : "scaled + relative biases";
    return observe_tensor(t, "biased", formula, OBSERVE_WEIGHTS, rapt_op_add(t, scaled, biases));
}

/* softmax(scale q k^T), q [batch, heads, queries, d], k [batch, key-value heads, keys, d]: [batch, heads, queries, keys]. */
static rapt_tensor *attention_observed_weights(rapt_tape *t, const attention_node *n, rapt_tensor *q, rapt_tensor *k)
{
    const rapt_mask *mask = n->masked ? &n->mask : NULL;
    const bool plain = n->scale == attention_scale(&(rapt_attention_scores){0}, n->d);
    rapt_tensor *scores = rapt_op_matmul(t, q, k, true);
    observe_tensor(t, "scores", "Q K^T", OBSERVE_WEIGHTS, scores);
    rapt_tensor *scaled = rapt_op_scale(t, scores, (double)n->scale);
    observe_from(t, (observe_source){.inputs = {scores}, .constant = (double)n->scale});
    observe_tensor(t, "scaled", plain ? "scores / sqrt(d_k)" : "scale scores", OBSERVE_WEIGHTS, scaled);
    scaled = attention_observe_biased(t, n, scaled);
    if (n->cap != 0) {
        rapt_tensor *capped = rapt_op_softcap(t, scaled, (double)n->cap);
        observe_from(t, (observe_source){.inputs = {scaled}, .constant = (double)n->cap});
        scaled = observe_tensor(t, "capped", "cap tanh(scaled / cap)", OBSERVE_WEIGHTS, capped);
    }
    const char *formula = n->cap != 0 ? "capped, -inf where hidden"
                          : attention_is_biased(&n->bias) ? "biased, -inf where hidden" : "scaled, -inf where hidden";
    attention_observe_masked(t, scaled, mask, formula);
    rapt_tensor *weights = rapt_op_masked_softmax(t, scaled, mask);
    return observe_tensor(t, "weights", "softmax(masked)", OBSERVE_WEIGHTS, weights);
}

rapt_tensor *attention_observed(rapt_tape *t, const attention_node *n, double p, rapt_tensor **weights)
{
    size_t filled = attention_filled(t, n), kv_heads = n->heads / n->group;
    bool rotated = observe_is(t, n->q, "q.rotated"); /* so are keys, unless they come from a cache */
    rapt_tensor *k = attention_first_rows(t, n, n->k, n->stored.k, filled);
    rapt_tensor *v = attention_first_rows(t, n, n->v, n->stored.v, filled);
    rapt_tensor *q = rapt_op_split_heads(t, n->q, n->heads);
    observe_tensor(t, "q.heads", rotated ? "q.rotated split into heads" : "q split into heads", OBSERVE_QUERY_HEADS, q);
    k = rapt_op_split_heads(t, k, kv_heads);
    observe_tensor(t, "k.heads", rotated ? "k.rotated split into heads" : "k split into heads", OBSERVE_KEY_HEADS, k);
    v = rapt_op_split_heads(t, v, kv_heads);
    observe_tensor(t, "v.heads", "v split into heads", OBSERVE_KEY_HEADS, v);

    rapt_tensor *before = attention_observed_weights(t, n, q, k);
    rapt_tensor *after = observe_dropped(t, before, dropout_run(t, before, p, false));
    if (weights)
        *weights = n->capture == RAPT_CAPTURE_AFTER_DROPOUT ? after : before;

    rapt_tensor *heads = rapt_op_matmul(t, after, v, false);
    heads_off_split(t, heads, n->off);
    observe_tensor(t, "heads", n->off ? "weights V, 0 for heads that are off" : "weights V", OBSERVE_QUERY_HEADS, heads);
    return observe_tensor(t, "concat", "concat(heads)", OBSERVE_QUERIES, rapt_op_concat_heads(t, heads));
}
