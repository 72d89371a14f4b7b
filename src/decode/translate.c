/* decode/translate.c: lines of text in, translations out: tokens, batches by length, threads. For the program and for
 * C programs. The search itself is in greedy.c and beam.c. */
#include "rapt/decode.h"

#include "base/arena.h"
#include "base/pool.h"
#include "decode/search.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_BATCH 64
#define CHUNK ((size_t)256 << 10)

typedef struct source_line {
    int32_t *ids; /* with <eos>; NULL for an empty line */
    size_t count, index;
} source_line;

struct rapt_translator {
    rapt_model *m;
    rapt_translate_options o;
    source_line *lines; /* of this call: not empty ones, by length */
    size_t count;
    rapt_translation *out;
    pool *pool;
    rapt_tape **tapes; /* one for each thread */
    rapt_error *errors;
};
typedef rapt_translator translator;

static rapt_code encode_line(const translator *t, const char *text, source_line *line, bool *cut, rapt_error *err)
{
    rapt_code code = rapt_tokenizer_encode(t->m->source, text, &line->ids, &line->count, err);
    if (code || line->count == 0) {
        free(line->ids);
        line->ids = NULL;
        return code;
    }
    int32_t *longer = realloc(line->ids, (line->count + 1) * sizeof *longer);
    if (!longer)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a line's tokens");
    line->ids = longer;
    line->ids[line->count++] = RAPT_EOS;
    *cut = line->count > t->m->max_len;
    line->count = *cut ? t->m->max_len : line->count;
    return RAPT_OK;
}

static int by_length(const void *a, const void *b)
{
    const source_line *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static rapt_code encode_lines(translator *t, const char *const *lines, size_t count, rapt_error *err)
{
    t->lines = calloc(count + 1, sizeof *t->lines);
    if (!t->lines)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for %zu lines", count);
    for (size_t i = 0; i < count; i++) {
        source_line *line = &t->lines[t->count];
        line->index = i;
        rapt_code code = encode_line(t, lines[i], line, &t->out[i].cut, err);
        if (code)
            return code;
        t->count += line->ids != NULL;
    }
    qsort(t->lines, t->count, sizeof *t->lines, by_length);
    return RAPT_OK;
}

/* It depends on the sentence alone. */
size_t search_limit(const rapt_model *m, size_t source_count)
{
    size_t most = m->net->config.max_positions;
    size_t wish = m->pad_to_max ? m->max_len : 2 * source_count + 10;
    return wish < most ? wish : most;
}

typedef struct packed_batch {
    search_batch batch;
    int32_t *lens;
    size_t *limits;
} packed_batch;

static bool pack_batch(const translator *t, size_t first, size_t n, arena *memory, packed_batch *p)
{
    size_t time = t->lines[first + n - 1].count;
    int32_t *ids = arena_array(memory, n * time, sizeof *ids);
    p->lens = arena_array(memory, n, sizeof *p->lens);
    p->limits = arena_array(memory, n, sizeof *p->limits);
    if (!ids || !p->lens || !p->limits)
        return false;
    for (size_t i = 0; i < n; i++) {
        const source_line *line = &t->lines[first + i];
        for (size_t j = 0; j < time; j++)
            ids[i * time + j] = j < line->count ? line->ids[j] : RAPT_PAD;
        p->lens[i] = (int32_t)line->count;
        p->limits[i] = search_limit(t->m, line->count);
    }
    p->batch = (search_batch){{ids, n, time}, p->lens, p->limits};
    return true;
}

static rapt_code deliver(const translator *t, const search_result *r, rapt_translation *out, rapt_error *err)
{
    size_t n = r->count < t->o.n_best ? r->count : t->o.n_best;
    out->hypotheses = calloc(n ? n : 1, sizeof *out->hypotheses);
    bool ok = out->hypotheses != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        const search_hypothesis *h = &r->best[i];
        out->hypotheses[i].text = rapt_tokenizer_decode(t->m->target, h->tokens, h->length, NULL);
        out->hypotheses[i].score = t->o.beam > 1 ? h->score : h->score / search_penalty(t->o.length_penalty, h->length);
        out->count = i + 1;
        ok = out->hypotheses[i].text != NULL;
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for a translation");
}

static rapt_code translate_lines(translator *t, size_t first, size_t n, rapt_tape *tape, arena *memory, rapt_error *err)
{
    packed_batch p;
    search_result *results = arena_zeroed(memory, n, sizeof *results);
    if (!results || !pack_batch(t, first, n, memory, &p))
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a batch of %zu lines", n);
    search_options o = {t->o.beam, t->o.length_penalty};
    rapt_code code = o.beam > 1 ? search_beam(tape, t->m->net, &p.batch, &o, memory, results, err)
                                : search_greedy(tape, t->m->net, &p.batch, memory, results, err);
    for (size_t i = 0; i < n && !code; i++)
        code = deliver(t, &results[i], &t->out[t->lines[first + i].index], err);
    return code;
}

static void translate_batch(void *context, size_t batch, int worker)
{
    translator *t = context;
    arena memory;
    size_t first = batch * t->o.batch, left = t->count - first;
    if (t->errors[worker].code)
        return;
    arena_init(&memory, CHUNK);
    translate_lines(t, first, left < t->o.batch ? left : t->o.batch, t->tapes[worker], &memory, &t->errors[worker]);
    arena_free(&memory);
}

/* An empty line is one empty hypothesis. */
static rapt_code fill_empty(rapt_translation *out, size_t count, rapt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (out[i].hypotheses)
            continue;
        out[i].hypotheses = calloc(1, sizeof *out[i].hypotheses);
        if (!out[i].hypotheses || !(out[i].hypotheses[0].text = calloc(1, 1)))
            return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a translation");
        out[i].count = 1;
    }
    return RAPT_OK;
}

