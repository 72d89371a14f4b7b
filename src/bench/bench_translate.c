/* bench/bench_translate.c: a translator translates 500 random sentences, words in and words out, with a model of random
 * weights, greedily and with a beam. In turns with that, its weights are read. The shapes are the same as in `rapt-bench
 * train`. */
#include "bench/bench_decode.h"

#include "base/clock.h"
#include "base/pool.h"
#include "base/rng.h"
#include "bench/bench_memory.h"
#include "bench/bench_times.h"
#include "bench/bench_workload.h"
#include "cli/machine_peak.h"
#include "decode/translator_weights.h"
#include "io/model_core.h"
#include "rapt/decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCES 500
#define SHORTEST 8
#define LONGEST 20 /* tokens of a source, <eos> included, and of every translation */
#define BATCH 32
#define BEAM 4
#define WORD_SIZE 16 /* bytes of "w1234567 " at most */
#define DEFAULT_SECONDS 3
#define READ_SHARE 0.1 /* weights are read for this share of a run's time after it, so that both meet the same disturbances */

typedef struct translating {
    const bench_options *o;
    const char *name;
    rapt_model *model;
    rapt_translator *translator; /* with the beam that is measured */
    int threads;
    size_t longest, source_tokens;
    char *lines[SENTENCES];
} translating;

/* The measurements of one beam. */
typedef struct translated {
    size_t beam, tokens, memory; /* tokens of the translations */
    uint64_t bytes, read;        /* bytes of all weights; bytes that products have read */
    bench_times ms;              /* milliseconds of all sentences */
    memory_reader *reader; /* reads the same weights; NULL while the benchmark warms up */
    bench_times reads;     /* GB/s */
} translated;

/* ---- a model and its sentences ------------------------------------------------------------------------------ */

/* The words w0, w1, ..., as many as give a vocabulary of `entries` with its special tokens. */
static rapt_tokenizer *make_words(size_t entries, rapt_error *err)
{
    size_t words = entries - RAPT_SPECIALS, used = 0;
    char *text = malloc(words * WORD_SIZE);
    for (size_t i = 0; text && i < words; i++)
        used += (size_t)sprintf(text + used, "w%zu ", i);
    const char *const line = text;
    rapt_tokenizer *k = text ? rapt_tokenizer_train_words(&line, 1, NULL, err) : NULL;
    free(text);
    if (!k)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu words", words);
    return k;
}

/* A line of `count` words, each one token; <eos> is not among them. */
static char *make_line(size_t count, uint64_t key, size_t vocab)
{
    char *line = malloc(count * WORD_SIZE + 1);
    size_t used = 0;
    for (size_t i = 0; line && i < count; i++)
        used += (size_t)sprintf(line + used, "%sw%zu", i ? " " : "", (size_t)rng_below(key, i, vocab - RAPT_SPECIALS));
    return line;
}

static rapt_code make_lines(translating *x, size_t vocab, rapt_error *err)
{
    size_t shortest = SHORTEST < x->longest ? SHORTEST : x->longest;
    bool ok = true;
    for (size_t i = 0; i < SENTENCES; i++) {
        size_t tokens = i == 0 ? x->longest : shortest + rng_below(1, i, x->longest + 1 - shortest);
        x->source_tokens += tokens;
        ok = (x->lines[i] = make_line(tokens - 1, i, vocab)) && ok;
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for sentences");
}

/* The output matrix is not tied: with a tied one and random weights every word is repeated. */
static rapt_code bench_translate_make_model(translating *x, rapt_transformer_config *config, rapt_error *err)
{
    rapt_model *m = x->model = calloc(1, sizeof *m);
    if (!m)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
    config->tied = false;
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.max_len = x->longest, .translation.pad_to_max = true};
    m->translation.net = rapt_transformer_new(config, 1, err);
    m->params = m->translation.net ? m->translation.net->params : NULL;
    m->translation.special = RAPT_SPECIAL_IDS;
    m->translation.source = m->translation.target = m->translation.net ? make_words(config->source_vocab, err) : NULL;
    return m->translation.source ? RAPT_OK : err->code;
}

/* ---- measuring ---------------------------------------------------------------------------------------------- */

static size_t count_words_translated(const char *text)
{
    size_t words = *text != '\0';
    for (; *text; text++)
        words += *text == ' ';
    return words;
}

