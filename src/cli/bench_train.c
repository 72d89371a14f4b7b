/* cli/bench_train.c: whole training steps, timed in their parts. What is trained is in bench_sentences.c and
 * bench_windows.c. */
#include "cli/bench.h"

#include "base/clock.h"
#include "base/rng.h"
#include "cli/bench_profile.h"
#include "cli/bench_workload.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_STEPS 100000
#define DEFAULT_SECONDS 5

/* Milliseconds of each step: forward, backward, clipping, optimizer, all. */
enum { FORWARD, BACKWARD, CLIP, OPTIMIZER, STEP, PARTS };

typedef struct train_bench {
    workload w;
    rapt_tape *t;
    rapt_adam *adam;
    double *ms[PARTS];
    size_t steps, tokens;
    double loss, first_step;
} train_bench;

int32_t *workload_ids(size_t count, uint64_t key, size_t first, size_t vocab)
{
    int32_t *ids = malloc(count * sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = (int32_t)(first + rng_below(key, i, vocab - first));
    return ids;
}

static rapt_code make_machinery(train_bench *b, const bench_options *o, rapt_error *err)
{
    rapt_adam_options adam = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = b->w.weight_decay};
    b->t = rapt_tape_new(&(rapt_tape_options){.threads = o->threads, .precision = o->precision}, err);
    b->adam = b->t ? rapt_adam_new(b->w.params, &adam, err) : NULL;
    bool ok = b->adam != NULL;
    for (int i = 0; i < PARTS; i++)
        ok = (b->ms[i] = malloc(MAX_STEPS * sizeof **b->ms)) && ok;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for case %s", b->w.name);
}

static rapt_code step(train_bench *b, uint64_t number, double clock[PARTS], rapt_error *err)
{
    double start = clock_seconds();
    rapt_tensor *loss = b->w.loss(&b->w, b->t, b->adam, number);
    double forward = clock_seconds();
    rapt_code code = rapt_backward(b->t, loss, err);
    double backward = clock_seconds();
    double norm = rapt_grad_norm(b->t, b->w.params);
    double clip = clock_seconds();
    if (!code)
        code = rapt_adam_step(b->adam, b->t, b->w.lr, norm > 1 ? 1 / norm : 1, err);
    rapt_params_zero_grad(b->w.params);
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
static rapt_code run(train_bench *b, double seconds, bool profile, rapt_error *err)
{
    double clock[PARTS], start = clock_seconds();
    uint64_t number = 0;
    rapt_code code = step(b, number++, clock, err);
    b->first_step = clock[STEP];
    while (!code && (clock_seconds() - start < seconds / 3 || number < 4))
        code = step(b, number++, clock, err);
    rapt_tape_profile(b->t, profile);
    start = clock_seconds();
    while (!code && b->steps < MAX_STEPS && (clock_seconds() - start < seconds || b->steps < 5)) {
        b->tokens += b->w.tokens(&b->w, number);
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

static json_t *result_json(train_bench *b)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double median[PARTS];
    for (int i = 0; i < PARTS; i++) {
        qsort(b->ms[i], b->steps, sizeof **b->ms, by_value);
        median[i] = b->ms[i][b->steps / 2];
    }
    double ms = median[STEP], real = (double)b->tokens / (double)b->steps, padded = (double)(b->w.batch * b->w.time);
    const char *mode = strcmp(rapt_tape_products(b->t), "fp32") == 0 ? "fp32" : "bf16";
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:I, "
                     "s:f, s:f}",
                     "case", b->w.name, "sys", "rapt", "mode", mode, "isa", rapt_tape_isa(b->t), "threads",
                     rapt_tape_threads(b->t), "batch", (json_int_t)b->w.batch, "params",
                     (json_int_t)rapt_params_size(b->w.params), "ms", ms, "p10", b->ms[STEP][b->steps / 10], "p90",
                     b->ms[STEP][b->steps * 9 / 10], "fwd", median[FORWARD], "bwd", median[BACKWARD], "clip",
                     median[CLIP], "optim", median[OPTIMIZER], "steps", (json_int_t)b->steps, "tok_real_s",
                     floor(real / ms * 1e3), "tok_pad_s", floor(padded / ms * 1e3), "mflop", b->w.flops * 1e-6,
                     "gflops", b->w.flops / ms * 1e-6, "rss_mb", (json_int_t)(usage.ru_maxrss / 1024), "first_step_s",
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
               "%.1f GFLOP/s, %lld MB\n", b->w.name, json_real_value(json_object_get(r, "ms")), (long long)b->steps,
               json_real_value(json_object_get(r, "fwd")), json_real_value(json_object_get(r, "bwd")),
               json_real_value(json_object_get(r, "clip")), json_real_value(json_object_get(r, "optim")),
               json_real_value(json_object_get(r, "tok_real_s")), json_real_value(json_object_get(r, "gflops")),
               (long long)json_integer_value(json_object_get(r, "rss_mb")));
    free(text);
    json_decref(r);
}

static rapt_code print_profile(const bench_options *o, train_bench *b, rapt_error *err)
{
    double ms = 0;
    for (size_t i = 0; i < b->steps; i++)
        ms += b->ms[STEP][i];
    return bench_profile_print(b->t, b->steps, ms / 1e3, o->json, err);
}

static void release(train_bench *b)
{
    for (int i = 0; i < PARTS; i++)
        free(b->ms[i]);
    rapt_adam_free(b->adam);
    rapt_tape_free(b->t);
    if (b->w.own)
        b->w.free(&b->w);
}

rapt_code bench_train(const bench_options *o, rapt_error *err)
{
    const char *name = o->case_name ? o->case_name : "a1";
    train_bench b = {0};
    rapt_code code = workload_sentences(name, &b.w, err);
    if (code == RAPT_NOT_FOUND)
        code = workload_windows(name, &b.w, err);
    if (code == RAPT_NOT_FOUND)
        rapt_fail(err, code, "there is no case \"%s\"; there are a1, a2, a3, a4n, a4b, a5 and a6", name);
    if (!code)
        code = make_machinery(&b, o, err);
    if (!code)
        code = run(&b, o->seconds > 0 ? o->seconds : DEFAULT_SECONDS, o->profile, err);
    if (!code && o->profile)
        code = print_profile(o, &b, err);
    else if (!code)
        print_result(o, &b);
    release(&b);
    return code;
}
