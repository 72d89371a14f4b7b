/* text/pipeline/pipeline_model_read.c: the model of a tokenizer.json. For pipeline_read.c; pipeline_model.h has the meaning. */
#include "text/pipeline/pipeline_model.h"

#include "base/quote.h"
#include "text/pipeline/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IDS = 1 << 22, MAX_LETTERS = 1 << 20 };
enum { MAX_WALK = 1 << 12, MAX_CHARACTER = 4 }; /* bytes; MAX_WALK bounds the work for a place in a text */
#define UNKNOWN_PENALTY 10.0 /* Unigram: the score of an unknown character is lower than the lowest by this */

/* ---- vocabulary --------------------------------------------------------------------------------------------- */

static rapt_code take_entry(pipeline_model *m, const hf_reading *r, const char *token, const json_t *id)
{
    size_t size = strlen(token);
    json_int_t at = json_integer_value(id);
    if (!json_is_integer(id) || at < 0 || at >= MAX_IDS || size > MAX_LETTERS)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: token \"%s\" has no sensible id", r->path, quote(token).text);
    if (token_list_at(&m->vocab, at, NULL))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: token \"%s\": id %lld is another token's", r->path, quote(token).text,
                         (long long)at);
    return token_list_put(&m->vocab, (size_t)at, token, size, true) ? RAPT_OK : component_no_memory(r);
}

static rapt_code take_entries(pipeline_model *m, const hf_reading *r, json_t *vocab)
{
    const char *token;
    json_t *id;
    if (json_object_size(vocab) == 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: the model has no vocab", r->path);
    json_object_foreach(vocab, token, id)
    {
        rapt_code code = take_entry(m, r, token, id);
        if (code)
            return code;
    }
    return RAPT_OK;
}

/* ---- merges ------------------------------------------------------------------------------------------------- */

/* The token of both, without the right one's prefix; -1: none. */
static rapt_code find_merged(const pipeline_model *m, const hf_reading *r, int32_t left, int32_t right, int32_t *merged)
{
    size_t n, k, prefix = m->prefix ? strlen(m->prefix) : 0;
    const char *x = token_list_at(&m->vocab, left, &n), *y = token_list_at(&m->vocab, right, &k);
    *merged = -1;
    if (k < prefix)
        return RAPT_OK;
    char *both = malloc(n + k + 1);
    if (!both)
        return component_no_memory(r);
    memcpy(both, x, n);
    memcpy(both + n, y + prefix, k - prefix);
    *merged = token_list_find(&m->vocab, both, n + k - prefix);
    free(both);
    return RAPT_OK;
}

static rapt_code take_parts(pipeline_model *m, const hf_reading *r, size_t i, const char *x, size_t n, const char *y, size_t k)
{
    int32_t left = token_list_find(&m->vocab, x, n), right = token_list_find(&m->vocab, y, k), merged;
    if (left < 0 || right < 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu names a token that is not in the vocabulary", r->path, i);
    rapt_code code = find_merged(m, r, left, right, &merged);
    if (code)
        return code;
    if (merged < 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu: no token has the bytes of tokens %d and %d", r->path, i, left,
                         right);
    if (i >= PAIR_RANKS || pair_table_find(&m->pairs, left, right).rank != PAIR_NEVER)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu: tokens %d and %d merge twice", r->path, i, left, right);
    return pair_table_put(&m->pairs, left, right, (pair_merge){(uint32_t)i, merged}) ? RAPT_OK : component_no_memory(r);
}

/* "a b" or ["a", "b"]. */
static rapt_code take_merge_of(pipeline_model *m, const hf_reading *r, size_t i, const json_t *merge)
{
    const json_t *x = json_array_get(merge, 0), *y = json_array_get(merge, 1);
    if (json_array_size(merge) == 2 && json_is_string(x) && json_is_string(y))
        return take_parts(m, r, i, json_string_value(x), json_string_length(x), json_string_value(y), json_string_length(y));
    const char *text = json_string_value(merge), *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' '))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu is not two tokens", r->path, i);
    return take_parts(m, r, i, text, (size_t)(space - text), space + 1, strlen(space + 1));
}

