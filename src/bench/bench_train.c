/* bench/bench_train.c: whole training steps, and the time of their parts. bench_sentences.c and bench_windows.c have the
 * workloads. */
#include "bench/bench.h"

#include "base/clock.h"
#include "bench/bench_memory.h"
#include "bench/bench_profile.h"
#include "bench/bench_times.h"
#include "bench/bench_workload.h"
#include "cli/machine_peak.h"
#include "tape/tape_core.h"
#include "tensor/params.h"
#include "train/optimizer/grad_release.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_SECONDS 5

/* Milliseconds of each step: forward, backward, clipping, optimizer, all. */
enum { FORWARD, BACKWARD, CLIP, OPTIMIZER, STEP, PARTS };

typedef struct train_bench {
    workload w;
    rapt_tape *t;
    rapt_adam *adam;
    grad_release *release; /* with --release-gradients */
    bench_times ms[PARTS];
    size_t tokens;
    double loss, first_step;
} train_bench;

/* A counting pass shows when each gradient is complete. */
static rapt_code make_release(train_bench *b, rapt_error *err)
{
    b->release = grad_release_new(b->t, b->w.params, err);
    if (!b->release)
        return err->code;
    tape_count(b->t, true);
    grad_release_learn(b->release);
    rapt_code code = rapt_backward(b->t, b->w.loss(&b->w, b->t, 0), err);
    grad_release_learnt(b->release);
    tape_count(b->t, false);
    rapt_params_zero_grad(b->w.params);
    return code ? code : grad_release_place(b->release, b->w.params, err);
}

static rapt_code make_machinery(train_bench *b, const bench_options *o, rapt_error *err)
{
    rapt_adam_options adam = rapt_adam_options_default();
    adam.weight_decay = b->w.weight_decay;
    adam.bits8 = o->optimizer == RAPT_RECIPE_OPTIMIZER_ADAM8BIT;
    if (o->gradients_bf16 && params_store_gradients_bf16(b->w.params, err))
        return err->code;
    b->w.recompute = o->recompute;
    b->t = rapt_tape_new(&(rapt_compute){.threads = o->threads, .type = o->precision}, err);
    if (!b->t)
        return err->code;
    rapt_muon_options muon = rapt_muon_options_default();
    muon.weight_decay = adam.weight_decay;
    b->adam = o->optimizer == RAPT_RECIPE_OPTIMIZER_MUON ? rapt_muon_new(b->w.params, &muon, &adam, err)
                                                         : rapt_adam_new(b->w.params, &adam, err);
    if (b->adam && o->release_gradients)
        return make_release(b, err);
    return b->adam ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for case %s", b->w.name);
}

/* The step is a part of the backward pass, and nothing is clipped, as with train.clip 0. */
static rapt_code bench_released_step(train_bench *b, uint64_t number, double clock[PARTS], rapt_error *err)
{
    double start = clock_seconds(), norm;
    grad_release_begin(b->release, b->adam, b->w.lr, 1);
    rapt_tensor *loss = b->w.loss(&b->w, b->t, number);
    double forward = clock_seconds();
    rapt_code code = rapt_backward(b->t, loss, err);
    code = grad_release_end(b->release, code, &norm, err);
    double end = clock_seconds();
    b->loss = code ? NAN : (double)loss->data[0];
    clock[FORWARD] = forward - start;
    clock[BACKWARD] = end - forward;
    clock[CLIP] = clock[OPTIMIZER] = 0;
    clock[STEP] = end - start;
    return code;
}

