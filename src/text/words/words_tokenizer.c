/* text/words/words_tokenizer.c: the words tokenizer: training, encoding, decoding, its file. For translation. Text is prepared
 * in words_prepare.c. */
#include "text/encode_run.h"
#include "text/sources.h"

#include "base/chars.h"
#include "base/rng.h"
#include "base/sized.h"
#include "text/bpe/token_list.h"
#include "text/training_defaults.h"
#include "text/utf8.h"
#include "text/words/words_prepare.h"

#include <stdlib.h>
#include <string.h>

typedef struct words {
    rapt_tokenizer base;
    token_list table; /* by id */
    bool lowercase;
} words;

static const char SPACES[] = WORDS_SPACES;
static const tokenizer_ops WORDS_OPS;

static const words *words_of(const rapt_tokenizer *k)
{
    return (const words *)k;
}

static words *words_new(bool lowercase, rapt_error *err)
{
    words *w = calloc(1, sizeof *w);
    if (!w) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
        return NULL;
    }
    w->base.ops = &WORDS_OPS;
    w->lowercase = lowercase;
    return w;
}

static void words_free(rapt_tokenizer *k)
{
    token_list_free(&((words *)k)->table);
    free(k);
}

/* ---- training ----------------------------------------------------------------------------------------------- */

/* Calls see(context, word, length) for each word of a prepared text; returns false as soon as it does. */
static bool each_word(const char *text, bool (*see)(void *context, const char *word, size_t length), void *context)
{
    for (text += strspn(text, SPACES); *text; text += strspn(text, SPACES)) {
        size_t length = strcspn(text, SPACES);
        if (!see(context, text, length))
            return false;
        text += length;
    }
    return true;
}

static bool count_word(void *context, const char *word, size_t length)
{
    return token_counts_add(context, word, length, 1);
}

static bool words_tokenizer_count_line(token_counts *t, const char *line, bool lowercase)
{
    char *text = words_prepare_sentence(line, lowercase);
    bool ok = text && each_word(text, count_word, t);
    free(text);
    return ok;
}

typedef struct ranked {
    int64_t count;
    size_t index;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* The id of a special token, or -1. */
static int32_t find_special(const char *word)
{
    for (int32_t i = 0; i < RAPT_SPECIALS; i++)
        if (strcmp(word, tokenizer_specials[i]) == 0)
            return i;
    return -1;
}

static bool words_tokenizer_add_token(words *w, const char *word)
{
    return token_list_add(&w->table, word, strlen(word)) >= 0;
}

static bool take_frequent(words *w, const token_counts *counted, const rapt_words_options *o)
{
    const size_t size = counted->tokens.size;
    ranked *order = malloc((size + 1) * sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < size; i++)
        order[i] = (ranked){counted->counts[i], i};
    qsort(order, size, sizeof *order, by_count);
    bool ok = true;
    for (int i = 0; i < RAPT_SPECIALS; i++)
        ok = ok && words_tokenizer_add_token(w, tokenizer_specials[i]);
    for (size_t i = 0; ok && i < size && (!o->max_size || w->table.size < o->max_size); i++) {
        const char *word = token_list_at(&counted->tokens, (int64_t)order[i].index, NULL);
        if ((size_t)order[i].count >= o->min_freq && find_special(word) < 0)
            ok = words_tokenizer_add_token(w, word);
    }
    free(order);
    return ok;
}

SIZED_ENDS_WITH(rapt_words_options, reserved);

void rapt_words_options_init(rapt_words_options *o, size_t size)
{
    sized_init(o, size, &(rapt_words_options){WORDS_DEFAULTS}, sizeof *o);
}

rapt_tokenizer *rapt_tokenizer_train_words(const char *const *lines, size_t count, const rapt_words_options *options,
                                           rapt_error *err)
{
    token_counts counted = {0};
    rapt_words_options o = {WORDS_DEFAULTS};
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "words_options", err) != RAPT_OK)
        return NULL;
    if (SIZED_AS_MODEL(o.min_freq) || SIZED_AS_MODEL(o.max_size)) {
        sized_refuse_as_model(SIZED_AS_MODEL(o.min_freq) ? "min_freq" : "max_size", err);
        return NULL;
    }
    words *w = words_new(o.lowercase, err);
    bool ok = w != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = words_tokenizer_count_line(&counted, lines[i], o.lowercase);
    ok = ok && take_frequent(w, &counted, &o);
    token_counts_free(&counted);
    if (ok)
        return &w->base;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a vocabulary");
    rapt_tokenizer_free(w ? &w->base : NULL);
    return NULL;
}