static rapt_code measure_reads(translated *r, double seconds, rapt_error *err)
{
    const double start = clock_seconds();
    do
        if (!bench_times_add(&r->reads, memory_reader_pass(r->reader)))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for rates");
    while (clock_seconds() - start < seconds);
    return RAPT_OK;
}

static rapt_code translate_sentences(translating *x, translated *r, rapt_error *err)
{
    rapt_translation *out = calloc(SENTENCES, sizeof *out);
    rapt_text lines[SENTENCES];
    uint64_t before;
    for (size_t i = 0; i < SENTENCES; i++)
        lines[i] = rapt_text_of(x->lines[i]);
    translator_weights(x->translator, &before);
    double start = clock_seconds();
    rapt_code code = out ? rapt_translator_run(x->translator, NULL, lines, SENTENCES, out, err)
                         : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for translations");
    double ms = 1e3 * (clock_seconds() - start);
    if (!code && !bench_times_add(&r->ms, ms))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    if (!code && r->reader)
        code = measure_reads(r, READ_SHARE * ms / 1e3, err);
    r->bytes = translator_weights(x->translator, &r->read)->bytes;
    r->read -= before;
    r->tokens = 0;
    for (size_t i = 0; i < SENTENCES && !code; i++)
        r->tokens += count_words_translated(out[i].hypotheses[0].text);
    if (out)
        rapt_translations_free(out, SENTENCES);
    free(out);
    return code;
}

/* A reader of the decoder's weights, which are read for each token. It borrows them. */
static memory_reader *read_weights(const translating *x, rapt_error *err)
{
    uint64_t read;
    const packed_weights *p = translator_weights(x->translator, &read);
    memory_span *spans = malloc((p->count + 1) * sizeof *spans);
    size_t count = 0;
    for (size_t i = 0; spans && i < p->count; i++)
        if (p->weights[i].param && strncmp(p->weights[i].param->value.name, "encoder.", strlen("encoder.")) != 0)
            spans[count++] = (memory_span){p->weights[i].panels, p->weights[i].bytes};
    memory_reader *r = spans ? memory_reader_of(spans, count, x->o->threads, err) : NULL;
    if (!spans)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a measurement");
    free(spans);
    return r;
}

static rapt_code bench_translate_measure(translating *x, translated *r, rapt_error *err)
{
    double seconds = x->o->seconds > 0 ? x->o->seconds : DEFAULT_SECONDS;
    rapt_code code = translate_sentences(x, r, err); /* warms up */
    r->memory = bench_peak_memory();
    r->ms.count = 0;
    r->reader = code ? NULL : read_weights(x, err);
    code = code || r->reader ? code : err->code;
    double start = clock_seconds();
    do
        code = code ? code : translate_sentences(x, r, err);
    while (!code && clock_seconds() - start < seconds);
    return code;
}

/* FLOPs of GEMMs and attention: the encoder runs once a sentence, the decoder for each token of each hypothesis. */
static double translation_flops(const translating *x, const translated *r)
{
    const rapt_transformer_config *c = &x->model->translation.net->config;
    double d = (double)c->block.d_model, f = (double)c->block.ffn, source = (double)x->source_tokens / SENTENCES;
    double target = (double)r->tokens / SENTENCES;
    double read = 2 * (4 * d * d + 2 * d * f + 2 * d * d) + 4 * source * d; /* and keys and values for the decoder */
    double write = 2 * (6 * d * d + 2 * d * f) + 4 * (target / 2 + source) * d;
    double written = (double)(r->beam * r->tokens);
    return (double)c->layers * ((double)x->source_tokens * read + written * write) + written * 2 * d * (double)c->target_vocab;
}

/* ---- reporting ---------------------------------------------------------------------------------------------- */

