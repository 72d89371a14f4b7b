/* decode/translate.c: lines of text in, translations out: segments that fit (source_segments.c), batches by length, threads. For
 * the program and for C programs. The search itself is in greedy.c and beam.c. */
#include "rapt/decode.h"

#include "base/arena.h"
#include "base/pool.h"
#include "base/quote.h"
#include "decode/align.h"
#include "decode/languages.h"
#include "decode/prefixes.h"
#include "decode/search.h"
#include "decode/source_segments.h"
#include "decode/translate_options.h"
#include "decode/whole_text.h"
#include "nn/pack.h"
#include "tape/tape_core.h"
#include "tensor/params.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

/* What a thread reuses from batch to batch. */
typedef struct translate_worker {
    searcher on; /* its tape, the model, KV caches */
    arena memory;
} translate_worker;

struct rapt_translator {
    const rapt_model *m;
    rapt_translate_options o;  /* defaults filled in */
    search_options search;
    prefixes prefix;           /* the options', if any */
    languages lang;
    pool *pool;
    translate_worker *workers; /* [worker_count] one for each thread; of several threads, one more, which computes on all */
    int threads, worker_count;
    packed_weights *packed;    /* read by all tapes */
    atomic_bool cancelled;
};
typedef rapt_translator translator;

/* One call: lines as segments that the model takes, and their translations. */
typedef struct translate_call {
    translator *t;
    const char *const *lines;
    size_t count;
    source_segments source; /* by length */
    search_prefix *begins;  /* of each segment: what its translation begins with */
    size_t *first;          /* [count + 1]: of each line, the number of its first segment */
    rapt_translation *segments;
    pthread_mutex_t lock;   /* of the two below */
    size_t failed;          /* the first segment that has failed so far, or SIZE_MAX */
    rapt_error error;       /* its error */
} translate_call;