/* ---- what it is --------------------------------------------------------------------------------------------- */

static size_t words_size(const rapt_tokenizer *k)
{
    return words_of(k)->table.size;
}

static const char *words_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return token_list_at(&words_of(k)->table, id, size);
}

static int32_t words_special(const rapt_tokenizer *k, const char *text)
{
    (void)k;
    return find_special(text);
}

static uint64_t words_hash(const rapt_tokenizer *k)
{
    const words *w = words_of(k);
    uint64_t h = w->lowercase;
    for (size_t i = 0; i < w->table.size; i++)
        h = rng_mix(h, rng_hash_text(token_list_at(&w->table, (int64_t)i, NULL)));
    return h;
}

/* ---- encoding ----------------------------------------------------------------------------------------------- */

typedef struct encoding {
    const token_list *table;
    bool specials;
    int32_t *ids;
    size_t count;
} encoding;

static bool encode_word(void *context, const char *word, size_t length)
{
    encoding *e = context;
    const int32_t id = token_list_find(e->table, word, length);
    e->ids[e->count++] = id < 0 || (id < RAPT_SPECIALS && !e->specials) ? RAPT_UNK : id;
    return true;
}

static rapt_code encode_line(const words *w, const char *line, bool specials, rapt_ids_fn *sink, void *context,
                             rapt_error *err)
{
    char *sentence = words_prepare_sentence(line, w->lowercase);
    /* a word and the space after it are two bytes at least */
    encoding e = {&w->table, specials, sentence ? malloc((strlen(sentence) / 2 + 1) * sizeof *e.ids) : NULL, 0};
    rapt_code code = e.ids ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a line");
    if (e.ids) {
        each_word(sentence, encode_word, &e);
        code = sink(context, e.ids, e.count, err);
    }
    free(sentence);
    free(e.ids);
    return code;
}

/* Words end at line ends: lines can be encoded one by one. Lines from `begin` on, up to `end`. */
static rapt_code encode_word_lines(const rapt_tokenizer *k, const char *text, size_t size, size_t begin, size_t end,
                                   bool specials, rapt_ids_fn *sink, void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t at = begin; at < end && code == RAPT_OK;) {
        const char *feed = memchr(text + at, '\n', size - at);
        size_t length = feed ? (size_t)(feed - (text + at)) : size - at;
        size_t valid = utf8_valid_prefix(text + at, length), nul = chars_length(text + at, length);
        if (valid < length || nul < length)
            return rapt_fail(err, RAPT_ERR_FORMAT, "byte %zu: %s", at + (valid < nul ? valid : nul) + 1,
                             valid < nul ? "not UTF-8" : "NUL is no part of words");
        char *line = chars_copy_part(text + at, length);
        code = line ? encode_line(words_of(k), line, specials, sink, context, err)
                    : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a line");
        free(line);
        at += length + 1;
    }
    return code;
}

static rapt_code words_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                                 void *context, rapt_error *err)
{
    return encode_word_lines(k, text, size, 0, size, specials, sink, context, err);
}

/* The places of words, which words_prepare.c sets apart: its changes keep the number of words, and what they begin with. */
static rapt_code words_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                                      rapt_error *err)
{
    int32_t *ids;
    size_t count, at = 0, end;
    rapt_code code = tokenizer_encode_bytes(k, text, size, specials, &ids, &count, err);
    for (size_t i = 0; i < count && !code; i++, at = end) {
        at += words_prepare_blank(text + at, size - at);
        end = at + words_prepare_word(text + at, size - at);
        code = placed_ids_put(out, ids[i], (rapt_span){at, end}, err);
    }
    free(ids);
    return code;
}

