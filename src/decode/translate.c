/* decode/translate.c: lines of text in, translations out: pieces that fit (source_pieces.c), batches by length, threads. For
 * the program and for C programs. The search itself is in greedy.c and beam.c. */
#include "rapt/decode.h"

#include "base/arena.h"
#include "base/pool.h"
#include "decode/align.h"
#include "decode/prefixes.h"
#include "decode/search.h"
#include "decode/source_pieces.h"
#include "nn/pack.h"
#include "ops/tape_core.h"
#include "tensor/params.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)
#define LARGEST_BEAM ((size_t)1 << 16)
enum { LARGEST_PENALTY = 10 };

struct rapt_translator {
    const rapt_model *m;
    rapt_translate_options o;
    search_options search;
    prefixes prefix;      /* the options', if any */
    source_pieces source; /* of this call, by length */
    search_prefix *begins; /* of each piece: what its translation begins with */
    size_t *first;        /* [lines + 1]: of each line, the number of its first piece */
    rapt_translation *parts; /* of each piece */
    pool *pool;
    rapt_tape **tapes; /* one for each thread */
    packed_weights *packed; /* that all tapes read */
    rapt_error *errors;
};
typedef rapt_translator translator;

static int translate_by_length(const void *a, const void *b)
{
    const source_piece *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static bool splits_sentences(const translator *t)
{
    return t->o.split == RAPT_SENTENCE_SPLIT_AS_TRAINED ? t->m->by_sentence : t->o.split == RAPT_SENTENCE_SPLIT_ALL;
}

static rapt_code translate_encode_lines(translator *t, const char *const *lines, size_t count, rapt_translation *out,
                                        rapt_error *err)
{
    rapt_code code = RAPT_OK;
    const source_limits limits = {t->m->max_len, splits_sentences(t)};
    t->first = calloc(count + 1, sizeof *t->first);
    if (!t->first)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for %zu lines", count);
    for (size_t i = 0; i < count && !code; i++) {
        code = source_pieces_add(&t->source, t->m->source, limits, lines[i], &out[i].cut, err);
        t->first[i + 1] = t->source.count;
    }
    if (code)
        return code;
    if (t->source.count)
        qsort(t->source.piece, t->source.count, sizeof *t->source.piece, translate_by_length);
    t->parts = calloc(t->source.count + 1, sizeof *t->parts);
    t->begins = calloc(t->source.count + 1, sizeof *t->begins);
    return t->parts && t->begins ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for %zu translations", count);
}

/* Of a line in pieces the first one begins with the prefix. */
static void set_prefixes(translator *t, size_t count, const search_prefix *of_lines)
{
    for (size_t i = 0; i < count; i++)
        if (t->first[i] < t->first[i + 1])
            t->begins[t->first[i]] = of_lines ? of_lines[i] : t->prefix.count ? t->prefix.prefix[0] : (search_prefix){0};
}

typedef struct packed_batch {
    search_batch batch;
    int32_t *lens;
    size_t *limits;
    search_prefix *prefixes;
} packed_batch;

static bool pack_batch(const translator *t, size_t first, size_t n, arena *memory, packed_batch *p)
{
    size_t time = t->source.piece[first + n - 1].count;
    int32_t *ids = arena_array(memory, n * time, sizeof *ids);
    p->lens = arena_array(memory, n, sizeof *p->lens);
    p->limits = arena_array(memory, n, sizeof *p->limits);
    p->prefixes = arena_array(memory, n, sizeof *p->prefixes);
    if (!ids || !p->lens || !p->limits || !p->prefixes)
        return false;
    for (size_t i = 0; i < n; i++) {
        const source_piece *line = &t->source.piece[first + i];
        for (size_t j = 0; j < time; j++)
            ids[i * time + j] = j < line->count ? line->ids[j] : RAPT_PAD;
        p->lens[i] = (int32_t)line->count;
        p->prefixes[i] = t->begins[line->index];
        p->limits[i] = search_limit(t->m, line->count, t->search.max_ratio, p->prefixes[i].count);
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
        out->hypotheses[i].text = rapt_tokenizer_decode(t->m->target, h->tokens, h->length, NULL);
        out->hypotheses[i].score = h->score;
        out->count = i + 1;
        ok = out->hypotheses[i].text != NULL;
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a translation");
}

static size_t translate_without_end(const int32_t *ids, size_t count)
{
    return count > 0 && ids[count - 1] == RAPT_EOS ? count - 1 : count;
}

static bool copy_tokens(const int32_t *ids, size_t count, int32_t **out, size_t *out_count)
{
    *out_count = translate_without_end(ids, count);
    *out = malloc((*out_count + 1) * sizeof **out);
    if (*out && *out_count > 0)
        memcpy(*out, ids, *out_count * sizeof *ids);
    return *out != NULL;
}

/* Those that are aligned. */
static rapt_code keep_tokens(const translator *t, const source_piece *piece, const search_result *r, rapt_translation *out,
                             rapt_error *err)
{
    bool ok = !t->o.tokens || copy_tokens(piece->ids, piece->count, &out->source, &out->source_count);
    for (size_t i = 0; i < out->count && t->o.tokens && ok; i++)
        ok = copy_tokens(r->best[i].tokens, r->best[i].length, &out->hypotheses[i].tokens, &out->hypotheses[i].token_count);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a translation");
}

static rapt_code align(const translator *t, const source_piece *piece, const search_result *r, rapt_tape *tape,
                       rapt_translation *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && t->o.alignment && !code; i++)
        code = align_tokens(tape, t->m->net, piece->ids, piece->count, r->best[i].tokens, r->best[i].length,
                            &out->hypotheses[i].alignment, err);
    return code;
}

static rapt_code translate_lines(translator *t, size_t first, size_t n, rapt_tape *tape, arena *memory, rapt_error *err)
{
    packed_batch p;
    search_result *results = arena_zeroed(memory, n, sizeof *results);
    if (!results || !pack_batch(t, first, n, memory, &p))
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a batch of %zu lines", n);
    const searcher on = {tape, t->m->net, rapt_decoder_state_new(err)};
    if (!on.state)
        return RAPT_ERR_MEMORY;
    rapt_code code = t->o.beam > 1 ? search_beam(&on, &p.batch, &t->search, memory, results, err)
                                   : search_greedy(&on, &p.batch, &t->search, memory, results, err);
    rapt_decoder_state_free(on.state);
    for (size_t i = 0; i < n && !code; i++) {
        const source_piece *piece = &t->source.piece[first + i];
        code = translate_deliver(t, &results[i], &t->parts[piece->index], err);
        if (!code)
            code = keep_tokens(t, piece, &results[i], &t->parts[piece->index], err);
        if (!code)
            code = align(t, piece, &results[i], tape, &t->parts[piece->index], err);
    }
    return code;
}

static void translate_batch(void *context, size_t batch, int worker)
{
    translator *t = context;
    arena memory;
    size_t first = batch * t->o.batch, left = t->source.count - first;
    if (t->errors[worker].code)
        return;
    arena_init(&memory, CHUNK);
    translate_lines(t, first, left < t->o.batch ? left : t->o.batch, t->tapes[worker], &memory, &t->errors[worker]);
    arena_free(&memory);
}

/* An empty line is one empty hypothesis. */
static rapt_code fill_empty(rapt_translation *out, rapt_error *err)
{
    out->hypotheses = calloc(1, sizeof *out->hypotheses);
    if (!out->hypotheses || !(out->hypotheses[0].text = calloc(1, 1)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a translation");
    out->count = 1;
    return RAPT_OK;
}

/* `out` knows already whether the line was cut. */
static rapt_code gather_parts(rapt_translation *parts, size_t count, rapt_translation *out, rapt_error *err)
{
    if (count == 0)
        return fill_empty(out, err);
    if (count > 1)
        return source_pieces_join(parts, count, out, err);
    out->hypotheses = parts->hypotheses;
    out->count = parts->count;
    out->source = parts->source;
    out->source_count = parts->source_count;
    *parts = (rapt_translation){0};
    return RAPT_OK;
}

static rapt_code translate_replace(char **text, char *by, rapt_error *err)
{
    if (!by)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a translation");
    free(*text);
    *text = by;
    return RAPT_OK;
}

/* From the model's words to a text as people write it. */
static rapt_code write_plain(const translator *t, rapt_translation *out, rapt_error *err)
{
    rapt_language language = t->o.detokenize ? t->o.detokenize : t->m->detokenize;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && !t->o.as_tokens && !code; i++) {
        char **text = &out->hypotheses[i].text;
        if (language)
            code = translate_replace(text, detokenize(*text, language, t->m->capitalize), err);
        else if (t->m->capitalize)
            code = translate_replace(text, capitalize(*text), err);
    }
    return code;
}

static rapt_code refuse_word(const char *what, int value, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: there is no number %d", what, value);
}

/* Of what the header promises; how many threads there can be, the pool knows. */
static rapt_code translate_check_options(const rapt_translate_options *o, rapt_error *err)
{
    if (o->beam > LARGEST_BEAM)
        return rapt_fail(err, RAPT_ERR_VALUE, "a beam of %zu; the largest is %zu", o->beam, LARGEST_BEAM);
    if (o->n_best > o->beam)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu hypotheses of a beam of %zu: they are at most as many", o->n_best, o->beam);
    if (!(fabs(o->length_penalty) <= LARGEST_PENALTY))
        return rapt_fail(err, RAPT_ERR_VALUE, "a length penalty of %g is not between -%d and %d", o->length_penalty,
                         LARGEST_PENALTY,
                         LARGEST_PENALTY);
    if (!(o->max_ratio >= 0))
        return rapt_fail(err, RAPT_ERR_VALUE, "a largest ratio of lengths of %g: it is 0 or more", o->max_ratio);
    if ((unsigned)o->precision > RAPT_PRECISION_BF16)
        return refuse_word("precision", (int)o->precision, err);
    if ((unsigned)o->detokenize > RAPT_LANGUAGE_PORTUGUESE)
        return refuse_word("language", (int)o->detokenize, err);
    return (unsigned)o->split > RAPT_SENTENCE_SPLIT_ALL ? refuse_word("split", (int)o->split, err) : RAPT_OK;
}

static rapt_code set_search(translator *t, rapt_error *err)
{
    const rapt_translate_options *o = &t->o;
    t->search = (search_options){o->beam, o->length_penalty, o->n_best, o->no_repeat, o->max_ratio};
    return o->prefix ? prefixes_encode(&t->prefix, t->m, &o->prefix, 1, err) : RAPT_OK;
}

static rapt_code translate_set_up(translator *t, rapt_error *err)
{
    t->pool = pool_new(t->o.threads, err);
    size_t n = t->pool ? (size_t)pool_threads(t->pool) : 0;
    t->tapes = calloc(n + 1, sizeof *t->tapes);
    t->errors = calloc(n + 1, sizeof *t->errors);
    if (!t->pool || !t->tapes || !t->errors)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory to translate");
    for (size_t i = 0; i < n; i++)
        if (!(t->tapes[i] = rapt_tape_new(&(rapt_tape_options){.threads = 1, .precision = t->o.precision}, err)))
            return err ? err->code : RAPT_ERR_MEMORY;
    t->packed = pack_transformer(t->m->net, t->tapes[0], err);
    for (size_t i = 0; i < n; i++)
        tape_use_packed(t->tapes[i], t->packed);
    return t->packed ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code translate_run(translator *t, size_t count, rapt_translation *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    size_t batches = t->source.count / t->o.batch + (t->source.count % t->o.batch > 0);
    memset(t->errors, 0, (size_t)pool_threads(t->pool) * sizeof *t->errors);
    pool_run(t->pool, batches, SIZE_MAX, translate_batch, t);
    for (int i = 0; i < pool_threads(t->pool); i++)
        if (t->errors[i].code)
            return rapt_fail(err, t->errors[i].code, "%s", t->errors[i].message);
    for (size_t i = 0; i < count && !code; i++) {
        code = gather_parts(t->parts + t->first[i], t->first[i + 1] - t->first[i], &out[i], err);
        code = code ? code : write_plain(t, &out[i], err);
    }
    return code;
}

static void forget_lines(translator *t)
{
    if (t->parts)
        rapt_translations_free(t->parts, t->source.count);
    free(t->parts);
    free(t->first);
    free(t->begins);
    t->begins = NULL;
    t->parts = NULL;
    t->first = NULL;
    source_pieces_free(&t->source);
}

rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    if (m->task != RAPT_TASK_TRANSLATION) {
        rapt_fail(err, RAPT_ERR_VALUE, "a language model does not translate");
        return NULL;
    }
    translator *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "no memory to translate");
        return NULL;
    }
    *t = (translator){.m = m, .o = options ? *options : (rapt_translate_options){0}};
    t->o.beam = t->o.beam ? t->o.beam : 1;
    t->o.n_best = t->o.n_best ? t->o.n_best : 1;
    t->o.batch = t->o.batch ? t->o.batch : RAPT_TRANSLATE_BATCH;
    if (translate_check_options(&t->o, err) == RAPT_OK && set_search(t, err) == RAPT_OK && translate_set_up(t, err) == RAPT_OK)
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
    packed_weights_free(t->packed);
    prefixes_free(&t->prefix);
    free(t->tapes);
    free(t->errors);
    pool_free(t->pool);
    free(t);
}

