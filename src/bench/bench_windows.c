/* bench/bench_windows.c: the language model cases of `rapt-bench train`: nanoGPT's CPU settings (a4n) and baby GPT (a4b), a
 * small model under a vocabulary of 100,000 (a5), GPT-2 with 124 million parameters (a6), one row of 8,192 tokens (long), on
 * random tokens. */
#include "bench/bench_workload.h"

#include "ops/deferred.h"
#include "rapt/lm.h"

#include <stdlib.h>
#include <string.h>

typedef struct window_case {
    const char *name;
    size_t vocab, d_model, heads, layers, time, batch, context;
    double dropout, lr;
    bool bias, tied;
} window_case;

static const window_case CASES[] = {
    {"a4n", 65, 128, 4, 4, 64, 12, 64, 0, 0.001, false, true},
    {"a4b", 65, 384, 6, 6, 256, 8, 256, 0.2, 0.001, false, true},
    {"a5", 100069, 64, 4, 8, 16, 4, 16, 0.1, 0.001, true, false},
    {"long", 65, 256, 4, 4, 8192, 1, 8192, 0, 0.001, false, true},
    {"a6", 50257, 768, 12, 12, 64, 4, 1024, 0, 0.0001, true, true},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

typedef struct windows {
    window_case c;
    rapt_lm *m;
    int32_t *pool[WORKLOAD_POOL]; /* [batch, time + 1] */
    int32_t *inputs, *labels;     /* input and labels of the current step */
} windows;

static void take_windows(const windows *x, uint64_t number)
{
    size_t time = x->c.time;
    for (size_t b = 0; b < x->c.batch; b++) {
        const int32_t *row = x->pool[number % WORKLOAD_POOL] + b * (time + 1);
        memcpy(x->inputs + b * time, row, time * sizeof *row);
        memcpy(x->labels + b * time, row + 1, time * sizeof *row);
    }
}

static rapt_tensor *window_loss(workload *w, rapt_tape *t, uint64_t number)
{
    const windows *x = w->own;
    const window_case *c = &x->c;
    rapt_tokens inputs = {x->inputs, c->batch, c->time}, labels = {x->labels, c->batch, c->time};
    take_windows(x, number);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .recompute = w->recompute, .seed = 1, .step = number});
    tape_defer_gradients(t, !c->tied);
    return rapt_lm_loss(t, x->m, inputs, labels, NULL, NULL);
}

static size_t window_tokens(const workload *w, uint64_t number)
{
    (void)number;
    return w->batch * w->time;
}

static void free_windows(workload *w)
{
    windows *x = w->own;
    for (int i = 0; i < WORKLOAD_POOL; i++)
        free(x->pool[i]);
    free(x->inputs);
    free(x->labels);
    rapt_lm_free(x->m);
    free(x);
}

/* FLOPs of GEMMs and attention (its whole square), forward, three times. */
static double language_model_step_flops(const window_case *c)
{
    double b = (double)c->batch, t = (double)c->time, d = (double)c->d_model;
    return 3 * ((double)c->layers * (b * t * 2 * 12 * d * d + b * 4 * t * t * d) + b * t * 2 * d * (double)c->vocab);
}

static bool bench_windows_allocate(windows *x)
{
    const window_case *c = &x->c;
    size_t count = c->batch * c->time;
    bool ok = (x->inputs = malloc(count * sizeof *x->inputs)) && (x->labels = malloc(count * sizeof *x->labels));
    for (int i = 0; i < WORKLOAD_POOL; i++)
        ok = (x->pool[i] = workload_ids(c->batch * (c->time + 1), (uint64_t)i, 0, c->vocab)) && ok;
    return ok;
}

static window_case resized_language_model(window_case c, const bench_sizes *s)
{
    size_t features = c.d_model / c.heads;
    c.layers = bench_size(s->layers, c.layers);
    c.d_model = bench_size(s->width, c.d_model);
    c.heads = c.d_model / features;
    c.vocab = bench_size(s->vocab, c.vocab);
    c.batch = bench_size(s->batch, c.batch);
    c.time = bench_size(s->time, c.time);
    c.context = c.time > c.context ? c.time : c.context;
    return c;
}

static rapt_code bench_windows_open_case(const window_case *c, workload *w, rapt_error *err)
{
    rapt_block_config block = {.d_model = c->d_model, .heads = c->heads, .ffn = 4 * c->d_model,
                               .norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU, .bias = c->bias,
                               .no_ffn_bias = !c->bias, .no_norm_bias = !c->bias, .dropout = c->dropout,
                               .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_lm_config config = {.vocab = c->vocab, .layers = c->layers, .context = c->context, .block = block,
                             .positions = RAPT_POSITIONS_LEARNED, .tied = c->tied, .output_bias = !c->tied,
                             .embedding_std = 0.02};
    windows *x = calloc(1, sizeof *x);
    if (!x)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for case %s", c->name);
    x->c = *c;
    *w = (workload){.name = c->name, .batch = c->batch, .time = c->time, .layers = c->layers, .width = c->d_model,
                    .vocab = c->vocab, .flops = language_model_step_flops(c), .lr = c->lr, .weight_decay = 0.01, .own = x,
                    .loss = window_loss, .tokens = window_tokens, .free = free_windows};
    x->m = rapt_lm_new(&config, 1, err);
    w->params = x->m ? x->m->params : NULL;
    if (x->m && !c->tied)
        rapt_param_make_sparse(w->params, x->m->input.embedding.weight);
    return bench_windows_allocate(x) && x->m ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for case %s", c->name);
}

rapt_code workload_windows(const char *name, const bench_sizes *sizes, workload *w, rapt_error *err)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (strcmp(CASES[i].name, name) != 0)
            continue;
        window_case c = resized_language_model(CASES[i], sizes);
        rapt_code code = bench_check_width(name, c.d_model, CASES[i].d_model / CASES[i].heads, err);
        return code ? code : bench_windows_open_case(&c, w, err);
    }
    return RAPT_ERR_NOT_FOUND;
}
