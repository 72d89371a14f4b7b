/* tests/nn/observed.h: small models of every kind, and a list of what they hand over, for the tests of rapt/observe.h.
 * It checks nothing itself. For the double build, too. */
#ifndef TESTS_NN_OBSERVED_H
#define TESTS_NN_OBSERVED_H

#include "nn/model.h"

#include "rapt/lm.h"
#include "rapt/observe.h"

#define BATCH 2
#define SOURCE_TIME 5
#define TIME 7

/* A step with its numbers, which outlive the call. */
typedef struct observed {
    char name[80], formula[80], axes[80];
    rapt_tensor tensor;       /* its shape; data points to `values` */
    const rapt_tensor *given; /* what was handed over */
    rapt_real *values;
    bool gradient;
} observed;

typedef struct observer {
    observed *steps;
    size_t count;
} observer;

/* A rapt_observe_fn; the context is an observer. */
static inline void observer_keep(void *context, const rapt_observation *step)
{
    observer *r = context;
    size_t bytes = rapt_tensor_size(step->tensor) * sizeof *step->values;
    r->steps = realloc(r->steps, (r->count + 1) * sizeof *r->steps);
    assert_non_null(r->steps);
    observed *k = &r->steps[r->count++];
    *k = (observed){.tensor = *step->tensor, .given = step->tensor, .values = malloc(bytes), .gradient = step->gradient};
    assert_non_null(k->values);
    memcpy(k->values, step->values, bytes);
    k->tensor.data = k->values;
    snprintf(k->name, sizeof k->name, "%s", step->name);
    snprintf(k->formula, sizeof k->formula, "%s", step->formula ? step->formula : "");
    snprintf(k->axes, sizeof k->axes, "%s", step->axes);
}

static inline void observer_free(observer *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->steps[i].values);
    free(r->steps);
    *r = (observer){0};
}

/* ---- models ----------------------------------------------------------------------------------------------- */

#define SUBJECTS 10

/* One of the two models. */
typedef struct subject {
    const char *what;
    rapt_transformer *pair;
    rapt_lm *lm;
    rapt_params *params;
} subject;