static rapt_code bench_train_step(train_bench *b, uint64_t number, double clock[PARTS], rapt_error *err)
{
    if (b->release)
        return bench_released_step(b, number, clock, err);
    double start = clock_seconds();
    rapt_tensor *loss = b->w.loss(&b->w, b->t, number);
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

static rapt_code bench_train_keep(train_bench *b, const double clock[PARTS], rapt_error *err)
{
    for (int i = 0; i < PARTS; i++)
        if (!bench_times_add(&b->ms[i], 1e3 * clock[i]))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    return RAPT_OK;
}

/* A third of the time warms up, then every step is kept. */
static rapt_code bench_train_run(train_bench *b, double seconds, bool profile, rapt_error *err)
{
    double clock[PARTS], start = clock_seconds();
    uint64_t number = 0;
    rapt_code code = bench_train_step(b, number++, clock, err);
    b->first_step = clock[STEP];
    while (!code && (clock_seconds() - start < seconds / 3 || number < 4))
        code = bench_train_step(b, number++, clock, err);
    rapt_tape_profile(b->t, profile);
    start = clock_seconds();
    while (!code && (clock_seconds() - start < seconds || b->ms[STEP].count < 5)) {
        b->tokens += b->w.tokens(&b->w, number);
        code = bench_train_step(b, number++, clock, err);
        code = code ? code : bench_train_keep(b, clock, err);
    }
    return code;
}

static const char *bench_optimizer(const bench_options *o)
{
    static const char *const names[] = {"adam", "adam8bit", "muon"};
    return names[o->optimizer];
}

static json_t *bench_train_result_json(const bench_options *o, train_bench *b, double peak)
{
    double median[PARTS], padded = (double)(b->w.batch * b->w.time);
    for (int i = 0; i < PARTS; i++)
        median[i] = bench_times_at(&b->ms[i], 0.5);
    double ms = median[STEP], real = (double)b->tokens / (double)b->ms[STEP].count, rate = b->w.flops / ms * 1e-6;
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, "
                     "s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f}",
                     "case", b->w.name, "sys", "rapt", "mode", bench_precision(o), "optimizer", bench_optimizer(o),
                     "recompute", o->recompute, "isa", rapt_tape_isa(b->t), "threads", rapt_tape_threads(b->t), "batch",
                     (json_int_t)b->w.batch,
                     "time", (json_int_t)b->w.time, "layers", (json_int_t)b->w.layers, "width", (json_int_t)b->w.width,
                     "vocab", (json_int_t)b->w.vocab, "params", (json_int_t)rapt_params_size(b->w.params), "ms", ms, "p10",
                     bench_times_at(&b->ms[STEP], 0.1), "p90", bench_times_at(&b->ms[STEP], 0.9), "fwd", median[FORWARD], "bwd",
                     median[BACKWARD], "clip", median[CLIP], "optim", median[OPTIMIZER], "steps",
                     (json_int_t)b->ms[STEP].count, "tok_real_s", floor(real / ms * 1e3), "tok_pad_s",
                     floor(padded / ms * 1e3), "mflop", b->w.flops * 1e-6, "gflops", rate,
                     "peak_gflops", peak, "peak_share", rate / peak, "rss_mb", (json_int_t)bench_peak_memory(), "first_step_s",
                     b->first_step, "loss", b->loss);
}

static rapt_code bench_train_print_result(const bench_options *o, train_bench *b, double peak, rapt_error *err)
{
    json_t *r = bench_train_result_json(o, b, peak);
    rapt_code code = r ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a result");
    if (o->json)
        code = bench_print_json(r, err);
    else if (r)
        printf("%s: %.3f ms a step (median of %zu; forward %.3f, backward %.3f, clip %.3f, %s %.3f), %.0f tokens/s, "
               "%.1f GFLOP/s, %.0f %% of the %.1f that this machine computes; %.0f MB\n", b->w.name, bench_number(r, "ms"),
               b->ms[STEP].count, bench_number(r, "fwd"), bench_number(r, "bwd"), bench_number(r, "clip"),
               o->optimizer == RAPT_RECIPE_OPTIMIZER_MUON ? "Muon" : "Adam", bench_number(r, "optim"),
               bench_number(r, "tok_real_s"), bench_number(r, "gflops"),
               100 * bench_number(r, "peak_share"), peak, bench_number(r, "rss_mb"));
    json_decref(r);
    return code;
}

static rapt_code bench_train_report(const bench_options *o, train_bench *b, rapt_error *err)
{
    bench_machine m = {machine_peak(o->threads, o->precision, err), o->profile ? memory_adds(o->threads, err) : 0};
    if (m.gflops == 0 || (o->profile && m.gbytes == 0))
        return err->code;
    if (o->profile)
        return bench_profile_print(b->t, b->ms[STEP].count, bench_times_sum(&b->ms[STEP]) / 1e3, &m, o->json, err);
    return bench_train_print_result(o, b, m.gflops, err);
}

static void bench_train_release(train_bench *b)
{
    for (int i = 0; i < PARTS; i++)
        bench_times_free(&b->ms[i]);
    rapt_adam_free(b->adam);
    grad_release_free(b->release);
    rapt_tape_free(b->t);
    if (b->w.own)
        b->w.free(&b->w);
}

rapt_code bench_train(const bench_options *o, rapt_error *err)
{
    const char *name = o->case_name ? o->case_name : "a1";
    train_bench b = {0};
    rapt_code code = workload_sentences(name, &o->sizes, &b.w, err);
    if (code == RAPT_ERR_NOT_FOUND)
        code = workload_windows(name, &o->sizes, &b.w, err);
    if (code == RAPT_ERR_NOT_FOUND)
        rapt_fail(err, code, "there is no case \"%.40s\"; there are a1, a2, a3, a4n, a4b, a5, a6 and long", name);
    if (!code)
        code = make_machinery(&b, o, err);
    if (!code)
        code = bench_train_run(&b, o->seconds > 0 ? o->seconds : DEFAULT_SECONDS, o->profile, err);
    if (!code)
        code = bench_train_report(o, &b, err);
    bench_train_release(&b);
    return code;
}
