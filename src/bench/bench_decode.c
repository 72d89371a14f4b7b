/* bench/bench_decode.c: greedy decoding with a language model, and the machine's memory bandwidth, measured in turns: each
 * step reads all weights once, so memory is its limit. Translation is in bench_translate.c. */
#include "bench/bench_decode.h"

#include "base/clock.h"
#include "base/disk.h"
#include "bench/bench_memory.h"
#include "bench/bench_profile.h"
#include "bench/bench_times.h"
#include "bench/bench_workload.h"
#include "cli/cli.h"
#include "cli/machine_peak.h"
#include "decode/sampler.h"
#include "io/model_core.h"
#include "nn/pack.h"
#include "tape/tape_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROMPT 32
#define NEW_TOKENS 128
#define DEFAULT_SECONDS 5
#define STEPS_PER_PASS 8 /* memory is read in turns with steps, so that both meet the same disturbances */
#define CHUNK ((size_t)64 << 10)

typedef struct decoding {
    const bench_options *o;
    const char *name;
    rapt_model *model; /* that the options name, or NULL */
    rapt_lm *own;      /* otherwise a model of random weights */
    const rapt_lm *m;  /* one of the two */
    packed_weights *packed;
    rapt_tape *t;
    sampler sampler;
    arena scratch;
    size_t prompt, row; /* tokens of the prompt; prompt and new tokens together */
} decoding;

/* Rows that are decoded together, and their measurements. */
typedef struct decode_rows {
    size_t batch, memory;
    rapt_kv_cache *cache;
    int32_t *prompt, *last;             /* [batch, prompt], [batch] */
    bench_times prompts, steps, totals; /* milliseconds */
    memory_reader *reader;              /* NULL while it warms up */
    bench_times reads;                  /* GB/s */
} decode_rows;

/* ---- decoding ----------------------------------------------------------------------------------------------- */

static rapt_code bench_decode_choose(decoding *d, decode_rows *r, const rapt_real *logits, rapt_error *err)
{
    size_t vocab = d->m->config.vocab;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < r->batch && !code; i++) {
        sampler_input in = {.logits = logits + i * vocab, .vocab = vocab, .row = i};
        code = sampler_choose(&d->sampler, &in, &d->scratch, &r->last[i], err);
    }
    return code;
}

/* Appends `count` tokens to each row and chooses the next one; *ms: the time it took. */
static rapt_code time_pass(decoding *d, decode_rows *r, const int32_t *ids, size_t count, double *ms, rapt_error *err)
{
    double start = clock_seconds();
    size_t kinds;
    rapt_tape_begin(d->t, (rapt_pass){0});
    rapt_tensor *logits = rapt_lm_step(d->t, d->m, r->cache, (rapt_tokens){ids, r->batch, count}, true);
    rapt_code code = rapt_tape_status(d->t, err);
    if (d->o->profile)
        rapt_tape_profile_entries(d->t, &kinds); /* the rest of the iteration does not belong to the last operation */
    if (!code)
        code = bench_decode_choose(d, r, logits->data, err);
    *ms = 1e3 * (clock_seconds() - start);
    return code;
}

/* Decodes one token for each row; every few steps the memory bandwidth is measured as well. */
static rapt_code decode_one_token(decoding *d, decode_rows *r, double *ms, rapt_error *err)
{
    rapt_code code = time_pass(d, r, r->last, 1, ms, err);
    bool look = r->reader && r->steps.count % STEPS_PER_PASS == 0;
    if (!code && (!bench_times_add(&r->steps, *ms) || (look && !bench_times_add(&r->reads, memory_reader_pass(r->reader)))))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    return code;
}

/* Prefills the rows and decodes to their ends. A profile is of the steps of the last call. */
static rapt_code decode_rows_once(decoding *d, decode_rows *r, rapt_error *err)
{
    double prompt, ms, total;
    rapt_kv_cache_clear(r->cache, r->batch);
    rapt_code code = time_pass(d, r, r->prompt, d->prompt, &prompt, err);
    total = prompt;
    rapt_tape_profile(d->t, d->o->profile);
    for (size_t i = d->prompt + 1; i < d->row && !code; i++) {
        code = decode_one_token(d, r, &ms, err);
        total += ms;
    }
    if (!code && !(bench_times_add(&r->prompts, prompt) && bench_times_add(&r->totals, total)))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    return code;
}

static rapt_code bench_decode_measure(decoding *d, decode_rows *r, rapt_error *err)
{
    double seconds = d->o->seconds > 0 ? d->o->seconds : DEFAULT_SECONDS, start = clock_seconds();
    rapt_code code;
    do
        code = decode_rows_once(d, r, err);
    while (!code && clock_seconds() - start < seconds);
    return code;
}

/* ---- reporting ---------------------------------------------------------------------------------------------- */