static inline rapt_transformer *subject_pair(bool pre, bool tied, bool later)
{
    rapt_error err = {0};
    rapt_transformer_config c = {
        .source_vocab = 17, .target_vocab = tied ? 17 : 19, .layers = 2, .max_positions = 9, .scale_embedding = !tied,
        .tied = tied, .block = {.d_model = 12, .heads = 3, .ffn = 21, .bias = !tied, .dropout = 0.2,
                                .norm_place = pre ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST}};
    if (later) {
        c.positions = pre ? RAPT_POSITIONS_ROTARY : RAPT_POSITIONS_LEARNED;
        c.block.kv_heads = pre ? 1 : 3;
        c.block.norm_kind = pre ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER;
        c.block.ffn_kind = pre ? RAPT_FFN_SWIGLU : RAPT_FFN_GELU;
        c.block.shared_norm = !pre;
        c.block.no_ffn_bias = pre;
        c.block.init = RAPT_WEIGHT_INIT_PYTORCH;
    }
    rapt_transformer *m = rapt_transformer_new(&c, 3, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

static inline rapt_lm *subject_lm(rapt_lm_config c)
{
    rapt_error err = {0};
    c.vocab = 17, c.context = 9, c.block.d_model = 24, c.block.heads = 6, c.block.ffn = 21, c.block.dropout = 0.2;
    rapt_lm *m = rapt_lm_new(&c, 3, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

/* Biases, gammas and betas start as zeros and ones: other numbers show which is used where. */
static inline void subject_stir(rapt_params *set)
{
    for (size_t p = 0; p < rapt_params_count(set); p++) {
        rapt_param *w = rapt_params_at(set, p);
        for (size_t i = 0; !w->buffer && w->value.ndim == 1 && i < w->value.shape[0]; i++)
            w->value.data[i] += (rapt_real)(0.2 * rng_normal(40 + p, i));
    }
}

static inline subject subject_new(size_t i)
{
    static const char *const names[SUBJECTS] = {
        "post-norm pair", "pre-norm tied pair", "seed language model", "pre-norm GELU", "Llama shape",
        "post-norm RMS, one head of keys", "scaled rotary GELU without biases", "Llama-shaped pair",
        "tied pair with learned positions, GELU and one norm a block", "ALiBi"};
    rapt_lm_config seed = {.layers = 2, .output_bias = true,
                           .block = {.shared_norm = true, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH}},
        gelu = {.layers = 2, .positions = RAPT_POSITIONS_LEARNED, .tied = true,
                .block = {.norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU, .bias = true,
                          .init = RAPT_WEIGHT_INIT_PYTORCH}},
        llama = {.layers = 2, .positions = RAPT_POSITIONS_ROTARY,
                 .block = {.kv_heads = 2, .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_RMS,
                           .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH}},
        rms = {.layers = 1, .scale_embedding = true,
               .block = {.kv_heads = 1, .norm_kind = RAPT_NORM_KIND_RMS, .ffn_kind = RAPT_FFN_SWIGLU, .bias = true,
                         .init = RAPT_WEIGHT_INIT_PYTORCH}},
        scaled = {.layers = 1, .positions = RAPT_POSITIONS_ROTARY, .scale_embedding = true,
                  .block = {.kv_heads = 3, .norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU_TANH,
                            .no_ffn_bias = true, .no_norm_bias = true}};
    rapt_lm_config configs[] = {seed, gelu, llama, rms, scaled}, alibi = llama;
    alibi.positions = RAPT_POSITIONS_ALIBI;
    subject s = {.what = names[i]};
    if (i < 2)
        s.pair = subject_pair(i == 1, i == 1, false);
    else if (i == 9)
        s.lm = subject_lm(alibi);
    else if (i > 6)
        s.pair = subject_pair(i == 7, i == 8, true);
    else
        s.lm = subject_lm(configs[i - 2]);
    s.params = s.pair ? s.pair->params : s.lm->params;
    subject_stir(s.params);
    return s;
}

static inline void subject_free(subject *s)
{
    rapt_transformer_free(s->pair);
    rapt_lm_free(s->lm);
}

static const int32_t subject_source_lens[BATCH] = {SOURCE_TIME, 3}, subject_lens[BATCH] = {TIME, 4};

static inline int32_t *subject_ids(int32_t *ids, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)rng_below(key, i, 17);
    return ids;
}

/* Logits of the same sentences every time; the second is shorter. */
static inline rapt_tensor *subject_logits(rapt_tape *t, const subject *s)
{
    int32_t source[BATCH * SOURCE_TIME], ids[BATCH * TIME];
    subject_ids(source, BATCH * SOURCE_TIME, 5);
    subject_ids(ids, BATCH * TIME, 6);
    if (s->lm)
        return rapt_lm_forward(t, s->lm, (rapt_tokens){ids, BATCH, TIME, NULL});
    return rapt_transformer_forward(t, s->pair, (rapt_tokens){source, BATCH, SOURCE_TIME, subject_source_lens},
                                    subject_source_lens, (rapt_tokens){ids, BATCH, TIME, subject_lens});
}

/* As training computes it. */
static inline rapt_tensor *subject_loss(rapt_tape *t, const subject *s)
{
    int32_t labels[BATCH * TIME], ids[BATCH * TIME];
    rapt_tokens l = {subject_ids(labels, BATCH * TIME, 7), BATCH, TIME, NULL};
    rapt_loss_options o = {.valid_lens = subject_lens, .label_smoothing = 0.1};
    if (s->pair)
        return rapt_op_cross_entropy(t, subject_logits(t, s), l, &o, NULL);
    subject_ids(ids, BATCH * TIME, 6);
    return rapt_lm_loss(t, s->lm, (rapt_tokens){ids, BATCH, TIME, NULL}, l, &o, NULL);
}

static inline void subject_check(const rapt_tape *t, const char *what)
{
    if (rapt_tape_error(t)->code)
        fail_msg("%s: %s", what, rapt_tape_error(t)->message);
}

#endif
