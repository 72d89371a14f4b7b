/* text/characters.c: the tokenizer of characters: a token is a code point, and ids are in the order of the codes. For language
 * models of small texts it has no special tokens, and a character that it lacks is an error. For translation it begins with the
 * four special tokens and takes lines, whose unknown characters become <unk>. */
#include "text/encode_run.h"
#include "text/sources.h"

#include "base/buffer.h"
#include "base/rng.h"
#include "base/sized.h"
#include "text/training_defaults.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { PORTION = 4096, FORGOTTEN = 4 << 20, CODES = 0x110000, ASCII = 128 };

typedef struct character {
    uint32_t code;
    char text[5]; /* UTF-8, with a NUL */
    unsigned char size;
} character;

typedef struct characters {
    rapt_tokenizer base;
    character *list; /* [count], by rising code; the id of the first is `first` */
    size_t count, first; /* `first`: RAPT_SPECIALS, or 0 without special tokens */
    int32_t ascii[ASCII]; /* ids, or -1 */
} characters;

static const tokenizer_ops CHARACTERS_OPS;

static const characters *characters_of(const rapt_tokenizer *k)
{
    return (const characters *)k;
}

static characters *characters_new(size_t count, bool specials, rapt_error *err)
{
    characters *c = calloc(1, sizeof *c);
    if (c) {
        c->base.ops = &CHARACTERS_OPS;
        c->first = specials ? RAPT_SPECIALS : 0;
        c->list = malloc((count + 1) * sizeof *c->list);
        memset(c->ascii, 0xFF, sizeof c->ascii);
    }
    if (c && c->list)
        return c;
    free(c);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu characters", count);
    return NULL;
}

static void characters_free(rapt_tokenizer *k)
{
    free(((characters *)k)->list);
    free(k);
}

static void add_code(characters *c, uint32_t code)
{
    character *next = &c->list[c->count];
    *next = (character){.code = code};
    next->size = (unsigned char)utf8_put(code, next->text);
    if (code < ASCII)
        c->ascii[code] = (int32_t)(c->first + c->count);
    c->count++;
}

/* ---- training ----------------------------------------------------------------------------------------------- */

static rapt_code fail_byte(size_t at, const char *reason, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_FORMAT, "byte %zu: %s", at + 1, reason);
}

/* Marks the code points that occur, without line feeds if `lines`; *count: their number. Gives memory of `file`, which may be
 * NULL, back when it was read. */
static rapt_code mark_codes(const char *text, size_t size, bool lines, const file_map *file, bool *seen, size_t *count,
                            rapt_error *err)
{
    uint32_t code;
    size_t given_back = 0;
    *count = 0;
    for (size_t at = 0, used; at < size; at += used) {
        if (file && at - given_back >= FORGOTTEN) {
            file_map_forget(file, given_back, at);
            given_back = at;
        }
        used = utf8_decode(text + at, size - at, &code);
        if (used == 0)
            return fail_byte(at, "not UTF-8", err);
        if (lines && code == '\n')
            continue;
        *count += !seen[code];
        seen[code] = true;
    }
    return *count ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "an empty text has no characters");
}

static rapt_tokenizer *characters_train(const char *text, size_t size, bool specials, const file_map *file, rapt_error *err)
{
    size_t count;
    bool *seen = calloc(CODES, sizeof *seen);
    characters *c = NULL;
    if (!seen)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to find characters");
    else if (mark_codes(text, size, specials, file, seen, &count, err) == RAPT_OK)
        c = characters_new(count, specials, err);
    for (uint32_t code = 0; c && code < CODES; code++)
        if (seen[code])
            add_code(c, code);
    free(seen);
    return c ? &c->base : NULL;
}

rapt_tokenizer *rapt_tokenizer_train_characters(const char *text, size_t size, rapt_error *err)
{
    return characters_train(text, size, false, NULL, err);
}

SIZED_ENDS_WITH(rapt_characters_options, reserved);

void rapt_characters_options_init(rapt_characters_options *o, size_t size)
{
    sized_init(o, size, &(rapt_characters_options){CHARACTERS_DEFAULTS}, sizeof *o);
}

