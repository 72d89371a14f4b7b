/* nn/attention.c: multi-head attention (Vaswani et al. 2017, section 3.2.2), of whole rows and with a KV cache.
 * ops/attention_op.c computes the heads; ops/attention_observed.c does so too, unfused and readable. */
#include "nn/decoder_core.h"

#include "nn/kv_cache.h"
#include "nn/linear.h"
#include "nn/names.h"
#include "ops/attention_op.h"
#include "ops/attention_rows.h"
#include "ops/heads_off.h"
#include "ops/rotary_op.h"
#include "tape/observe_op.h"

#include <string.h>

#define NEAR_BYTES ((size_t)256 << 10) /* a quarter of an L2 cache */

static void attention_init_norms(rapt_multi_head_attention *m, rapt_params *set, const char *prefix,
                                 const rapt_attention_options *o, size_t q, size_t k)
{
    const rapt_norm_options options = {.kind = RAPT_NORM_KIND_RMS, .eps = o->qk_norm_eps};
    if (o->qk_norm == RAPT_QK_NORM_NONE)
        return;
    rapt_layer_norm_init(&m->q_norm, set, name_join(prefix, "q_norm.").text, 1, &q, &options);
    rapt_layer_norm_init(&m->k_norm, set, name_join(prefix, "k_norm.").text, 1, &k, &options);
}

void rapt_multi_head_attention_init(rapt_multi_head_attention *m, rapt_params *set, const char *prefix,
                                    const rapt_attention_options *o)
{
    const size_t kv_heads = o->kv_heads ? o->kv_heads : o->heads, heads = o->heads ? o->heads : 1;
    const size_t head_dim = o->head_dim ? o->head_dim : o->hidden / heads;
    const size_t all = heads * head_dim, kv_all = kv_heads * head_dim; /* features of all heads together */
    const rapt_linear_options in = {.no_bias = !o->bias, .init = o->init, .std = o->std};
    const rapt_linear_options out = {.no_bias = !o->bias || o->no_o_bias, .init = o->init, .std = o->output_std};
    if (o->heads == 0 || (!o->head_dim && o->hidden % o->heads != 0))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "attention %s: %zu heads do not divide %zu features", prefix, o->heads,
                         o->hidden);
    else if (o->heads % kv_heads != 0)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "attention %s: %zu key-value heads do not divide %zu heads", prefix, kv_heads,
                         o->heads);
    *m = (rapt_multi_head_attention){.name = name_keep(set, prefix), .heads = o->heads, .kv_heads = kv_heads,
                                     .dropout = o->dropout, .scores = o->scores};
    rapt_linear_init(&m->q, set, name_join(prefix, "q.").text, o->query ? o->query : o->hidden, all, &in);
    rapt_linear_init(&m->k, set, name_join(prefix, "k.").text, o->key ? o->key : o->hidden, kv_all, &in);
    rapt_linear_init(&m->v, set, name_join(prefix, "v.").text, o->value ? o->value : o->hidden, kv_all, &in);
    rapt_linear_init(&m->o, set, name_join(prefix, "o.").text, all, o->hidden, &out);
    attention_init_norms(m, set, prefix, o, o->qk_norm == RAPT_QK_NORM_ALL ? all : head_dim,
                         o->qk_norm == RAPT_QK_NORM_ALL ? kv_all : head_dim);
}

/* Projected queries [batch, queries, heads * d], keys and values [batch, keys, kv_heads * d]; rotated if positions are rotary. */
typedef struct attention_inputs {
    rapt_tensor *q, *k, *v;
    attention_stored stored; /* from a cache: keys and values that are not in fp32, or are packed too */
} attention_inputs;

/* Normalizes the queries or keys x: each head by itself, or all heads together, as the width of the norm says. */
static rapt_tensor *attention_normalize(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x, const char *what,
                                        const char *axes)
{
    if (!m->weight || rapt_tape_error(t)->code)
        return x;
    const size_t width = m->weight->value.shape[0], heads = rapt_tensor_features(x) / width;
    rapt_tensor *y = rapt_op_reshape(t, x, 3, (size_t[]){1, rapt_tensor_rows(x) * heads, width}, NULL);
    y = rapt_op_reshape(t, rapt_layer_norm_forward(t, m, y), x->ndim, x->shape, x->ragged);
    return observe_tensor(t, what, "x / sqrt(mean(x^2) + eps) * gamma", axes, y);
}