static int translate_by_length(const void *a, const void *b)
{
    const source_segment *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static rapt_code translate_encode_lines(translate_call *c, rapt_translation *out, rapt_error *err)
{
    const rapt_translation_model *m = &c->t->m->translation;
    rapt_sentence_split split = c->t->o.split;
    bool by_sentence = split == RAPT_SENTENCE_SPLIT_AS_TRAINED ? m->by_sentence : split == RAPT_SENTENCE_SPLIT_ALL;
    const bool fairseq = m->net->config.sinusoid_layout == RAPT_SINUSOID_LAYOUT_FAIRSEQ; /* such models count other tokens only */
    source_limits limits = {.max_len = m->max_len, .by_sentence = by_sentence, .specials = m->specials_in_text,
                            .eos = m->special.eos, .skipped = fairseq ? m->special.pad : -1,
                            .begin = c->t->lang.begin, .begin_count = c->t->lang.count};
    rapt_code code = RAPT_OK;
    c->first = calloc(c->count + 1, sizeof *c->first);
    if (!c->first)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", c->count);
    for (size_t i = 0; i < c->count && !code; i++) {
        code = languages_of_line(c->t->m, c->lines[i], &limits.language, &limits.language_size, err);
        source_fit fit = {false, false};
        code = code ? code : source_segments_add(&c->source, m->source, limits, c->lines[i], &fit, err);
        out[i].split = fit.split;
        out[i].cut = fit.cut;
        c->first[i + 1] = c->source.count;
    }
    if (!code && c->source.count)
        qsort(c->source.segment, c->source.count, sizeof *c->source.segment, translate_by_length);
    c->segments = calloc(c->source.count + 1, sizeof *c->segments);
    c->begins = calloc(c->source.count + 1, sizeof *c->begins);
    return code || (c->segments && c->begins)
               ? code : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu translations", c->count);
}

/* Of a line in segments the first one begins with the prefix. */
static void translate_set_prefixes(translate_call *c, const search_prefix *of_lines)
{
    const prefixes *p = &c->t->prefix;
    for (size_t i = 0; i < c->count; i++)
        if (c->first[i] < c->first[i + 1])
            c->begins[c->first[i]] = of_lines ? of_lines[i] : p->count ? p->prefix[0] : (search_prefix){0};
}

/* ---- a batch ------------------------------------------------------------------------------------------------------ */

typedef struct packed_batch {
    search_batch batch;
    int32_t *lens;
    size_t *limits;
    search_prefix *prefixes;
} packed_batch;

static bool pack_batch(const translate_call *c, size_t first, size_t n, arena *memory, packed_batch *p)
{
    size_t time = c->source.segment[first + n - 1].count;
    int32_t *ids = arena_array(memory, n * time, sizeof *ids);
    p->lens = arena_array(memory, n, sizeof *p->lens);
    p->limits = arena_array(memory, n, sizeof *p->limits);
    p->prefixes = arena_array(memory, n, sizeof *p->prefixes);
    if (!ids || !p->lens || !p->limits || !p->prefixes)
        return false;
    for (size_t i = 0; i < n; i++) {
        const source_segment *segment = &c->source.segment[first + i];
        for (size_t j = 0; j < time; j++)
            ids[i * time + j] = j < segment->count ? segment->ids[j] : c->t->m->translation.special.pad;
        p->lens[i] = (int32_t)segment->count;
        p->prefixes[i] = c->begins[segment->index];
        p->limits[i] = search_limit(c->t->m, &c->t->search, segment->count, p->prefixes[i].count);
    }
    p->batch = (search_batch){{ids, n, time}, p->lens, p->limits, p->prefixes};
    return true;
}

static rapt_code translate_deliver(const translator *t, const search_result *r, rapt_translation *out, rapt_error *err)
{
    size_t n = r->count < t->o.n_best ? r->count : t->o.n_best;
    out->hypotheses = calloc(n ? n : 1, sizeof *out->hypotheses);
    bool ok = out->hypotheses != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        const search_hypothesis *h = &r->best[i];
        out->hypotheses[i].text = whole_text_of(t->m->translation.target, h->tokens, h->length);
        out->hypotheses[i].score = h->score;
        out->hypotheses[i].log_prob = h->log_prob;
        out->count = i + 1;
        ok = out->hypotheses[i].text != NULL;
        if (ok && !whole_text_is(t->m->translation.target, h->tokens, h->length))
            whole_text_trim(t->m->translation.target, out->hypotheses[i].text);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
}

/* Without <eos>. */
static bool translate_copy_tokens(const translator *t, const int32_t *ids, size_t count, int32_t **out, size_t *out_count)
{
    *out_count = count > 0 && ids[count - 1] == t->m->translation.special.eos ? count - 1 : count;
    *out = malloc((*out_count + 1) * sizeof **out);
    if (*out && *out_count > 0)
        memcpy(*out, ids, *out_count * sizeof *ids);
    return *out != NULL;
}

/* Those that are aligned. */
static rapt_code keep_tokens(const translator *t, const source_segment *segment, const search_result *r, rapt_translation *out,
                             rapt_error *err)
{
    bool ok = !t->o.tokens || translate_copy_tokens(t, segment->ids, segment->count, &out->source, &out->source_count);
    for (size_t i = 0; i < out->count && t->o.tokens && ok; i++)
        ok = translate_copy_tokens(t, r->best[i].tokens, r->best[i].length, &out->hypotheses[i].tokens,
                                   &out->hypotheses[i].token_count);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a translation");
}

static rapt_code align(const translator *t, const source_segment *segment, const search_result *r, rapt_tape *tape,
                       rapt_translation *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && t->o.alignment && !code; i++)
        code = align_tokens(tape, t->m, segment->ids, segment->count, r->best[i].tokens, r->best[i].length,
                            &out->hypotheses[i].alignment, err);
    return code;
}