static json_t *bench_decode_result_json(const decoding *d, decode_rows *r)
{
    const rapt_lm_config *c = &d->m->config;
    size_t fresh = d->row - d->prompt;
    double step = bench_times_at(&r->steps, 0.5), reader = bench_times_at(&r->reads, 0.5);
    double weights = (double)d->packed->bytes * 1e-9;
    double rate = 1e3 * weights / step, tokens = 1e3 * (double)(r->batch * fresh) / bench_times_at(&r->totals, 0.5);
    double read = fmax(reader, rate), best = fmax(bench_times_at(&r->reads, 1), rate); /* a step reads as well */
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:f, "
        "s:f, s:f, s:I}",
        "sys", "rapt", "case", d->name, "dtype", bench_precision(d->o), "kv_cache",
        rapt_type_name(d->o->kv_cache), "isa", rapt_tape_isa(d->t), "threads",
        rapt_tape_threads(d->t), "batch", (json_int_t)r->batch, "layers", (json_int_t)c->layers, "width",
        (json_int_t)c->block.d_model, "vocab", (json_int_t)c->vocab,
        "params", (json_int_t)rapt_params_size(d->m->params), "prompt", (json_int_t)d->prompt, "new", (json_int_t)fresh,
        "tok_s", tokens, "ms_token", 1e3 / tokens, "step_ms", step, "p10", bench_times_at(&r->steps, 0.1), "p90",
        bench_times_at(&r->steps, 0.9), "prompt_ms", bench_times_at(&r->prompts, 0.5), "steps", (json_int_t)r->steps.count,
        "weights_gb", weights, "gb_s", rate, "read_gb_s", read, "read_best_gb_s", best, "read_share",
        rate / read, "rss_mb", (json_int_t)r->memory);
}

static rapt_code bench_decode_print_result(const decoding *d, decode_rows *r, rapt_error *err)
{
    json_t *o = bench_decode_result_json(d, r);
    rapt_code code = o ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a result");
    if (d->o->json)
        code = bench_print_json(o, err);
    else if (o)
        printf("%s, batch %zu: %.1f ms for a prompt of %zu tokens; %.1f tokens/s, %.3f ms a token; a step takes %.3f ms and "
               "reads %.3f GB of weights: %.1f GB/s, %.0f %% of the %.1f GB/s that this machine reads; %zu MB\n", d->name,
               r->batch, bench_number(o, "prompt_ms"), d->prompt, bench_number(o, "tok_s"), bench_number(o, "ms_token"),
               bench_number(o, "step_ms"), bench_number(o, "weights_gb"), bench_number(o, "gb_s"),
               100 * bench_number(o, "read_share"), bench_number(o, "read_gb_s"), r->memory);
    fflush(stdout);
    json_decref(o);
    return code;
}