static rapt_tensor *attention_rotate(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, size_t first,
                                     const rapt_cached_row *rows)
{
    return rows ? rotary_op_cached(t, x, m->rotary, rows) : rapt_op_rotary(t, x, m->rotary, first);
}

/* `first` is the position of the first query and key, unless `rows` has a position for each example. */
static attention_inputs attention_project(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q, rapt_tensor *k,
                                          rapt_tensor *v, size_t first, const rapt_cached_row *rows)
{
    rapt_tensor *y[3];
    rapt_op_linears(t, 3, (rapt_linear_args[]){linear_args(&m->q, q), linear_args(&m->k, k), linear_args(&m->v, v)}, y);
    linears_adapt(t, 3, (const rapt_linear *[]){&m->q, &m->k, &m->v}, (rapt_tensor *[]){q, k, v}, y);
    y[0] = attention_normalize(t, &m->q_norm, y[0], "q.normed", OBSERVE_QUERIES);
    y[1] = attention_normalize(t, &m->k_norm, y[1], "k.normed", OBSERVE_KEYS);
    if (!m->rotary)
        return (attention_inputs){.q = y[0], .k = y[1], .v = y[2]};
    rapt_tensor *rotated = attention_rotate(t, m, y[0], first, rows);
    return (attention_inputs){.q = rotated, .k = attention_rotate(t, m, y[1], first, rows), .v = y[2]};
}

/* Attention of projected queries to projected keys and values, before the output projection. */
static rapt_tensor *attention_of_heads(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p,
                                       const rapt_mask *mask)
{
    rapt_tensor *weights = NULL;
    const rapt_op_attention_options options = {.heads = m->heads, .mask = mask, .scores = m->scores, .dropout = m->dropout,
                                               .capture = rapt_tape_attention_capture(t), .weights = &weights, .off = m->off};
    rapt_tensor *y = attention_op_stored(t, p.q, p.k, p.v, p.stored, &options);
    if (weights)
        rapt_tape_store_attention(t, m->name, weights);
    return y;
}

static rapt_tensor *attention_attend(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p, const rapt_mask *mask)
{
    return rapt_linear_forward(t, &m->o, attention_of_heads(t, m, p, mask));
}

rapt_tensor *rapt_multi_head_attention_forward(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                               rapt_tensor *k, rapt_tensor *v, const rapt_mask *mask)
{
    observe_scope outer = observe_enter(t, m->name, 0);
    return observe_leave(t, outer, attention_attend(t, m, attention_project(t, m, q, k, v, 0, NULL), mask));
}

static attention_inputs attention_of_cache(rapt_tensor *q, rapt_kv *kv)
{
    return (attention_inputs){q, &kv->k, &kv->v, {kv->storage, kv->k_stored, kv->v_stored, kv->panels}};
}

/* Whether projected keys and values have the rows and features of the cache, and its heads if heads are stored one by one. */
static bool attention_fits_cache(const rapt_multi_head_attention *m, const rapt_tensor *x, const attention_inputs *p,
                                 const rapt_kv *kv)
{
    const bool rows = kv->cached ? x->ndim == 3 || x->ragged : x->ndim == 3 && x->shape[0] == kv->k.shape[0];
    return rows && rapt_tensor_features(p->k) == kv->k.shape[2] && rapt_tensor_features(p->v) == kv->v.shape[2] &&
           kv->v.shape[0] == kv->k.shape[0] && kv->v.shape[1] == kv->k.shape[1] &&
           (kv->storage == RAPT_TYPE_FP32 || kv->head * m->kv_heads == kv->k.shape[2]);
}

/* Whether the cache has room for the tokens of an example. */
static bool attention_has_room(const rapt_tensor *x, const rapt_kv *kv, size_t example, rapt_cached_row at)
{
    return at.row < kv->k.shape[0] && at.past <= kv->k.shape[1] && tape_rows_of(x, example).count <= kv->k.shape[1] - at.past;
}

