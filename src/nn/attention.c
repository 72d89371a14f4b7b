/* nn/attention.c: multi-head attention (Vaswani et al. 2017, section 3.2.2): in training, step by step, and with
 * keys and values kept from before. */
#include "rapt/nn.h"

#include "nn/names.h"

#include <math.h>
#include <string.h>

static const char *keep_name(rapt_params *set, const char *prefix)
{
    size_t n = strlen(prefix);
    char *text = rapt_params_alloc(set, n + 1, 1);
    if (!text)
        return "";
    memcpy(text, prefix, n);
    if (n > 0 && text[n - 1] == '.')
        text[n - 1] = '\0';
    return text;
}

void rapt_multi_head_attention_init(rapt_multi_head_attention *m, rapt_params *set, const char *prefix,
                                    rapt_attention_sizes s, bool bias, double dropout, rapt_linear_init_kind kind)
{
    if (s.heads == 0 || s.hidden % s.heads != 0)
        rapt_params_fail(set, RAPT_SHAPE, "attention %s: %zu heads do not divide %zu features", prefix, s.heads,
                         s.hidden);
    m->name = keep_name(set, prefix);
    m->heads = s.heads;
    m->dropout = dropout;
    rapt_linear_init(&m->q, set, name_join(prefix, "q.").text, s.query, s.hidden, bias, kind);
    rapt_linear_init(&m->k, set, name_join(prefix, "k.").text, s.key, s.hidden, bias, kind);
    rapt_linear_init(&m->v, set, name_join(prefix, "v.").text, s.value, s.hidden, bias, kind);
    rapt_linear_init(&m->o, set, name_join(prefix, "o.").text, s.hidden, s.hidden, bias, kind);
}

/* Attention of projected queries to projected keys and values, then the output projection. */
static rapt_tensor *attend(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q, rapt_tensor *k,
                           rapt_tensor *v, const rapt_mask *mask)
{
    rapt_tensor *weights = NULL;
    rapt_tensor *y = rapt_attention_op(t, q, k, v, m->heads, mask, m->dropout, rapt_tape_attention_wish(t), &weights);
    if (weights)
        rapt_tape_file_attention(t, m->name, weights);
    return rapt_linear_forward(t, &m->o, y);
}

rapt_tensor *rapt_multi_head_attention_forward(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                               rapt_tensor *k, rapt_tensor *v, const rapt_mask *mask)
{
    rapt_tensor *qp = rapt_linear_forward(t, &m->q, q), *kp = rapt_linear_forward(t, &m->k, k);
    return attend(t, m, qp, kp, rapt_linear_forward(t, &m->v, v), mask);
}

rapt_tensor *rapt_multi_head_attention_steps(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                             rapt_tensor *k, rapt_tensor *v, const rapt_mask *mask)
{
    rapt_tensor *qh = rapt_split_heads(t, rapt_linear_forward(t, &m->q, q), m->heads);
    rapt_tensor *kh = rapt_split_heads(t, rapt_linear_forward(t, &m->k, k), m->heads);
    rapt_tensor *vh = rapt_split_heads(t, rapt_linear_forward(t, &m->v, v), m->heads);
    rapt_tensor *scores = rapt_scale(t, rapt_matmul(t, qh, kh, true), 1 / sqrt((double)rapt_tensor_features(qh)));
    rapt_tensor *weights = rapt_masked_softmax(t, scores, mask);
    rapt_tape_file_attention(t, m->name, weights);
    rapt_tensor *heads = rapt_matmul(t, rapt_dropout(t, weights, m->dropout), vh, false);
    return rapt_linear_forward(t, &m->o, rapt_concat_heads(t, heads));
}

/* Writes rows past .. past + time - 1 of every example. */
static void append(rapt_tensor *cache, const rapt_tensor *x, size_t past)
{
    size_t size = x->shape[1] * x->shape[2], capacity = cache->shape[1] * cache->shape[2];
    for (size_t b = 0; b < x->shape[0]; b++)
        memcpy(cache->data + b * capacity + past * x->shape[2], x->data + b * size, size * sizeof *x->data);
}

rapt_tensor *rapt_cached_self_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                        size_t past)
{
    char sx[96], sk[96];
    rapt_tensor *q = rapt_linear_forward(t, &m->q, x), *k = rapt_linear_forward(t, &m->k, x);
    rapt_tensor *v = rapt_linear_forward(t, &m->v, x);
    if (rapt_tape_error(t)->code)
        return v;
    if (x->ndim != 3 || x->shape[0] != kv->k.shape[0] || k->shape[2] != kv->k.shape[2])
        return rapt_tape_fail(t, RAPT_SHAPE, "attention %s: input %s does not fit the cache %s", m->name,
                              rapt_shape_text(x, sx, sizeof sx), rapt_shape_text(&kv->k, sk, sizeof sk));
    if (past + x->shape[1] > kv->k.shape[1])
        return rapt_tape_fail(t, RAPT_SHAPE, "attention %s: position %zu, the cache holds %zu", m->name,
                              past + x->shape[1] - 1, kv->k.shape[1]);
    append(&kv->k, k, past);
    append(&kv->v, v, past);
    return attend(t, m, q, &kv->k, &kv->v, &(rapt_mask){.causal = true, .past = past});
}

rapt_tensor *rapt_cached_cross_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                         const int32_t *valid_lens)
{
    return attend(t, m, rapt_linear_forward(t, &m->q, x), &kv->k, &kv->v, &(rapt_mask){.valid_lens = valid_lens});
}