/* Where the next line begins. */
static size_t words_cut(const char *text, size_t size, size_t from)
{
    const char *feed = memchr(text + from - 1, '\n', size - from + 1);
    return feed ? (size_t)(feed + 1 - text) : size;
}

static rapt_code words_encode_run(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    static const encode_cuts cuts = {words_cut, encode_word_lines};
    return encode_run_cut(k, r, &cuts, err);
}

/* ---- decoding ----------------------------------------------------------------------------------------------- */

static bool words_tokenizer_is_silent(int32_t id)
{
    return id == RAPT_BOS || id == RAPT_PAD;
}

static char *words_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    size_t capacity = 1, end = 0;
    for (; end < count && ids[end] != RAPT_EOS; end++) {
        const char *token = words_token(k, ids[end], NULL);
        capacity += token && !words_tokenizer_is_silent(ids[end]) ? strlen(token) + 1 : 0;
    }
    char *text = malloc(capacity), *to = text;
    for (size_t i = 0; text && i < end; i++) {
        const char *token = words_token(k, ids[i], NULL);
        if (!token || words_tokenizer_is_silent(ids[i]))
            continue;
        if (to > text)
            *to++ = ' ';
        memcpy(to, token, strlen(token));
        to += strlen(token);
    }
    if (text)
        *to = '\0';
    if (text && size)
        *size = (size_t)(to - text);
    return text;
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static json_t *words_to_json(const rapt_tokenizer *k)
{
    const words *w = words_of(k);
    json_t *list = json_array();
    for (size_t i = 0; list && i < w->table.size; i++)
        if (json_array_append_new(list, json_string(token_list_at(&w->table, (int64_t)i, NULL))) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:s, s:i, s:s, s:b, s:o}", "format", TOKENIZER_FORMAT, "version", TOKENIZER_VERSION, "type",
                     "words", "lowercase", w->lowercase, "tokens", list);
}

/* No token may be empty or hold white space: the text that it comes from is split there. */
static rapt_code words_tokenizer_take_token(words *w, size_t i, const json_t *token, const char *path, rapt_error *err)
{
    const char *word = json_string_value(token);
    if (!word || !*word || strpbrk(word, SPACES) || strlen(word) != json_string_length(token))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu is not a word", path, i);
    if (i < RAPT_SPECIALS && strcmp(word, tokenizer_specials[i]) != 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu is not \"%s\"", path, i, tokenizer_specials[i]);
    const int32_t id = token_list_add(&w->table, word, strlen(word));
    if (id < 0)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for token %zu", path, i);
    if ((size_t)id != i)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu repeats token %zu", path, i, (size_t)id);
    return RAPT_OK;
}

static rapt_code take_tokens(words *w, const json_t *tokens, const char *path, rapt_error *err)
{
    if (!json_is_array(tokens))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a tokenizer file", path);
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        rapt_code code = words_tokenizer_take_token(w, i, json_array_get(tokens, i), path, err);
        if (code)
            return code;
    }
    if (w->table.size < RAPT_SPECIALS)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a vocabulary of %zu tokens lacks the special ones", path, w->table.size);
    return RAPT_OK;
}

rapt_tokenizer *words_from_json(const json_t *root, const char *path, rapt_error *err)
{
    const json_t *lowercase = json_object_get(root, "lowercase");
    if (!json_is_boolean(lowercase)) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a tokenizer file", path);
        return NULL;
    }
    words *w = words_new(json_is_true(lowercase), err);
    if (!w || take_tokens(w, json_object_get(root, "tokens"), path, err) == RAPT_OK)
        return w ? &w->base : NULL;
    words_free(&w->base);
    return NULL;
}

static bool words_lowercases(const rapt_tokenizer *k)
{
    return words_of(k)->lowercase;
}

static const tokenizer_ops WORDS_OPS = {
    RAPT_TOKENIZER_WORDS, words_free, words_size, words_token, words_special, words_hash, words_encode_to, words_encode_run,
    words_decode, words_to_json, words_lowercases, .encode_offsets = words_encode_offsets};