static rapt_code run_lines(translator *t, const char *const *lines, const search_prefix *begins, size_t count,
                           rapt_translation *out, rapt_error *err)
{
    rapt_code code = translate_encode_lines(t, lines, count, out, err);
    if (!code) {
        set_prefixes(t, count, begins);
        code = translate_run(t, count, out, err);
    }
    forget_lines(t);
    if (code)
        rapt_translations_free(out, count);
    return code;
}

rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                              rapt_error *err)
{
    memset(out, 0, count * sizeof *out);
    return run_lines(t, lines, NULL, count, out, err);
}

rapt_code rapt_translator_run_prefixed(rapt_translator *t, const char *const *lines, const char *const *texts, size_t count,
                                       rapt_translation *out, rapt_error *err)
{
    prefixes p;
    memset(out, 0, count * sizeof *out);
    params_sync(t->m->params, NULL); /* its threads only read */
    rapt_code code = prefixes_encode(&p, t->m, texts, count, err);
    if (code)
        return code;
    code = run_lines(t, lines, p.prefix, count, out, err);
    prefixes_free(&p);
    return code;
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

void rapt_translations_free(rapt_translation *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < t[i].count; j++) {
            free(t[i].hypotheses[j].text);
            free(t[i].hypotheses[j].tokens);
            align_free(&t[i].hypotheses[j].alignment);
        }
        free(t[i].hypotheses);
        free(t[i].source);
    }
    memset(t, 0, count * sizeof *t);
}
