/* text/layout/layout_vocab.c: the vocabulary of a layout: the tokens of a class, the pieces of the model, languages; which of
 * them are added tokens, and the model of tokenizer.json with them. For layout_json.c. */
#include "text/layout/layout.h"

#include "base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct layout_builder {
    const layout_settings *s;
    const spm *pieces;
    token_list tokens; /* all, by id */
    json_t *vocab;     /* [[token, score], ...]: tokens of the model */
    json_t *added;     /* as tokenizer.json has them */
    rapt_error *err;
} layout_builder;

static rapt_code no_memory(const layout_builder *b)
{
    return rapt_fail(b->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", b->s->path);
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

/* The next id. */
static rapt_code add_layout_token(layout_builder *b, const char *token, size_t size)
{
    char text[100];
    snprintf(text, sizeof text, "%.*s", size < sizeof text ? (int)size : (int)sizeof text - 1, token);
    if (memchr(token, '\0', size))
        return rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: piece %zu holds a NUL", b->s->path, b->tokens.size);
    if (token_list_find(&b->tokens, token, size) >= 0)
        return rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: there is a piece \"%s\", which is a special token of %sTokenizer",
                         b->s->path, quote(text).text, b->s->of->class);
    return token_list_put(&b->tokens, b->tokens.size, token, size, true) ? RAPT_OK : no_memory(b);
}

static rapt_code add_model_token(layout_builder *b, const char *token, size_t size, double score)
{
    rapt_code code = add_layout_token(b, token, size);
    if (!code && json_array_append_new(b->vocab, json_pack("[s%, f]", token, size, score)) != 0)
        code = no_memory(b); /* or no UTF-8 */
    return code;
}

/* Makes the token with the last id an added token, which is cut out of a text. */
static rapt_code mark_added(layout_builder *b, bool special)
{
    const size_t id = b->tokens.size - 1;
    json_t *token = json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)id, "content",
                              token_list_at(&b->tokens, (int64_t)id, NULL), "single_word", 0, "lstrip", 0, "rstrip", 0,
                              "normalized", 0, "special", special);
    return json_array_append_new(b->added, token) == 0 ? RAPT_OK : no_memory(b);
}

static rapt_code add_special(layout_builder *b, const char *token, size_t size, double score)
{
    rapt_code code = add_model_token(b, token, size, score);
    return code ? code : mark_added(b, true);
}

static rapt_code add_numbered(layout_builder *b, const char *form, size_t number, double score)
{
    char token[40];
    snprintf(token, sizeof token, "<%s_%zu>", form, number);
    return add_special(b, token, strlen(token), score);
}

/* ---- parts of the vocabulary ------------------------------------------------------------------------------------ */

static rapt_code add_first(layout_builder *b)
{
    const char *list = b->s->of->first, *token;
    size_t size;
    rapt_code code = RAPT_OK;
    while (!code && (token = layout_next(&list, &size)))
        code = add_special(b, token, size, 0);
    for (size_t i = 0; !code && i < b->s->of->fillers; i++)
        code = add_numbered(b, "unk", i + 2, -100);
    return code;
}

/* *count: the number of pieces that the tokens of the class replace; they must be the model's first pieces. */
static rapt_code check_dropped(const layout_builder *b, size_t *count)
{
    const char *list = b->s->of->dropped, *token;
    size_t size, length = 0;
    for (*count = 0; (token = layout_next(&list, &size)); ++*count) {
        const char *piece = token_list_at(&b->pieces->pieces, (int64_t)*count, &length);
        if (!piece || length != size || memcmp(piece, token, size) != 0)
            return rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: piece %zu is \"%s\", not %.*s, which %sTokenizer counts on",
                             b->s->path, *count, piece ? quote(piece).text : "", (int)size, token, b->s->of->class);
    }
    return RAPT_OK;
}

static bool is_turn(const layout *of, const char *piece, size_t size)
{
    const char *list = of->turns ? of->turns : "", *one;
    for (size_t length; (one = layout_next(&list, &length));)
        if (length == size && memcmp(one, piece, size) == 0)
            return true;
    return false;
}

/* Without a piece for tabs, transformers has "\t" in the place of that byte. Longer pieces of tabs could be merged from it. */
static rapt_code add_piece(layout_builder *b, const char *piece, size_t size, double score)
{
    const bool tabless = b->s->of->bare && spm_find(b->pieces, "\t", 1) == b->pieces->unknown;
    if (tabless && size == 6 && memcmp(piece, "<0x09>", 6) == 0)
        return add_model_token(b, "\t", 1, 0);
    if (!tabless || !memchr(piece, '\t', size))
        return add_model_token(b, piece, size, score);
    return rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: there are pieces of tabs, but no tab; a tokenizer.json in the folder would "
                     "say what becomes of them", b->s->path);
}

static rapt_code add_pieces(layout_builder *b)
{
    size_t first = 0, size = 0;
    rapt_code code = check_dropped(b, &first);
    for (size_t i = first; !code && i < b->pieces->pieces.size; i++) {
        const char *piece = token_list_at(&b->pieces->pieces, (int64_t)i, &size);
        const unsigned char kind = b->pieces->kinds[i];
        code = add_piece(b, piece, size, (double)b->pieces->scores[i]);
        if (!code && (kind == SPM_CONTROL || kind == SPM_UNKNOWN || kind == SPM_USER_DEFINED))
            code = mark_added(b, kind != SPM_USER_DEFINED || is_turn(b->s->of, piece, size));
    }
    for (size_t i = b->s->extra_ids; !code && i-- > 0;)
        code = add_numbered(b, "extra_id", i, 0);
    return code;
}