static rapt_code translate_search(const translator *t, const search_options *o, const packed_batch *p, translate_worker *w,
                                  search_result *results, rapt_error *err)
{
    if (o->policy)
        return search_policy(&w->on, &p->batch, o, &w->memory, results, err);
    return t->o.beam > 1 ? search_beam(&w->on, &p->batch, o, &w->memory, results, err)
                         : search_greedy(&w->on, &p->batch, o, &w->memory, results, err);
}

/* A translation with bytes that are no character is searched once more, by itself and among whole characters only. */
static rapt_code translate_search_whole(translate_call *c, size_t segment, translate_worker *w, search_result *r, rapt_error *err)
{
    const translator *t = c->t;
    const rapt_tokenizer *k = t->m->translation.target;
    packed_batch p;
    if (r->count == 0 || t->search.policy || whole_text_is(k, r->best[0].tokens, r->best[0].length))
        return RAPT_OK;
    search_options o = t->search;
    o.whole = k;
    if (!pack_batch(c, segment, 1, &w->memory, &p))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch of 1 segment");
    return translate_search(t, &o, &p, w, r, err);
}

/* The segments first .. first + n - 1, as the source has them. */
static rapt_code translate_segments(translate_call *c, size_t first, size_t n, translate_worker *w, rapt_error *err)
{
    const translator *t = c->t;
    packed_batch p;
    arena_mark mark = arena_save(&w->memory);
    search_result *results = arena_zeroed(&w->memory, n, sizeof *results);
    bool ok = results && pack_batch(c, first, n, &w->memory, &p);
    rapt_code code = ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch of %zu segments", n);
    if (!code)
        code = translate_search(t, &t->search, &p, w, results, err);
    for (size_t i = 0; i < n && !code; i++)
        code = translate_search_whole(c, first + i, w, &results[i], err);
    for (size_t i = 0; i < n && !code; i++) {
        const source_segment *segment = &c->source.segment[first + i];
        rapt_translation *out = &c->segments[segment->index];
        code = translate_deliver(t, &results[i], out, err);
        code = code ? code : keep_tokens(t, segment, &results[i], out, err);
        code = code ? code : align(t, segment, &results[i], w->on.t, out, err);
    }
    arena_release(&w->memory, mark);
    return code;
}

/* ---- failures ----------------------------------------------------------------------------------------------------- */

/* Keeps the error of the first segment, whichever thread comes upon it when. */
static void translate_note_failure(translate_call *c, size_t segment, const rapt_error *err)
{
    pthread_mutex_lock(&c->lock);
    if (segment < c->failed) {
        c->failed = segment;
        c->error = *err;
    }
    pthread_mutex_unlock(&c->lock);
}

/* Whether a segment can still be the first that fails. */
static bool translate_is_before_failure(translate_call *c, size_t segment)
{
    pthread_mutex_lock(&c->lock);
    bool before = segment < c->failed;
    pthread_mutex_unlock(&c->lock);
    return before;
}

/* A batch that failed, as batches of one segment: which of them fail depends on themselves alone. */
static void translate_find_failures(translate_call *c, size_t first, size_t n, translate_worker *w)
{
    for (size_t i = first; i < first + n; i++) {
        size_t segment = c->source.segment[i].index;
        rapt_error err = {0};
        if (atomic_load(&c->t->cancelled))
            return;
        if (!translate_is_before_failure(c, segment))
            continue;
        rapt_translations_free(&c->segments[segment], 1); /* what the batch had delivered */
        if (translate_segments(c, i, 1, w, &err))
            translate_note_failure(c, segment, &err);
    }
}

static size_t translate_first_segment(const translate_call *c, size_t first, size_t n)
{
    size_t segment = SIZE_MAX;
    for (size_t i = first; i < first + n; i++)
        segment = c->source.segment[i].index < segment ? c->source.segment[i].index : segment;
    return segment;
}