static rapt_code set_up(translator *t, rapt_error *err)
{
    t->pool = pool_new(t->o.threads, err);
    size_t n = t->pool ? (size_t)pool_threads(t->pool) : 0;
    t->tapes = calloc(n + 1, sizeof *t->tapes);
    t->errors = calloc(n + 1, sizeof *t->errors);
    if (!t->pool || !t->tapes || !t->errors)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory to translate");
    for (size_t i = 0; i < n; i++)
        if (!(t->tapes[i] = rapt_tape_new(&(rapt_tape_options){.threads = 1, .precision = t->o.precision}, err)))
            return err ? err->code : RAPT_NO_MEMORY;
    return rapt_transformer_pack(t->m->net, t->tapes[0], err);
}

static rapt_code run(translator *t, size_t count, rapt_error *err)
{
    size_t batches = (t->count + t->o.batch - 1) / t->o.batch;
    memset(t->errors, 0, (size_t)pool_threads(t->pool) * sizeof *t->errors);
    pool_run(t->pool, batches, SIZE_MAX, translate_batch, t);
    for (int i = 0; i < pool_threads(t->pool); i++)
        if (t->errors[i].code)
            return rapt_fail(err, t->errors[i].code, "%s", t->errors[i].message);
    return fill_empty(t->out, count, err);
}

static void forget_lines(translator *t)
{
    for (size_t i = 0; t->lines && i < t->count; i++)
        free(t->lines[i].ids);
    free(t->lines);
    t->lines = NULL;
    t->count = 0;
}

rapt_translator *rapt_translator_new(rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    if (m->task != RAPT_TRANSLATION) {
        rapt_fail(err, RAPT_VALUE, "a language model does not translate");
        return NULL;
    }
    translator *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_NO_MEMORY, "no memory to translate");
        return NULL;
    }
    *t = (translator){.m = m, .o = options ? *options : (rapt_translate_options){0}};
    t->o.beam = t->o.beam ? t->o.beam : 1;
    t->o.n_best = t->o.n_best ? t->o.n_best : 1;
    t->o.batch = t->o.batch ? t->o.batch : DEFAULT_BATCH;
    if (set_up(t, err) == RAPT_OK)
        return t;
    rapt_translator_free(t);
    return NULL;
}

void rapt_translator_free(rapt_translator *t)
{
    if (!t)
        return;
    for (int i = 0; t->pool && t->tapes && i < pool_threads(t->pool); i++)
        rapt_tape_free(t->tapes[i]);
    free(t->tapes);
    free(t->errors);
    pool_free(t->pool);
    free(t);
}

rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                              rapt_error *err)
{
    memset(out, 0, count * sizeof *out);
    t->out = out;
    rapt_code code = encode_lines(t, lines, count, err);
    if (!code)
        code = run(t, count, err);
    forget_lines(t);
    if (code)
        rapt_translations_free(out, count);
    return code;
}

rapt_code rapt_translate(rapt_model *m, const char *const *lines, size_t count, const rapt_translate_options *options,
                         rapt_translation *out, rapt_error *err)
{
    rapt_error own = {0};
    memset(out, 0, count * sizeof *out);
    rapt_translator *t = rapt_translator_new(m, options, &own);
    rapt_code code = t ? rapt_translator_run(t, lines, count, out, &own) : own.code;
    rapt_translator_free(t);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

void rapt_translations_free(rapt_translation *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < t[i].count; j++)
            free(t[i].hypotheses[j].text);
        free(t[i].hypotheses);
    }
    memset(t, 0, count * sizeof *t);
}