rapt_tokenizer *rapt_tokenizer_train_characters_with(const char *text, size_t size, const rapt_characters_options *options,
                                                     rapt_error *err)
{
    rapt_characters_options o = {CHARACTERS_DEFAULTS};
    const rapt_code code = sized_take(&o, options, o.reserved, sizeof o.reserved, "characters_options", err);
    return code ? NULL : characters_train(text, size, o.specials_first, NULL, err);
}

rapt_tokenizer *characters_train_file(const file_map *file, rapt_error *err)
{
    return characters_train(file->data, file->size, false, file, err);
}

/* ---- what it is --------------------------------------------------------------------------------------------- */

static size_t characters_size(const rapt_tokenizer *k)
{
    return characters_of(k)->first + characters_of(k)->count;
}

static const char *characters_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    const characters *c = characters_of(k);
    if (id < 0 || (size_t)id >= c->first + c->count)
        return NULL;
    const bool special = (size_t)id < c->first;
    const char *text = special ? tokenizer_specials[id] : c->list[(size_t)id - c->first].text;
    if (size)
        *size = special ? strlen(text) : c->list[(size_t)id - c->first].size;
    return text;
}

static int32_t characters_special(const rapt_tokenizer *k, const char *text)
{
    for (size_t i = 0; i < characters_of(k)->first; i++)
        if (strcmp(text, tokenizer_specials[i]) == 0)
            return (int32_t)i;
    return -1;
}

static uint64_t characters_hash(const rapt_tokenizer *k)
{
    const characters *c = characters_of(k);
    uint64_t h = rng_hash_text(c->first ? "characters with special tokens" : "characters");
    for (size_t i = 0; i < c->count; i++)
        h = rng_mix(h, c->list[i].code);
    return h;
}

/* ---- encoding ----------------------------------------------------------------------------------------------- */

static int32_t find_code(const characters *c, uint32_t code)
{
    size_t low = 0, high = c->count;
    if (code < ASCII)
        return c->ascii[code];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->list[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->count && c->list[low].code == code ? (int32_t)(c->first + low) : -1;
}

/* The special token that the text begins with, and its length; or -1. */
static int32_t special_at(const characters *c, const char *text, size_t size, size_t *length)
{
    for (size_t i = 0; i < c->first; i++) {
        *length = strlen(tokenizer_specials[i]);
        if (*length <= size && memcmp(text, tokenizer_specials[i], *length) == 0)
            return (int32_t)i;
    }
    return -1;
}

/* The id of the character at *at; moves *at on; -1 for the end of a line. */
static rapt_code encode_next(const characters *c, const char *text, size_t size, bool specials, size_t *at, int32_t *id,
                             rapt_error *err)
{
    uint32_t code;
    size_t used;
    *id = specials ? special_at(c, text + *at, size - *at, &used) : -1;
    if (*id < 0) {
        used = utf8_decode(text + *at, size - *at, &code);
        if (used == 0)
            return fail_byte(*at, "not UTF-8", err);
        *id = find_code(c, code);
        if (*id < 0 && !c->first)
            return rapt_fail(err, RAPT_ERR_VALUE, "byte %zu: character U+%04X is not in the vocabulary", *at + 1, code);
        if (*id < 0 && code != '\n')
            *id = RAPT_UNK;
    }
    *at += used;
    return RAPT_OK;
}

static rapt_code encode_characters(const rapt_tokenizer *k, const char *text, size_t size, size_t begin, size_t end,
                                   bool specials, rapt_ids_fn *sink, void *context, rapt_error *err)
{
    int32_t ids[PORTION];
    rapt_code code = RAPT_OK;
    for (size_t at = begin, count; at < end && code == RAPT_OK;) {
        for (count = 0; at < end && count < PORTION && code == RAPT_OK; count += ids[count] >= 0)
            code = encode_next(characters_of(k), text, size, specials, &at, &ids[count], err);
        if (code == RAPT_OK)
            code = sink(context, ids, count, err);
    }
    return code;
}

static rapt_code characters_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials,
                                      rapt_ids_fn *sink, void *context, rapt_error *err)
{
    return encode_characters(k, text, size, 0, size, specials, sink, context, err);
}

