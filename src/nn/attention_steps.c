/* nn/attention_steps.c: multi-head attention through the small operations, every intermediate under its name: for those
 * who look (rapt/observe.h), and to check the fused one, which computes all passes that nobody looks at. */
#include "nn/attention_steps.h"

#include "ops/record_steps.h"

#include <math.h>
#include <string.h>

#define QUERIES "batch query feature"
#define KEYS "batch key feature"
#define QUERY_HEADS "batch head query feature"
#define KEY_HEADS "batch head key feature"
#define WEIGHTS "batch head query key"

static record_scope attention_steps_scope_of(const rapt_multi_head_attention *m)
{
    return record_scope_of(m->name, 0);
}

void attention_name_projections(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p, bool itself)
{
    record_scope s = attention_steps_scope_of(m);
    record_step(t, s, "q", m->q.bias ? "x W_q^T + b_q" : "x W_q^T", QUERIES, p.q);
    if (!p.k || !p.v)
        return;
    if (itself) {
        record_step(t, s, "k", m->k.bias ? "x W_k^T + b_k" : "x W_k^T", KEYS, p.k);
        record_step(t, s, "v", m->v.bias ? "x W_v^T + b_v" : "x W_v^T", KEYS, p.v);
    } else {
        record_step(t, s, "k", m->k.bias ? "memory W_k^T + b_k" : "memory W_k^T", KEYS, p.k);
        record_step(t, s, "v", m->v.bias ? "memory W_v^T + b_v" : "memory W_v^T", KEYS, p.v);
    }
}

void attention_name_rotated(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p)
{
    record_step(t, attention_steps_scope_of(m), "q.rotated", "pairs of q, turned by their position", QUERIES, p.q);
    record_step(t, attention_steps_scope_of(m), "k.rotated", "pairs of k, turned by their position", KEYS, p.k);
}

static rapt_tensor *attention_steps_split(rapt_tape *t, const rapt_multi_head_attention *m, const char *what, const char *formula,
                                          const char *axes, rapt_tensor *x, size_t heads)
{
    rapt_tensor *y = rapt_op_split_heads(t, x, heads);
    record_step(t, attention_steps_scope_of(m), what, formula, axes, y);
    return y;
}

/* Q K^T / sqrt(d_k) of every head, without and then with the mask, and their softmax. */
static rapt_tensor *attention_steps_weights_of(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q, rapt_tensor *k,
                                               const rapt_mask *mask)
{
    record_scope s = attention_steps_scope_of(m);
    rapt_tensor *scores = rapt_op_matmul(t, q, k, true);
    record_step(t, s, "scores", "Q K^T", WEIGHTS, scores);
    rapt_tensor *scaled = rapt_op_scale(t, scores, 1 / sqrt((double)rapt_tensor_features(q)));
    record_step(t, s, "scaled", "scores / sqrt(d_k)", WEIGHTS, scaled);
    record_masked(t, s, WEIGHTS, scaled, mask);
    rapt_tensor *weights = rapt_op_masked_softmax(t, scaled, mask);
    record_step(t, s, "weights", "softmax(masked)", WEIGHTS, weights);
    return weights;
}

rapt_tensor *attention_steps(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p, const rapt_mask *mask)
{
    record_scope s = attention_steps_scope_of(m);
    rapt_tensor *q = attention_steps_split(t, m, "q.heads", m->rotary ? "q.rotated split into heads" : "q split into heads",
                                           QUERY_HEADS, p.q,
                                           m->heads);
    rapt_tensor *k = attention_steps_split(t, m, "k.heads", m->rotary ? "k.rotated split into heads" : "k split into heads",
                                           KEY_HEADS, p.k,
                                           m->kv_heads);
    rapt_tensor *v = attention_steps_split(t, m, "v.heads", "v split into heads", KEY_HEADS, p.v, m->kv_heads);
    rapt_tensor *weights = attention_steps_weights_of(t, m, q, k, mask);
    rapt_tensor *dropped = record_dropout(t, s, "weights.dropped", WEIGHTS, weights, m->dropout);
    rapt_tape_store_attention(t, m->name,
                              rapt_tape_attention_capture(t) == RAPT_CAPTURE_AFTER_DROPOUT ? dropped : weights);
    rapt_tensor *heads = rapt_op_matmul(t, dropped, v, false);
    record_step(t, s, "heads", "weights V", QUERY_HEADS, heads);
    rapt_tensor *concat = rapt_op_concat_heads(t, heads);
    record_step(t, s, "concat", "concat(heads)", QUERIES, concat);
    rapt_tensor *y = rapt_linear_forward(t, &m->o, concat);
    record_step(t, s, "output", m->o.bias ? "concat W_o^T + b_o" : "concat W_o^T", QUERIES, y);
    return y;
}

static rapt_tensor *first_rows(rapt_tape *t, const rapt_tensor *cache, size_t rows)
{
    size_t size = rows * cache->shape[2], capacity = cache->shape[1] * cache->shape[2];
    rapt_tensor *y = rapt_tape_tensor(t, 3, (size_t[]){cache->shape[0], rows, cache->shape[2]}, false);
    for (size_t b = 0; !rapt_tape_error(t)->code && b < cache->shape[0]; b++)
        memcpy(y->data + b * size, cache->data + b * capacity, size * sizeof *y->data);
    return y;
}

attention_inputs attention_filled(rapt_tape *t, rapt_tensor *q, const rapt_kv *kv, size_t rows)
{
    return (attention_inputs){q, first_rows(t, &kv->k, rows), first_rows(t, &kv->v, rows)};
}