rapt_tensor *rapt_causal_self_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                        size_t past)
{
    char sx[96], sk[96];
    if (!kv)
        return rapt_multi_head_attention_forward(t, m, x, x, x, &(rapt_mask){.causal = true, .window = m->window});
    observe_scope outer = observe_enter(t, m->name, 0);
    attention_inputs p = attention_project(t, m, x, x, x, past, kv->cached);
    if (rapt_tape_error(t)->code)
        return p.v;
    if (!attention_fits_cache(m, x, &p, kv))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention %s: input %s does not fit the cache %s", m->name,
                              rapt_shape_text(x, sx, sizeof sx), rapt_shape_text(&kv->k, sk, sizeof sk));
    for (size_t b = 0; b < tape_examples(x); b++) {
        const rapt_cached_row at = kv->cached ? kv->cached[b] : (rapt_cached_row){b, past};
        if (!attention_has_room(x, kv, b, at))
            return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention %s: position %zu, the cache holds %zu", m->name,
                                  at.past + tape_rows_of(x, b).count - 1, kv->k.shape[1]);
    }
    kv_cache_append(t->k, kv, p.k, p.v, past);
    rapt_mask mask = {.causal = true, .past = past, .window = m->window, .cached = kv->cached};
    return observe_leave(t, outer, attention_attend(t, m, attention_of_cache(p.q, kv), &mask));
}

rapt_tensor *rapt_cached_cross_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                         const int32_t *valid_lens)
{
    char text[96];
    if (kv->storage != RAPT_TYPE_FP32 && kv->head * m->kv_heads != kv->k.shape[2])
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention %s: the cache %s has heads of %zu features", m->name,
                              rapt_shape_text(&kv->k, text, sizeof text), kv->head);
    observe_scope outer = observe_enter(t, m->name, 0);
    attention_inputs p = attention_of_cache(rapt_linear_forward(t, &m->q, x), kv);
    return observe_leave(t, outer, attention_attend(t, m, p, &(rapt_mask){.valid_lens = valid_lens}));
}

/* ---- parts with caches of their own --------------------------------------------------------------------------------- */

/* Whether rows that share keys and values may read them one after the other, because they stay in the L2 cache. Otherwise the
 * rows become queries of one example, which reads them once; in bf16 its products of several rows are also faster. */
static bool attention_part_is_near(const rapt_tape *t, const attention_part *p)
{
    const rapt_tensor *k = &p->memory.kv->k;
    return !p->memory.shared ||
           (t->team.gemm == &t->k->gemm && 2 * k->shape[1] * k->shape[2] * sizeof *k->data <= NEAR_BYTES);
}

/* Whether one operation can compute attention for all rows; otherwise each part has its own. */
static bool attention_parts_are_plain(const rapt_tape *t, const rapt_multi_head_attention *m, const rapt_tensor *q,
                                      const attention_part *parts, size_t count, bool cross)
{
    bool plain = m->window == 0 && attention_rows_fit(t, rapt_tensor_features(q) / m->heads, &m->scores);
    for (size_t i = 0; i < count && plain; i++)
        plain = (cross ? parts[i].memory.kv : parts[i].kv)->storage == RAPT_TYPE_FP32 &&
                (!cross || attention_part_is_near(t, &parts[i]));
    return plain;
}

/* The first keys of a row of a cache. */
static attention_query attention_query_of(const rapt_kv *kv, size_t row, size_t keys)
{
    const size_t at = row * kv->k.shape[1] * kv->k.shape[2];
    return (attention_query){kv->k.data + at, kv->v.data + at, keys, kv->panels, row};
}

/* Writes the keys and values that the rows of a part attend to in self-attention, from `to` on. */
static void attention_part_self(const attention_part *p, attention_query *to)
{
    for (size_t i = 0; i < p->count; i++)
        to[i] = attention_query_of(p->kv, i, p->past + 1);
}

/* Writes the keys and values that the rows of a part attend to in cross-attention. */
static void attention_part_cross(const attention_part *p, attention_query *to)
{
    const rapt_decoder_memory *from = &p->memory;
    for (size_t i = 0, sentence = 0; i < p->count; i++) {
        while (from->shared && from->shared->start[sentence + 1] <= i)
            sentence++;
        const size_t row = from->shared ? sentence : i;
        to[i] = attention_query_of(from->kv, row, from->lens ? (size_t)from->lens[row] : from->kv->k.shape[1]);
    }
}