/* A pool_fn. Out of memory is no matter of one segment: the batch is not tried again. */
static void translate_batch(void *context, size_t batch, int worker)
{
    translate_call *c = context;
    size_t size = c->t->o.batch, first = batch * size, left = c->source.count - first, n = left < size ? left : size;
    size_t segment = translate_first_segment(c, first, n);
    rapt_error err = {0};
    if (atomic_load(&c->t->cancelled) || !translate_is_before_failure(c, segment))
        return;
    rapt_code code = translate_segments(c, first, n, &c->t->workers[worker], &err);
    if (code && (code == RAPT_ERR_MEMORY || n == 1))
        translate_note_failure(c, segment, &err);
    else if (code)
        translate_find_failures(c, first, n, &c->t->workers[worker]);
}

/* The line that a segment is of. */
static const char *translate_line_of(const translate_call *c, size_t segment)
{
    size_t line = 0;
    while (c->first[line + 1] <= segment)
        line++;
    return c->lines[line];
}

static rapt_code translate_failure(translate_call *c, rapt_error *err)
{
    if (atomic_exchange(&c->t->cancelled, false))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the translation was cancelled");
    if (c->failed == SIZE_MAX)
        return RAPT_OK;
    if (c->error.code == RAPT_ERR_MEMORY)
        return rapt_fail(err, c->error.code, "%s", c->error.message);
    return rapt_fail(err, c->error.code, "\"%s\": %s", quote(translate_line_of(c, c->failed)).text, c->error.message);
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

static rapt_code translate_replace(char **text, char *by, rapt_error *err)
{
    if (!by)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
    free(*text);
    *text = by;
    return RAPT_OK;
}

/* The texts of all hypotheses, from the model's tokens to raw text: detokenized, and capitalized. */
static rapt_code write_raw_text(const translator *t, rapt_translation *out, rapt_error *err)
{
    rapt_language language = t->o.detokenize ? t->o.detokenize : t->m->translation.detokenize;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && !t->o.as_tokens && !code; i++) {
        char **text = &out->hypotheses[i].text;
        if (language)
            code = translate_replace(text, detokenize(*text, language, t->m->translation.capitalize), err);
        else if (t->m->translation.capitalize)
            code = translate_replace(text, capitalize(*text), err);
    }
    return code;
}

/* ---- the translator ----------------------------------------------------------------------------------------------- */

static rapt_code translate_set_search(translator *t, rapt_error *err)
{
    const rapt_translate_options *o = &t->o;
    t->search = (search_options){o->beam, o->length_penalty, o->n_best, o->no_repeat, o->max_ratio, t->m->translation.special,
                                 t->m->search.given ? &t->lang.policy : NULL, NULL};
    return o->prefix ? prefixes_encode(&t->prefix, t->m, &t->lang.policy, &o->prefix, 1, err) : RAPT_OK;
}

static rapt_code translate_set_up(translator *t, rapt_error *err)
{
    t->pool = pool_new(t->o.threads, err);
    t->threads = t->pool ? pool_threads(t->pool) : 0;
    t->worker_count = t->threads > 1 ? t->threads + 1 : t->threads;
    t->workers = calloc((size_t)t->worker_count + 1, sizeof *t->workers);
    if (!t->pool || !t->workers)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
    for (int i = 0; i < t->worker_count; i++)
        arena_init(&t->workers[i].memory, CHUNK);
    for (int i = 0; i < t->worker_count; i++) {
        const rapt_tape_options options = {.threads = 1, .precision = t->o.precision, .weights = t->o.weights};
        rapt_tape *tape = tape_new_of_pool(&options, i == t->threads ? t->pool : NULL, err);
        t->workers[i].on = (searcher){tape, t->m->translation.net, tape ? rapt_decoder_state_new(err) : NULL, t->o.kv_cache};
        if (!t->workers[i].on.state)
            return err ? err->code : RAPT_ERR_MEMORY;
    }
    params_sync(t->m->params, t->pool); /* of a model in training; from here on it is only read */
    t->packed = pack_transformer(t->m->translation.net, t->workers[0].on.t, t->pool, err);
    for (int i = 0; i < t->worker_count; i++)
        tape_use_packed(t->workers[i].on.t, t->packed);
    return t->packed ? RAPT_OK : RAPT_ERR_MEMORY;
}

rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    translator *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
        return NULL;
    }
    t->m = m;
    if (translate_options_fill(m, options, &t->o, err) == RAPT_OK && languages_set(&t->lang, m, &t->o, err) == RAPT_OK &&
        translate_set_search(t, err) == RAPT_OK && translate_set_up(t, err) == RAPT_OK)
        return t;
    rapt_translator_free(t);
    return NULL;
}

void rapt_translator_free(rapt_translator *t)
{
    if (!t)
        return;
    for (int i = 0; t->workers && i < t->worker_count; i++) {
        rapt_decoder_state_free(t->workers[i].on.state);
        rapt_tape_free(t->workers[i].on.t);
        arena_free(&t->workers[i].memory);
    }
    packed_weights_free(t->packed);
    prefixes_free(&t->prefix);
    free(t->workers);
    pool_free(t->pool);
    free(t);
}

static rapt_code translate_run(translate_call *c, rapt_translation *out, rapt_error *err)
{
    const translator *t = c->t;
    size_t batches = c->source.count / t->o.batch + (c->source.count % t->o.batch > 0);
    if (2 * batches > (size_t)t->threads)
        pool_run(t->pool, batches, SIZE_MAX, translate_batch, c);
    else /* half of the threads or more would have no batch, so all work on each */
        for (size_t i = 0; i < batches; i++)
            translate_batch(c, i, t->threads);
    rapt_code code = translate_failure(c, err);
    for (size_t i = 0; i < c->count && !code; i++) {
        code = source_segments_join(c->segments + c->first[i], c->first[i + 1] - c->first[i], &out[i], err);
        code = code ? code : write_raw_text(t, &out[i], err);
    }
    return code;
}

static void translate_free_call(translate_call *c)
{
    if (c->segments)
        rapt_translations_free(c->segments, c->source.count);
    free(c->segments);
    free(c->first);
    free(c->begins);
    source_segments_free(&c->source);
    pthread_mutex_destroy(&c->lock);
}

static rapt_code translate_lines(translator *t, const char *const *lines, const search_prefix *begins, size_t count,
                                 rapt_translation *out, rapt_error *err)
{
    translate_call c = {.t = t, .lines = lines, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER, .failed = SIZE_MAX};
    rapt_code code = translate_encode_lines(&c, out, err);
    if (!code) {
        translate_set_prefixes(&c, begins);
        code = translate_run(&c, out, err);
    }
    atomic_store(&t->cancelled, false); /* of this run, also where it failed before its first batch */
    translate_free_call(&c);
    if (code)
        rapt_translations_free(out, count);
    return code;
}

rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                              rapt_error *err)
{
    memset(out, 0, count * sizeof *out);
    return translate_lines(t, lines, NULL, count, out, err);
}

rapt_code rapt_translator_run_prefixed(rapt_translator *t, const char *const *lines, const char *const *texts, size_t count,
                                       rapt_translation *out, rapt_error *err)
{
    prefixes p;
    memset(out, 0, count * sizeof *out);
    rapt_code code = prefixes_encode(&p, t->m, &t->lang.policy, texts, count, err);
    if (code) {
        atomic_store(&t->cancelled, false);
        return code;
    }
    code = translate_lines(t, lines, p.prefix, count, out, err);
    prefixes_free(&p);
    return code;
}

void rapt_translator_cancel(rapt_translator *t)
{
    atomic_store(&t->cancelled, true);
}

rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count, const rapt_translate_options *options,
                         rapt_translation *out, rapt_error *err)
{
    rapt_error own = {0};
    memset(out, 0, count * sizeof *out);
    rapt_translator *t = rapt_translator_new(m, options, &own);
    rapt_code code = t ? rapt_translator_run(t, lines, count, out, &own) : own.code;
    rapt_translator_free(t);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