static rapt_code take_merges_of(pipeline_model *m, const hf_reading *r, const json_t *merges)
{
    rapt_code code = RAPT_OK;
    if (!json_is_array(merges))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: the model has no merges", r->path);
    for (size_t i = 0; i < json_array_size(merges) && !code; i++)
        code = take_merge_of(m, r, i, json_array_get(merges, i));
    return code;
}

/* ---- the kinds of models ------------------------------------------------------------------------------------ */

static rapt_code optional_text(const hf_reading *r, const json_t *model, const char *key, char **out)
{
    const json_t *value = json_object_get(model, key);
    return !value || json_is_null(value) ? RAPT_OK : component_text(r, "model", model, key, out);
}

static rapt_code find_unk_token(pipeline_model *m, const hf_reading *r, const json_t *model)
{
    rapt_code code = optional_text(r, model, "unk_token", &m->unk_token);
    m->unk = !code && m->unk_token ? token_list_find(&m->vocab, m->unk_token, strlen(m->unk_token)) : -1;
    return code;
}

static void find_byte_tokens(pipeline_model *m)
{
    char name[8];
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        m->bytes[i] = token_list_find(&m->vocab, name, 6);
    }
}

static rapt_code read_bpe(pipeline_model *m, const hf_reading *r, const json_t *model)
{
    static const char what[] = "model BPE";
    rapt_code code = component_check_keys(r, what, model, "type vocab merges unk_token continuing_subword_prefix "
                                                          "end_of_word_suffix fuse_unk byte_fallback ignore_merges");
    code = code ? code : optional_text(r, model, "continuing_subword_prefix", &m->prefix);
    code = code ? code : optional_text(r, model, "end_of_word_suffix", &m->suffix);
    code = code ? code : component_bool(r, what, model, "fuse_unk", false, &m->fuse_unk);
    code = code ? code : component_bool(r, what, model, "byte_fallback", false, &m->byte_fallback);
    code = code ? code : component_bool(r, what, model, "ignore_merges", false, &m->ignore_merges);
    if (!code)
        find_byte_tokens(m);
    return code ? code : take_merges_of(m, r, json_object_get(model, "merges"));
}

/* Whether a walk from a place in a word on may take more than MAX_WALK steps for this token: it continues a word, and words may
 * be as long. A token that only begins a word is walked once. */
static bool takes_long_walk(const pipeline_model *m, const char *token, size_t size)
{
    const size_t prefix = strlen(m->prefix);
    return m->max_characters > MAX_WALK / MAX_CHARACTER && size > prefix && size - prefix > MAX_WALK &&
           memcmp(token, m->prefix, prefix) == 0;
}

/* With the node of the prefix. */
static rapt_code plant_trie(pipeline_model *m, const hf_reading *r)
{
    int32_t id;
    bool ok = true;
    for (size_t i = 0, size = 0; ok && i < m->vocab.size; i++) {
        const char *token = token_list_at(&m->vocab, (int64_t)i, &size);
        if (token && takes_long_walk(m, token, size))
            return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: model WordPiece: with max_input_chars_per_word %zu a token has at "
                             "most %d bytes behind the prefix; token %zu has %zu", r->path, m->max_characters, MAX_WALK, i,
                             size - strlen(m->prefix));
        ok = !token || piece_trie_add(&m->unigram.trie, token, size, (int32_t)i);
    }
    for (const char *at = m->prefix; *at && m->after_prefix >= 0; at++)
        piece_trie_step(&m->unigram.trie, &m->after_prefix, *at, &id);
    return ok ? RAPT_OK : component_no_memory(r);
}

static rapt_code read_word_piece(pipeline_model *m, const hf_reading *r, const json_t *model)
{
    static const char what[] = "model WordPiece";
    const json_t *most = json_object_get(model, "max_input_chars_per_word");
    rapt_code code = component_check_keys(r, what, model, "type vocab unk_token continuing_subword_prefix "
                                                          "max_input_chars_per_word");
    code = code ? code : component_text(r, what, model, "continuing_subword_prefix", &m->prefix);
    if (!code && (!json_is_integer(most) || json_integer_value(most) < 0))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: max_input_chars_per_word is no count", r->path, what);
    m->max_characters = (size_t)json_integer_value(most);
    code = code ? code : plant_trie(m, r);
    return code || m->unk_token ? code : rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: there is no unk_token", r->path, what);
}