static json_t *bench_translate_result_json(const translating *x, translated *r, double peak)
{
    const rapt_transformer_config *c = &x->model->translation.net->config;
    double ms = bench_times_at(&r->ms, 0.5), tokens = 1e3 * (double)r->tokens / ms;
    double rate = translation_flops(x, r) / ms * 1e-6, bytes = (double)r->read / ms * 1e-6;
    double read = fmax(bench_times_at(&r->reads, 0.5), bytes); /* a translator reads as well */
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}",
        "sys", "rapt", "case", x->name, "dtype", bench_precision(x->o), "threads", x->threads, "batch",
        (json_int_t)bench_size(x->o->sizes.batch, BATCH), "beam", (json_int_t)r->beam, "layers",
        (json_int_t)c->layers, "width", (json_int_t)c->block.d_model, "vocab", (json_int_t)c->target_vocab,
        "params", (json_int_t)rapt_params_size(x->model->params), "tok_s", tokens, "ms_token", 1e3 / tokens, "s_500", ms / 1e3,
        "tokens", (json_int_t)r->tokens, "runs", (json_int_t)r->ms.count, "gflops", rate,
        "peak_gflops", peak, "peak_share", rate / peak, "weights_gb", (double)r->bytes * 1e-9,
        "gb_s", bytes, "read_gb_s", read, "read_share", bytes / read, "rss_mb", (json_int_t)r->memory);
}

static rapt_code bench_translate_print_result(const translating *x, translated *r, double peak, rapt_error *err)
{
    json_t *o = bench_translate_result_json(x, r, peak);
    rapt_code code = o ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a result");
    if (x->o->json)
        code = bench_print_json(o, err);
    else if (o)
        printf("%s, beam %zu: %.0f tokens/s, %.4f ms a token, %d sentences in %.3f s; %.1f GFLOP/s, %.0f %% of the %.1f that "
               "this machine computes; reads %.2f GB/s of weights, %.0f %% of the %.1f GB/s at which it reads these weights; "
               "%.0f MB\n", x->name, r->beam, bench_number(o, "tok_s"), bench_number(o, "ms_token"),
               SENTENCES, bench_number(o, "s_500"), bench_number(o, "gflops"), 100 * bench_number(o, "peak_share"), peak,
               bench_number(o, "gb_s"), 100 * bench_number(o, "read_share"), bench_number(o, "read_gb_s"),
               bench_number(o, "rss_mb"));
    fflush(stdout);
    json_decref(o);
    return code;
}

/* The number of threads that an option comes to. */
static rapt_code count_threads(translating *x, rapt_error *err)
{
    pool *p = pool_new(x->o->threads, err);
    x->threads = p ? pool_threads(p) : 0;
    pool_free(p);
    return p ? RAPT_OK : err->code;
}

static rapt_code run_beam(translating *x, size_t beam, double peak, rapt_error *err)
{
    translated r = {.beam = beam};
    rapt_translate_options o = rapt_translate_options_default();
    o.beam = beam;
    o.length_penalty = 0;
    o.batch = bench_size(x->o->sizes.batch, BATCH);
    o.compute = (rapt_compute){.threads = x->o->threads, .type = x->o->precision, .weights = x->o->weights,
                               .kv_cache = x->o->kv_cache};
    x->translator = rapt_translator_new(x->model, &o, err);
    rapt_code code = x->translator ? bench_translate_measure(x, &r, err) : err->code;
    if (!code)
        code = bench_translate_print_result(x, &r, peak, err);
    bench_times_free(&r.ms);
    bench_times_free(&r.reads);
    memory_reader_free(r.reader);
    rapt_translator_free(x->translator);
    return code;
}

rapt_code bench_decode_sentences(const char *name, const bench_options *o, rapt_error *err)
{
    rapt_transformer_config config;
    translating x = {.o = o, .name = name, .longest = bench_size(o->sizes.time, LONGEST)};
    rapt_code code = workload_translation(name, &o->sizes, &config, err);
    if (!code && o->profile)
        code = rapt_fail(err, RAPT_ERR_VALUE, "--profile of `decode` is for case gpt2");
    if (code)
        return code;
    code = count_threads(&x, err);
    if (!code)
        code = bench_translate_make_model(&x, &config, err);
    if (!code)
        code = make_lines(&x, config.source_vocab, err);
    double peak = code ? 0 : machine_peak(o->threads, o->precision, err);
    if (!code)
        code = run_beam(&x, o->beam ? o->beam : 1, peak, err);
    if (!code && !o->beam)
        code = run_beam(&x, BEAM, peak, err);
    for (size_t i = 0; i < SENTENCES; i++)
        free(x.lines[i]);
    rapt_model_free(x.model);
    return code;
}