/* The profile of the last row, whose steps are at the end of the list. */
static rapt_code print_profile(const decoding *d, const decode_rows *r, rapt_error *err)
{
    size_t steps = d->row - d->prompt - 1;
    bench_times last = {r->steps.values + r->steps.count - steps, steps, steps}, reads = r->reads;
    bench_machine m = {machine_peak(d->o->threads, d->o->precision, err), bench_times_at(&reads, 0.5)};
    return m.gflops > 0 ? bench_profile_print(d->t, steps, bench_times_sum(&last) / 1e3, &m, d->o->json, err) : err->code;
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

static rapt_code sizes_of(decoding *d, rapt_lm_config *c, rapt_error *err)
{
    const bench_sizes *s = &d->o->sizes;
    rapt_code code = rapt_lm_preset("gpt2", c, err);
    size_t features = c->block.d_model / c->block.heads;
    c->layers = bench_size(s->layers, c->layers);
    c->vocab = bench_size(s->vocab, c->vocab);
    c->block.d_model = bench_size(s->width, c->block.d_model);
    c->block.heads = c->block.d_model / features;
    c->block.ffn = 4 * c->block.d_model;
    d->prompt = bench_size(s->prompt, PROMPT);
    d->row = bench_size(s->time, d->prompt + NEW_TOKENS);
    c->context = d->row > c->context ? d->row : c->context;
    if (d->row < d->prompt + 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "--time %zu: a row has a prompt of %zu tokens and 2 new ones at least", d->row,
                         d->prompt);
    return code ? code : bench_check_width("gpt2", c->block.d_model, features, err);
}

/* The model that the options name; a row must fit its context. */
static rapt_code load_named(decoding *d, rapt_error *err)
{
    rapt_load_options load = rapt_load_options_default();
    load.task = RAPT_TASK_LANGUAGE_MODEL;
    load.inference = true;
    d->model = rapt_model_load(d->o->model, &load, err);
    if (!d->model)
        return err->code;
    const char *slash = disk_last_slash(d->o->model);
    d->name = slash && slash[1] ? slash + 1 : d->o->model;
    d->m = d->model->language.net;
    d->prompt = bench_size(d->o->sizes.prompt, PROMPT);
    d->row = bench_size(d->o->sizes.time, d->prompt + NEW_TOKENS);
    if (d->row < d->prompt + 2 || d->row > d->m->config.context)
        return rapt_fail(err, RAPT_ERR_VALUE, "--time %zu: a row has a prompt of %zu tokens, 2 new ones at least, and no more "
                         "than the context of %zu", d->row, d->prompt, d->m->config.context);
    return RAPT_OK;
}

static rapt_code make_random(decoding *d, rapt_error *err)
{
    rapt_lm_config config;
    rapt_code code = sizes_of(d, &config, err);
    d->name = "gpt2";
    d->m = d->own = code ? NULL : rapt_lm_new(&config, 1, err);
    return d->m ? RAPT_OK : err->code;
}

static rapt_code bench_decode_set_up(decoding *d, rapt_error *err)
{
    const kernels *k = kernels_active(err);
    arena_init(&d->scratch, CHUNK);
    rapt_code code = !k ? err->code : d->o->model ? load_named(d, err) : make_random(d, err);
    if (code)
        return code;
    d->t = rapt_tape_new(&(rapt_compute){.threads = d->o->threads, .type = d->o->precision,
                                              .weights = d->o->weights}, err);
    d->packed = d->t ? pack_lm(d->m, d->t, d->t->pool, false, err) : NULL;
    if (!d->packed)
        return err->code;
    tape_use_packed(d->t, d->packed);
    rapt_sample_options greedy = rapt_sample_options_default();
    greedy.greedy = true;
    return sampler_init(&d->sampler, &greedy, k, err);
}

/* A whole row warms up, and takes the memory that rows take. */
static rapt_code bench_decode_begin(decoding *d, decode_rows *r, size_t batch, rapt_error *err)
{
    r->batch = batch;
    r->prompt = workload_ids(batch * d->prompt, 1, 0, d->m->config.vocab);
    r->last = workload_ids(batch, 2, 0, d->m->config.vocab);
    if (!r->prompt || !r->last)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu rows", batch);
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(d->m, batch);
    sizes.storage = d->o->kv_cache;
    r->cache = rapt_kv_cache_new(sizes, err);
    rapt_code code = r->cache ? decode_rows_once(d, r, err) : err->code;
    r->memory = bench_peak_memory();
    r->prompts.count = r->steps.count = r->totals.count = 0; /* measurements of the warmup do not count */
    return code;
}

static rapt_code bench_decode_report(decoding *d, decode_rows *r, memory_reader *reader, rapt_error *err)
{
    r->reader = reader;
    rapt_code code = bench_decode_measure(d, r, err);
    if (code)
        return code;
    return d->o->profile ? print_profile(d, r, err) : bench_decode_print_result(d, r, err);
}

static void bench_decode_release(decode_rows *r)
{
    bench_times_free(&r->prompts);
    bench_times_free(&r->steps);
    bench_times_free(&r->totals);
    bench_times_free(&r->reads);
    rapt_kv_cache_free(r->cache);
    free(r->prompt);
    free(r->last);
}

#define BATCHES 2

rapt_code bench_decode_text(const bench_options *o, rapt_error *err)
{
    const size_t usual[BATCHES] = {1, 8}, count = o->sizes.batch ? 1 : BATCHES;
    decoding d = {.o = o};
    decode_rows rows[BATCHES] = {{0}};
    memory_reader *reader = NULL;
    rapt_code code = o->beam ? rapt_fail(err, RAPT_ERR_VALUE, "--beam is for sentences: cases a2 and a3")
                     : bench_decode_set_up(&d, err);
    for (size_t i = 0; i < count && !code; i++)
        code = bench_decode_begin(&d, &rows[i], bench_size(o->sizes.batch, usual[i]), err);
    if (!code && !(reader = memory_reader_new(o->threads, err))) /* after the model's memory was measured */
        code = err->code;
    for (size_t i = 0; i < count && !code; i++)
        code = bench_decode_report(&d, &rows[i], reader, err);
    for (size_t i = 0; i < count; i++)
        bench_decode_release(&rows[i]);
    memory_reader_free(reader);
    arena_free(&d.scratch);
    rapt_tape_free(d.t);
    packed_weights_free(d.packed);
    rapt_lm_free(d.own);
    rapt_model_free(d.model);
    return code;
}

rapt_code bench_decode(const bench_options *o, rapt_error *err)
{
    const char *name = o->case_name ? o->case_name : "gpt2";
    if (strcmp(name, "gpt2") == 0)
        return bench_decode_text(o, err);
    rapt_code code = bench_decode_sentences(name, o, err);
    return code == RAPT_ERR_NOT_FOUND
           ? rapt_fail(err, code, "there is no case \"%.40s\"; there are gpt2, a2 and a3", name) : code;
}
