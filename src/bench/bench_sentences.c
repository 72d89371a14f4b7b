/* bench/bench_sentences.c: the translation cases of `rapt-bench train`: the d2l book's model (a1), a Multi30k-sized one (a2),
 * a base-sized one (a3), on random sentences. */
#include "bench/bench_workload.h"

#include "base/rng.h"
#include "rapt/nn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sentence_case {
    const char *name;
    size_t vocab, d_model, ffn, heads, layers, batch, time, shortest;
    double dropout, smoothing, lr;
    bool bias, tied;
} sentence_case;

static const sentence_case CASES[] = {
    {"a1", 200, 32, 64, 4, 2, 64, 10, 4, 0.1, 0, 0.005, false, false},
    {"a2", 10000, 128, 256, 4, 4, 256, 16, 12, 0.3, 0.1, 0.001, true, true},
    {"a3", 10000, 512, 2048, 8, 6, 64, 32, 26, 0.1, 0.1, 0.0001, true, true},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

typedef struct sentences {
    int32_t *source, *inputs, *labels, *source_lens, *target_lens;
    size_t tokens; /* target tokens that count */
} sentences;

typedef struct translation {
    sentence_case c;
    rapt_transformer *m;
    sentences pool[WORKLOAD_POOL];
} translation;

static int32_t *random_lens(const sentence_case *c, uint64_t key)
{
    int32_t *lens = malloc(c->batch * sizeof *lens);
    for (size_t i = 0; lens && i < c->batch; i++)
        lens[i] = (int32_t)(i == 0 ? c->time : c->shortest + rng_below(key, i, c->time + 1 - c->shortest));
    return lens;
}

static bool make_sentences(const sentence_case *c, uint64_t key, sentences *s)
{
    size_t n = c->batch * c->time;
    *s = (sentences){workload_ids(n, rng_mix(key, 0), 4, c->vocab), workload_ids(n, rng_mix(key, 1), 4, c->vocab),
                     workload_ids(n, rng_mix(key, 2), 4, c->vocab), random_lens(c, rng_mix(key, 3)),
                     random_lens(c, rng_mix(key, 4)), 0};
    for (size_t i = 0; s->target_lens && i < c->batch; i++)
        s->tokens += (size_t)s->target_lens[i];
    return s->source && s->inputs && s->labels && s->source_lens && s->target_lens;
}

static rapt_tensor *sentence_loss(workload *w, rapt_tape *t, uint64_t number)
{
    const translation *x = w->own;
    const sentence_case *c = &x->c;
    const sentences *s = &x->pool[number % WORKLOAD_POOL];
    rapt_tokens source = {s->source, c->batch, c->time, s->source_lens};
    rapt_tokens inputs = {s->inputs, c->batch, c->time, s->target_lens};
    rapt_tokens labels = {s->labels, c->batch, c->time, s->target_lens};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .recompute = w->recompute, .seed = 1, .step = number});
    rapt_loss_options o = {.label_smoothing = c->smoothing, .valid_lens = s->target_lens};
    return rapt_transformer_loss(t, x->m, source, s->source_lens, inputs, labels, &o, NULL);
}

static size_t sentence_tokens(const workload *w, uint64_t number)
{
    return ((const translation *)w->own)->pool[number % WORKLOAD_POOL].tokens;
}

static void free_sentences(workload *w)
{
    translation *x = w->own;
    for (int i = 0; i < WORKLOAD_POOL; i++) {
        free(x->pool[i].source);
        free(x->pool[i].inputs);
        free(x->pool[i].labels);
        free(x->pool[i].source_lens);
        free(x->pool[i].target_lens);
    }
    rapt_transformer_free(x->m);
    free(x);
}

/* FLOPs of a step: three times the GEMMs and attention of a forward pass with padded rows. */
static double translation_step_flops(const sentence_case *c)
{
    double b = (double)c->batch, t = (double)c->time, d = (double)c->d_model, f = (double)c->ffn;
    double block = b * t * 2 * (4 * d * d + 2 * d * f) + b * 4 * t * t * d;
    double cross = b * t * 2 * 4 * d * d + b * 4 * t * t * d;
    return 3 * ((double)c->layers * (2 * block + cross) + b * t * 2 * d * (double)c->vocab);
}

static rapt_transformer_config config_of(const sentence_case *c)
{
    return (rapt_transformer_config){
        .source_vocab = c->vocab, .target_vocab = c->vocab, .layers = c->layers, .max_positions = c->time > 1000 ? c->time : 1000,
        .block = {.d_model = c->d_model, .heads = c->heads, .ffn = c->ffn, .bias = c->bias, .dropout = c->dropout,
                  .init = RAPT_WEIGHT_INIT_PYTORCH},
        .scale_embedding = true, .tied = c->tied, .embedding_std = c->tied ? 1 / sqrt((double)c->d_model) : 1};
}

static rapt_code bench_sentences_open_case(const sentence_case *c, workload *w, rapt_error *err)
{
    rapt_transformer_config config = config_of(c);
    translation *x = calloc(1, sizeof *x);
    if (!x)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for case %s", c->name);
    x->c = *c;
    *w = (workload){.name = c->name, .batch = c->batch, .time = c->time, .layers = c->layers, .width = c->d_model,
                    .vocab = c->vocab, .flops = translation_step_flops(c), .lr = c->lr, .own = x, .loss = sentence_loss,
                    .tokens = sentence_tokens, .free = free_sentences};
    x->m = rapt_transformer_new(&config, 1, err);
    bool ok = x->m != NULL;
    w->params = ok ? x->m->params : NULL;
    for (int i = 0; i < WORKLOAD_POOL; i++)
        ok = make_sentences(c, (uint64_t)i, &x->pool[i]) && ok;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for case %s", c->name);
}

static sentence_case resized_translation(sentence_case c, const bench_sizes *s)
{
    size_t features = c.d_model / c.heads, time = bench_size(s->time, c.time), width = bench_size(s->width, c.d_model);
    c.layers = bench_size(s->layers, c.layers);
    c.ffn = c.ffn * width / c.d_model;
    c.d_model = width;
    c.heads = width / features;
    c.vocab = bench_size(s->vocab, c.vocab);
    c.batch = bench_size(s->batch, c.batch);
    c.shortest = (c.shortest * time + c.time - 1) / c.time;
    c.time = time;
    return c;
}

/* The case of a name with other sizes. */
static rapt_code find_case(const char *name, const bench_sizes *sizes, sentence_case *c, rapt_error *err)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (strcmp(CASES[i].name, name) != 0)
            continue;
        *c = resized_translation(CASES[i], sizes);
        return bench_check_width(name, c->d_model, CASES[i].d_model / CASES[i].heads, err);
    }
    return RAPT_ERR_NOT_FOUND;
}

rapt_code workload_translation(const char *name, const bench_sizes *sizes, rapt_transformer_config *config, rapt_error *err)
{
    sentence_case c;
    rapt_code code = find_case(name, sizes, &c, err);
    if (!code)
        *config = config_of(&c);
    return code;
}

rapt_code workload_sentences(const char *name, const bench_sizes *sizes, workload *w, rapt_error *err)
{
    sentence_case c;
    rapt_code code = find_case(name, sizes, &c, err);
    return code ? code : bench_sentences_open_case(&c, w, err);
}