static rapt_code read_word_level(pipeline_model *m, const hf_reading *r, const json_t *model)
{
    rapt_code code = component_check_keys(r, "model WordLevel", model, "type vocab unk_token");
    return code || m->unk_token ? code
                                : rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: model WordLevel: there is no unk_token", r->path);
}

/* ---- Unigram ------------------------------------------------------------------------------------------------ */

/* [token, score]; its place in the list is its id. */
static rapt_code take_scored(pipeline_model *m, const hf_reading *r, size_t id, const json_t *entry)
{
    const json_t *token = json_array_get(entry, 0), *score = json_array_get(entry, 1);
    size_t size = json_string_length(token);
    if (json_array_size(entry) != 2 || !json_is_string(token) || !json_is_number(score) || size > MAX_WALK)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: entry %zu of the vocabulary is no token with a score", r->path, id);
    if (token_list_find(&m->vocab, json_string_value(token), size) >= 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: token \"%s\" is there twice", r->path,
                         quote(json_string_value(token)).text);
    unigram *u = &m->unigram;
    u->scores[id] = json_number_value(score);
    u->unknown_score = id == 0 || u->scores[id] < u->unknown_score ? u->scores[id] : u->unknown_score;
    bool ok = token_list_put(&m->vocab, id, json_string_value(token), size, true) &&
              piece_trie_add(&u->trie, json_string_value(token), size, (int32_t)id);
    return ok ? RAPT_OK : component_no_memory(r);
}

static rapt_code read_unigram(pipeline_model *m, const hf_reading *r, const json_t *model)
{
    static const char what[] = "model Unigram";
    const json_t *list = json_object_get(model, "vocab"), *unk = json_object_get(model, "unk_id");
    size_t count = json_array_size(list);
    rapt_code code = component_check_keys(r, what, model, "type vocab unk_id byte_fallback");
    code = code ? code : component_bool(r, what, model, "byte_fallback", false, &m->byte_fallback);
    if (!code && (count == 0 || count > MAX_IDS))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: the model has no vocab, or too many tokens", r->path);
    m->unigram.scores = code ? NULL : malloc(count * sizeof *m->unigram.scores);
    if (!m->unigram.scores)
        return code ? code : component_no_memory(r);
    for (size_t i = 0; i < count && !code; i++)
        code = take_scored(m, r, i, json_array_get(list, i));
    m->unigram.unknown_score -= UNKNOWN_PENALTY;
    m->unk = json_is_integer(unk) && json_integer_value(unk) >= 0 && (size_t)json_integer_value(unk) < count
             ? (int32_t)json_integer_value(unk) : -1;
    m->unigram.unknown = m->unk;
    m->unigram.needs_unknown = true;
    if (!code && m->unk < 0 && unk && !json_is_null(unk))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: unk_id is no token's", r->path);
    find_byte_tokens(m);
    return code;
}

static const struct {
    const char *type, *member; /* old files have no type, but this member, which the later models lack */
    pipeline_model_kind kind;
    rapt_code (*read)(pipeline_model *m, const hf_reading *r, const json_t *model);
} MODELS[] = {{"BPE", "merges", MODEL_BPE, read_bpe},
              {"WordPiece", "max_input_chars_per_word", MODEL_WORD_PIECE, read_word_piece},
              {"Unigram", "unk_id", MODEL_UNIGRAM, read_unigram},
              {"WordLevel", "unk_token", MODEL_WORD_LEVEL, read_word_level}};

rapt_code pipeline_model_read(pipeline_model *m, const hf_reading *r)
{
    const json_t *model = json_object_get(r->root, "model");
    const char *type = hf_type(model);
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        if (*type ? strcmp(type, MODELS[i].type) != 0 : !json_object_get(model, MODELS[i].member))
            continue;
        m->kind = MODELS[i].kind;
        m->unk = -1;
        rapt_code code = m->kind == MODEL_UNIGRAM ? RAPT_OK : take_entries(m, r, json_object_get(model, "vocab"));
        code = code || m->kind == MODEL_UNIGRAM ? code : find_unk_token(m, r, model);
        return code ? code : MODELS[i].read(m, r, model);
    }
    return hf_refuse(r, "model", model);
}