static rapt_code add_language(layout_builder *b, const char *token, size_t size)
{
    rapt_code code = b->s->of->outside ? add_layout_token(b, token, size) : add_model_token(b, token, size, 0);
    return code ? code : mark_added(b, true);
}

static rapt_code add_codes(layout_builder *b)
{
    const layout *of = b->s->of;
    const char *list = of->codes ? of->codes : "", *token;
    size_t size;
    rapt_code code = RAPT_OK;
    if (of->outside && b->s->added)
        return RAPT_OK; /* the folder has its own list */
    while (!code && (token = layout_next(&list, &size)))
        code = add_language(b, token, size);
    if (code || !of->mask)
        return code;
    code = add_language(b, of->mask, strlen(of->mask));
    json_t *mask = json_array_get(b->added, json_array_size(b->added) - 1);
    if (!code && (json_object_set_new(mask, "lstrip", json_true()) != 0 ||
                  json_object_set_new(mask, "normalized", json_boolean(of->mask_normalized)) != 0))
        code = no_memory(b);
    return code;
}

/* ---- added_tokens_decoder -------------------------------------------------------------------------------------- */

static json_t *find_added(const layout_builder *b, json_int_t id)
{
    json_t *token;
    size_t i;
    json_array_foreach(b->added, i, token)
    {
        if (json_integer_value(json_object_get(token, "id")) == id)
            return token;
    }
    return NULL;
}

/* Takes the folder's flags of a token; an id after the last one is a new token. */
static rapt_code take_listed(layout_builder *b, size_t id, const json_t *listed)
{
    const json_t *content = json_object_get(listed, "content");
    const char *text = json_string_value(content), *there = token_list_at(&b->tokens, (int64_t)id, NULL);
    rapt_code code = RAPT_OK;
    if (!text || (there && strcmp(text, there) != 0))
        return rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: the folder gives id %zu to the added token \"%s\", and %sTokenizer to "
                         "\"%s\"", b->s->path, id, text ? quote(text).text : "", b->s->of->class, there ? quote(there).text : "");
    if (!there)
        code = add_layout_token(b, text, json_string_length(content));
    json_t *token = code ? NULL : find_added(b, (json_int_t)id), *fresh = NULL;
    if (!code && !token)
        token = fresh = json_pack("{s:I}", "id", (json_int_t)id);
    if (!code && (!token || json_object_update(token, (json_t *)listed) != 0))
        code = no_memory(b);
    if (fresh && !code)
        return json_array_append_new(b->added, fresh) == 0 ? RAPT_OK : no_memory(b);
    json_decref(fresh);
    return code;
}

static rapt_code add_listed(layout_builder *b)
{
    const size_t known = b->tokens.size;
    size_t found = 0;
    rapt_code code = RAPT_OK;
    for (size_t id = 0; b->s->added && !code && found < json_object_size(b->s->added); id++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", id);
        const json_t *listed = json_object_get(b->s->added, key);
        found += listed != NULL;
        if (listed)
            code = take_listed(b, id, listed);
        else if (id >= known)
            code = rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: the added tokens of the folder lack one with id %zu, and have others "
                             "behind it", b->s->path, id);
    }
    return code;
}

/* ---- the model ------------------------------------------------------------------------------------------------ */

static json_t *vocabulary_object(const json_t *vocab)
{
    json_t *object = json_object(), *entry;
    size_t i;
    bool ok = object != NULL;
    json_array_foreach((json_t *)vocab, i, entry)
    {
        ok = ok && json_object_set_new(object, json_string_value(json_array_get(entry, 0)), json_integer((json_int_t)i)) == 0;
    }
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *layout_bpe(const layout_builder *b, const char *unknown)
{
    json_t *vocab = vocabulary_object(b->vocab), *merges = layout_merges(&b->pieces->pieces, b->vocab), *model = NULL;
    if (vocab && merges)
        model = json_pack("{s:s, s:n, s:s, s:n, s:n, s:b, s:b, s:b, s:O, s:O}", "type", "BPE", "dropout", "unk_token", unknown,
                          "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", 1, "byte_fallback", b->s->of->bytes,
                          "ignore_merges", 0, "vocab", vocab, "merges", merges);
    json_decref(vocab);
    json_decref(merges);
    return model;
}

static json_t *layout_model_of(const layout_builder *b)
{
    size_t size = 0;
    const char *unknown = token_list_at(&b->pieces->pieces, b->pieces->unknown, &size);
    const int32_t id = unknown ? token_list_find(&b->tokens, unknown, size) : -1;
    json_t *model = NULL;
    if (id < 0)
        rapt_fail(b->err, RAPT_ERR_FORMAT, "%s: there is no <unk>", b->s->path);
    else if (!(model = b->pieces->type == SPM_BPE
                           ? layout_bpe(b, unknown)
                           : json_pack("{s:s, s:i, s:O, s:b}", "type", "Unigram", "unk_id", (int)id, "vocab", b->vocab,
                                       "byte_fallback", 0)))
        no_memory(b);
    return model;
}

json_t *layout_model(const layout_settings *s, const spm *pieces, json_t **added, rapt_error *err)
{
    layout_builder b = {.s = s, .pieces = pieces, .vocab = json_array(), .added = json_array(), .err = err};
    rapt_code code = b.vocab && b.added ? add_first(&b) : no_memory(&b);
    code = code ? code : add_pieces(&b);
    code = code ? code : add_codes(&b);
    code = code ? code : add_listed(&b);
    json_t *model = code ? NULL : layout_model_of(&b);
    *added = model ? json_incref(b.added) : NULL;
    token_list_free(&b.tokens);
    json_decref(b.vocab);
    json_decref(b.added);
    return model;
}