static rapt_tensor *attention_parts_together(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                             const attention_part *parts, size_t count, bool cross)
{
    attention_query *of = tape_alloc(t, q->shape[0], sizeof *of);
    for (size_t i = 0; of && i < count; i++)
        (cross ? attention_part_cross : attention_part_self)(&parts[i], of + parts[i].first);
    if (!of)
        return &t->poison;
    rapt_tensor *y = attention_rows_forward(t, q, of, m->heads, m->kv_heads, &m->scores);
    heads_off(t, y, m->heads, m->off);
    return y;
}

/* The rows of a part, as a view of x. */
static rapt_tensor *attention_part_rows(rapt_tape *t, const rapt_tensor *x, const attention_part *p)
{
    rapt_tensor *y = tape_alloc(t, 1, sizeof *y);
    const size_t d = rapt_tensor_features(x);
    if (!y)
        return &t->poison;
    *y = (rapt_tensor){.data = x->data + p->first * d, .ndim = 3, .shape = {p->count, 1, d}};
    return y;
}

/* Attention of one part by itself; q has its rows. */
static rapt_tensor *attention_part_alone(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                         const attention_part *p, bool cross)
{
    if (!cross)
        return attention_of_heads(t, m, attention_of_cache(q, p->kv),
                                  &(rapt_mask){.causal = true, .past = p->past, .window = m->window});
    if (p->memory.shared) /* the rows of a sentence are the queries of one example */
        q = rapt_op_reshape(t, q, 2, (size_t[]){p->count, rapt_tensor_features(q)}, p->memory.shared);
    return attention_of_heads(t, m, attention_of_cache(q, p->memory.kv), &(rapt_mask){.valid_lens = p->memory.lens});
}

/* Attention of projected queries, in one operation or part by part, and the output projection. */
static rapt_tensor *attention_parts_attend(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                           const attention_part *parts, size_t count, bool cross)
{
    const size_t d = rapt_tensor_features(q);
    if (tape_failed(t))
        return &t->poison;
    if (attention_parts_are_plain(t, m, q, parts, count, cross))
        return rapt_linear_forward(t, &m->o, attention_parts_together(t, m, q, parts, count, cross));
    rapt_tensor *out = rapt_tape_tensor(t, 3, (size_t[]){q->shape[0], 1, d}, false);
    for (size_t i = 0; i < count && !tape_failed(t); i++) {
        const rapt_tensor *y = attention_part_alone(t, m, attention_part_rows(t, q, &parts[i]), &parts[i], cross);
        if (!tape_failed(t))
            memcpy(out->data + parts[i].first * d, y->data, parts[i].count * d * sizeof *y->data);
    }
    return rapt_linear_forward(t, &m->o, out);
}

rapt_tensor *attention_parts_causal(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, const attention_part *parts,
                                    size_t count, const rapt_cached_row *positions)
{
    observe_scope outer = observe_enter(t, m->name, 0);
    const attention_inputs all = attention_project(t, m, x, x, x, 0, positions);
    for (size_t i = 0; i < count && !tape_failed(t); i++) {
        const attention_part *p = &parts[i];
        if (p->past >= p->kv->k.shape[1])
            return rapt_tape_fail(t, RAPT_ERR_SHAPE, "attention %s: position %zu, the cache holds %zu", m->name, p->past,
                                  p->kv->k.shape[1]);
        const rapt_tensor *k = attention_part_rows(t, all.k, p), *v = attention_part_rows(t, all.v, p);
        if (!tape_failed(t))
            kv_cache_append(t->k, p->kv, k, v, p->past);
    }
    return observe_leave(t, outer, attention_parts_attend(t, m, all.q, parts, count, false));
}

rapt_tensor *attention_parts_cross(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, const attention_part *parts,
                                   size_t count)
{
    observe_scope outer = observe_enter(t, m->name, 0);
    rapt_tensor *q = rapt_linear_forward(t, &m->q, x);
    return observe_leave(t, outer, attention_parts_attend(t, m, q, parts, count, true));
}