static rapt_code characters_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials,
                                           placed_ids *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    int32_t id;
    for (size_t at = 0, begin; at < size && !code;) {
        begin = at;
        code = encode_next(characters_of(k), text, size, specials, &at, &id, err);
        if (!code && id >= 0)
            code = placed_ids_put(out, id, (rapt_span){begin, at}, err);
    }
    return code;
}

/* The first place that is not within a character: in valid text at most three bytes are skipped. */
static size_t characters_cut(const char *text, size_t size, size_t from)
{
    for (int i = 0; i < 3 && from < size && (text[from] & 0xC0) == 0x80; i++)
        from++;
    return from;
}

static rapt_code characters_encode_run(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    static const encode_cuts cuts = {characters_cut, encode_characters};
    const bool within = r->specials && characters_of(k)->first > 0; /* a text with special tokens cannot be cut: a cut could be
                                                                       within one */
    return within ? encode_run_whole(k, r, err) : encode_run_cut(k, r, &cuts, err);
}

/* ---- decoding ----------------------------------------------------------------------------------------------- */

/* Translations are lines: they end at <eos>, without <bos> and <pad>. */
static char *characters_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    if (!characters_of(k)->first)
        return tokenizer_join(k, ids, count, size);
    buffer line = {0};
    bool ok = buffer_append(&line, "", 0);
    for (size_t i = 0; ok && i < count && ids[i] != RAPT_EOS; i++) {
        size_t length;
        const char *token = characters_token(k, ids[i], &length);
        if (token && ids[i] != RAPT_BOS && ids[i] != RAPT_PAD)
            ok = buffer_append(&line, length == 1 && strchr("\n\r\t", *token) ? " " : token, length);
    }
    if (ok && size)
        *size = line.size;
    if (ok)
        return line.data;
    free(line.data);
    return NULL;
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static json_t *characters_to_json(const rapt_tokenizer *k)
{
    const characters *c = characters_of(k);
    json_t *list = json_array();
    for (size_t i = 0, size = 0; list && i < c->first + c->count; i++) {
        const char *token = characters_token(k, (int32_t)i, &size);
        if (json_array_append_new(list, json_stringn(token, size)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:s, s:i, s:s, s:o}", "format", TOKENIZER_FORMAT, "version", TOKENIZER_VERSION, "type",
                     "characters", "tokens", list);
}

/* Whether the list begins with the four special tokens, which are no characters. */
static bool lists_specials(const json_t *tokens)
{
    for (size_t i = 0; i < RAPT_SPECIALS; i++) {
        const char *token = json_string_value(json_array_get(tokens, i));
        if (!token || strcmp(token, tokenizer_specials[i]) != 0)
            return false;
    }
    return true;
}

static rapt_code take_character(characters *c, size_t i, const json_t *token, const char *path, rapt_error *err)
{
    uint32_t code;
    size_t length = json_string_length(token);
    if (length == 0 || utf8_decode(json_string_value(token), length, &code) != length)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu is not a character", path, i);
    if (c->count > 0 && code <= c->list[c->count - 1].code)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu is out of order", path, i);
    add_code(c, code);
    return RAPT_OK;
}

rapt_tokenizer *characters_from_json(const json_t *root, const char *path, rapt_error *err)
{
    const json_t *tokens = json_object_get(root, "tokens");
    size_t count = json_array_size(tokens), first = lists_specials(tokens) ? RAPT_SPECIALS : 0;
    if (count == first) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: a vocabulary without characters", path);
        return NULL;
    }
    characters *c = characters_new(count, first > 0, err);
    for (size_t i = first; c && i < count; i++)
        if (take_character(c, i, json_array_get(tokens, i), path, err) != RAPT_OK) {
            characters_free(&c->base);
            return NULL;
        }
    return c ? &c->base : NULL;
}

static const tokenizer_ops CHARACTERS_OPS = {
    RAPT_TOKENIZER_CHARACTERS, characters_free, characters_size, characters_token, characters_special, characters_hash,
    characters_encode_to, characters_encode_run, characters_decode, characters_to_json,
    .encode_offsets = characters_encode_offsets};
