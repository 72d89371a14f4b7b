/* cli/bench_train.c: whole training steps on random sentences, timed in their parts. The cases are those that we are
 * compared with elsewhere: same shapes, batch, dropout, optimizer and clipping. */
#include "cli/bench.h"

#include "base/clock.h"
#include "base/rng.h"
#include "rapt/nn.h"
#include "rapt/train.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define POOL 8 /* batches that take turns */
#define MAX_STEPS 100000
#define DEFAULT_SECONDS 5

typedef struct train_case {
    const char *name;
    size_t vocab, d_model, ffn, heads, layers, batch, time, shortest;
    double dropout, smoothing, lr;
    bool bias, tied;
} train_case;

static const train_case CASES[] = {
    {"a1", 200, 32, 64, 4, 2, 64, 10, 4, 0.1, 0, 0.005, false, false},
    {"a2", 10000, 128, 256, 4, 4, 256, 16, 12, 0.3, 0.1, 0.001, true, true},
    {"a3", 10000, 512, 2048, 8, 6, 64, 32, 26, 0.1, 0.1, 0.0001, true, true},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

typedef struct sentences {
    int32_t *source, *inputs, *labels, *source_lens, *target_lens;
    size_t tokens; /* target tokens that count */
} sentences;

/* Milliseconds of each step: forward, backward, clipping, optimizer, all. */
enum { FORWARD, BACKWARD, CLIP, OPTIMIZER, STEP, PARTS };

typedef struct train_bench {
    const train_case *c;
    rapt_transformer *m;
    rapt_tape *t;
    rapt_adam *adam;
    sentences pool[POOL];
    double *ms[PARTS];
    size_t steps, tokens;
    double loss, first_step;
} train_bench;

static int32_t *random_ids(size_t count, uint64_t key, size_t vocab)
{
    int32_t *ids = malloc(count * sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = 4 + (int32_t)rng_below(key, i, vocab - 4);
    return ids;
}

static int32_t *random_lens(const train_case *c, uint64_t key)
{
    int32_t *lens = malloc(c->batch * sizeof *lens);
    for (size_t i = 0; lens && i < c->batch; i++)
        lens[i] = (int32_t)(i == 0 ? c->time : c->shortest + rng_below(key, i, c->time + 1 - c->shortest));
    return lens;
}

static bool make_sentences(const train_case *c, uint64_t key, sentences *s)
{
    size_t n = c->batch * c->time;
    *s = (sentences){random_ids(n, rng_mix(key, 0), c->vocab), random_ids(n, rng_mix(key, 1), c->vocab),
                     random_ids(n, rng_mix(key, 2), c->vocab), random_lens(c, rng_mix(key, 3)),
                     random_lens(c, rng_mix(key, 4)), 0};
    for (size_t i = 0; s->target_lens && i < c->batch; i++)
        s->tokens += (size_t)s->target_lens[i];
    return s->source && s->inputs && s->labels && s->source_lens && s->target_lens;
}

static rapt_code make_model(train_bench *b, const bench_options *o, rapt_error *err)
{
    const train_case *c = b->c;
    rapt_transformer_config config = {c->vocab, c->vocab, c->layers, 1000,
                                      {c->d_model, c->heads, c->ffn, c->bias, c->dropout, RAPT_POST_NORM, RAPT_LINEAR_PYTORCH},
                                      true, c->tied, c->tied ? 1 / sqrt((double)c->d_model) : 1};
    rapt_adam_options adam = {0.9, 0.999, 1e-8, 0};
    b->m = rapt_transformer_new(&config, 1, err);
    b->t = b->m ? rapt_tape_new(&(rapt_tape_options){.threads = o->threads}, err) : NULL;
    b->adam = b->t ? rapt_adam_new(b->m->params, &adam, err) : NULL;
    bool ok = b->adam != NULL;
    for (int i = 0; i < PARTS; i++)
        ok = (b->ms[i] = malloc(MAX_STEPS * sizeof **b->ms)) && ok;
    for (int i = 0; i < POOL; i++)
        ok = make_sentences(c, (uint64_t)i, &b->pool[i]) && ok;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for case %s", c->name);
}

static rapt_code step(train_bench *b, uint64_t number, double clock[PARTS], rapt_error *err)
{
    const train_case *c = b->c;
    const sentences *s = &b->pool[number % POOL];
    rapt_tokens source = {s->source, c->batch, c->time, s->source_lens};
    rapt_tokens inputs = {s->inputs, c->batch, c->time, s->target_lens};
    rapt_tokens labels = {s->labels, c->batch, c->time, s->target_lens};
    double start = clock_seconds();
    rapt_tape_begin(b->t, (rapt_pass){.record = true, .training = true, .seed = 1, .step = number});
    rapt_tensor *logits = rapt_transformer_forward(b->t, b->m, source, s->source_lens, inputs);
    rapt_loss_options o = {.label_smoothing = c->smoothing, .valid_lens = s->target_lens};
    rapt_tensor *loss = rapt_cross_entropy(b->t, logits, labels, &o, NULL);
    double forward = clock_seconds();
    rapt_code code = rapt_backward(b->t, loss, err);
    double backward = clock_seconds();
    double norm = rapt_grad_norm(b->t, b->m->params);
    double clip = clock_seconds();
    if (!code)
        code = rapt_adam_step(b->adam, b->t, c->lr, norm > 1 ? 1 / norm : 1, err);
    rapt_params_zero_grad(b->m->params);
    double end = clock_seconds();
    b->loss = code ? NAN : (double)loss->data[0];
    clock[FORWARD] = forward - start;
    clock[BACKWARD] = backward - forward;
    clock[CLIP] = clip - backward;
    clock[OPTIMIZER] = end - clip;
    clock[STEP] = end - start;
    return code;
}

/* A third of the time warms up, then every step is kept. */
static rapt_code run(train_bench *b, double seconds, rapt_error *err)
{
    double clock[PARTS], start = clock_seconds();
    uint64_t number = 0;
    rapt_code code = step(b, number++, clock, err);
    b->first_step = clock[STEP];
    while (!code && (clock_seconds() - start < seconds / 3 || number < 4))
        code = step(b, number++, clock, err);
    start = clock_seconds();
    while (!code && b->steps < MAX_STEPS && (clock_seconds() - start < seconds || b->steps < 5)) {
        b->tokens += b->pool[number % POOL].tokens;
        code = step(b, number++, clock, err);
        for (int i = 0; i < PARTS; i++)
            b->ms[i][b->steps] = 1e3 * clock[i];
        b->steps++;
    }
    return code;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Products and attention, forward; training is counted as three times that. */
static double step_flops(const train_case *c)
{
    double b = (double)c->batch, t = (double)c->time, d = (double)c->d_model, f = (double)c->ffn;
    double block = b * t * 2 * (4 * d * d + 2 * d * f) + b * 4 * t * t * d;
    double cross = b * t * 2 * 4 * d * d + b * 4 * t * t * d;
    return 3 * ((double)c->layers * (2 * block + cross) + b * t * 2 * d * (double)c->vocab);
}

static json_t *result_json(train_bench *b)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double median[PARTS];
    for (int i = 0; i < PARTS; i++) {
        qsort(b->ms[i], b->steps, sizeof **b->ms, by_value);
        median[i] = b->ms[i][b->steps / 2];
    }
    double ms = median[STEP], real = (double)b->tokens / (double)b->steps, padded = (double)(b->c->batch * b->c->time);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:I, "
                     "s:f, s:f}",
                     "case", b->c->name, "sys", "rapt", "mode", "fp32", "isa", rapt_tape_isa(b->t), "threads",
                     rapt_tape_threads(b->t), "batch", (json_int_t)b->c->batch, "params",
                     (json_int_t)rapt_params_size(b->m->params), "ms", ms, "p10", b->ms[STEP][b->steps / 10], "p90",
                     b->ms[STEP][b->steps * 9 / 10], "fwd", median[FORWARD], "bwd", median[BACKWARD], "clip",
                     median[CLIP], "optim", median[OPTIMIZER], "steps", (json_int_t)b->steps, "tok_real_s",
                     floor(real / ms * 1e3), "tok_pad_s", floor(padded / ms * 1e3), "mflop", step_flops(b->c) * 1e-6,
                     "gflops", step_flops(b->c) / ms * 1e-6, "rss_mb", (json_int_t)(usage.ru_maxrss / 1024), "first_step_s",
                     b->first_step, "loss", b->loss);
}

static void print_result(const bench_options *o, train_bench *b)
{
    json_t *r = result_json(b);
    char *text = r && o->json ? json_dumps(r, JSON_REAL_PRECISION(6)) : NULL;
    if (text)
        puts(text);
    else if (r)
        printf("%s: %.3f ms a step (median of %lld; forward %.3f, backward %.3f, clip %.3f, Adam %.3f), %.0f tokens/s, "
               "%.1f GFLOP/s, %lld MB\n", b->c->name, json_real_value(json_object_get(r, "ms")), (long long)b->steps,
               json_real_value(json_object_get(r, "fwd")), json_real_value(json_object_get(r, "bwd")),
               json_real_value(json_object_get(r, "clip")), json_real_value(json_object_get(r, "optim")),
               json_real_value(json_object_get(r, "tok_real_s")), json_real_value(json_object_get(r, "gflops")),
               (long long)json_integer_value(json_object_get(r, "rss_mb")));
    free(text);
    json_decref(r);
}

static void release(train_bench *b)
{
    for (int i = 0; i < POOL; i++) {
        free(b->pool[i].source);
        free(b->pool[i].inputs);
        free(b->pool[i].labels);
        free(b->pool[i].source_lens);
        free(b->pool[i].target_lens);
    }
    for (int i = 0; i < PARTS; i++)
        free(b->ms[i]);
    rapt_adam_free(b->adam);
    rapt_tape_free(b->t);
    rapt_transformer_free(b->m);
}

rapt_code bench_train(const bench_options *o, rapt_error *err)
{
    const char *name = o->case_name ? o->case_name : "a1";
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (strcmp(CASES[i].name, name) != 0)
            continue;
        train_bench b = {.c = &CASES[i]};
        rapt_code code = make_model(&b, o, err);
        if (!code)
            code = run(&b, o->seconds > 0 ? o->seconds : DEFAULT_SECONDS, err);
        if (!code)
            print_result(o, &b);
        release(&b);
        return code;
    }
    return rapt_fail(err, RAPT_NOT_FOUND, "there is no case \"%s\"; there are a1, a2 and a3", name);
}
