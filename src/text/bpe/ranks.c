/* text/bpe/ranks.c: the public encodings of tiktoken, from their rank files (one `base64 rank` a line) or from a tokenizer file
 * of rapt, which holds the same list as JSON. The files are not shipped; the table below has the other properties of an
 * encoding. */
#include "text/bpe/byte_bpe.h"

#include "base/file.h"
#include "text/bpe/base64.h"
#include "text/lines.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAX_BYTES ((size_t)1 << 28)
#define NAMES "r50k_base, p50k_base, cl100k_base and o200k_base"
enum { MAX_LETTERS = 4096, MAX_SPECIALS = 5 };

/* Pattern, ranks, special tokens: facts of tiktoken's openai_public.py. A special token may have an id amid the ranks. `hash` is
 * XXH3 of the file that has the sha256 of openai_public.py. */
static const struct encoding {
    const char *name, *pattern;
    size_t ranks; /* the last one and one */
    uint64_t hash;
    struct {
        const char *text;
        size_t id;
    } specials[MAX_SPECIALS];
} ENCODINGS[] = {
    {"r50k_base", SPLIT_GPT2, 50256, 0x3CB2FBE95939BD2D, {{"<|endoftext|>", 50256}}},
    {"p50k_base", SPLIT_GPT2, 50281, 0xF2D3FA62565E6E17, {{"<|endoftext|>", 50256}}},
    {"cl100k_base",
     SPLIT_CL100K,
     100256,
     0xAA5D7BF38900641A,
     {{"<|endoftext|>", 100257},
      {"<|fim_prefix|>", 100258},
      {"<|fim_middle|>", 100259},
      {"<|fim_suffix|>", 100260},
      {"<|endofprompt|>", 100276}}},
    {"o200k_base", SPLIT_O200K, 199998, 0x72A095E82CA109D6, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
};

static const struct encoding *find_encoding(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof ENCODINGS / sizeof *ENCODINGS; i++)
        if (strlen(ENCODINGS[i].name) == length && memcmp(ENCODINGS[i].name, name, length) == 0)
            return &ENCODINGS[i];
    return NULL;
}

const char *ranks_encoding(const char *name, size_t length)
{
    const struct encoding *of = find_encoding(name, length);
    return of ? of->name : NULL;
}

static bool is_special_of(const struct encoding *of, size_t id)
{
    for (size_t i = 0; i < MAX_SPECIALS && of->specials[i].text; i++)
        if (of->specials[i].id == id)
            return true;
    return false;
}

/* Adds the token of a line or of an element; `at` is its place for messages, such as "FILE:LINE". */
static rapt_code put_token(byte_bpe *b, const struct encoding *of, size_t rank, const char *letters, size_t size,
                           const char *path, size_t at, rapt_error *err)
{
    char token[MAX_LETTERS];
    size_t length;
    if (size > MAX_LETTERS || !base64_decode(letters, size, token, &length) || length == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: the token is not base64", path, at);
    if (rank >= of->ranks)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: rank %zu; %s ends with rank %zu", path, at, rank, of->name,
                         of->ranks - 1);
    if (is_special_of(of, rank))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: rank %zu; in %s that is a special token", path, at, rank, of->name);
    if (token_list_at(&b->tokens, (int64_t)rank, NULL))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: rank %zu was there before", path, at, rank);
    if (token_list_find(&b->tokens, token, length) >= 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: the token was there before, with rank %d", path, at,
                         token_list_find(&b->tokens, token, length));
    if (!token_list_put(&b->tokens, rank, token, length, true))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s:%zu: out of memory for a token", path, at);
    return RAPT_OK;
}

/* ---- merges ------------------------------------------------------------------------------------------------- */

/* Every cut of a token into two tokens is a pair that merges, with the token's rank. */
static rapt_code put_cuts(byte_bpe *b, int32_t rank, rapt_error *err)
{
    uint64_t first[MAX_LETTERS], second[MAX_LETTERS];
    size_t length;
    const char *token = token_list_at(&b->tokens, rank, &length);
    for (size_t i = 1; i < length; i++) {
        first[i] = token_list_fetch(&b->tokens, token, i);
        second[i] = token_list_fetch(&b->tokens, token + i, length - i);
    }
    for (size_t i = 1; i < length; i++) {
        int32_t left = token_list_find_fetched(&b->tokens, first[i], token, i);
        int32_t right = left < 0 ? -1 : token_list_find_fetched(&b->tokens, second[i], token + i, length - i);
        if (right >= 0 && !pair_table_put(&b->pairs, left, right, (pair_merge){(uint32_t)rank, rank}))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a merge");
    }
    return RAPT_OK;
}

static rapt_code ranks_complete(byte_bpe *b, const struct encoding *of, const char *path, rapt_error *err)
{
    rapt_error why = {0};
    for (size_t i = 0; i < of->ranks; i++)
        if (!token_list_at(&b->tokens, (int64_t)i, NULL) && !is_special_of(of, i))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: rank %zu is missing; %s has ranks 0 to %zu", path, i, of->name,
                             of->ranks - 1);
    rapt_code code = byte_bpe_find_bytes(b, &why);
    for (size_t i = 0; i < of->ranks && code == RAPT_OK; i++)
        code = is_special_of(of, i) ? RAPT_OK : put_cuts(b, (int32_t)i, &why);
    for (size_t i = 0; i < MAX_SPECIALS && of->specials[i].text && code == RAPT_OK; i++)
        code = byte_bpe_add_special(b, of->specials[i].id, of->specials[i].text, strlen(of->specials[i].text), false, &why);
    return code ? rapt_fail(err, code, "%s: %s", path, why.message) : RAPT_OK;
}

/* ---- to JSON ------------------------------------------------------------------------------------------------ */

/* A token as JSON; null for a special token. */
static json_t *ranks_token_json(const byte_bpe *b, const struct encoding *of, size_t rank)
{
    size_t length;
    if (is_special_of(of, rank))
        return json_null();
    const char *token = token_list_at(&b->tokens, (int64_t)rank, &length);
    char *letters = malloc(BASE64_CAPACITY(length));
    if (letters)
        base64_encode(token, length, letters);
    json_t *json = letters ? json_stringn(letters, BASE64_CAPACITY(length)) : NULL;
    free(letters);
    return json;
}

static json_t *ranks_to_json(const byte_bpe *b)
{
    const struct encoding *of = find_encoding(b->ranks, strlen(b->ranks));
    json_t *list = json_array();
    for (size_t i = 0; list && i < of->ranks; i++)
        if (json_array_append_new(list, ranks_token_json(b, of, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:s, s:i, s:s, s:s, s:o}", "format", TOKENIZER_FORMAT, "version", TOKENIZER_VERSION, "type",
                     "ranks", "encoding", b->ranks, "tokens", list);
}

static byte_bpe *new_of(const struct encoding *of, rapt_error *err)
{
    byte_bpe *b = byte_bpe_new(of->pattern, err);
    if (b) {
        b->ranks = of->name;
        b->to_json = ranks_to_json;
        b->whole_pieces = true;
    }
    return b;
}

/* ---- rank files --------------------------------------------------------------------------------------------- */

/* Up to nine digits that are all of text[0 .. size). */
static bool read_rank(const char *text, size_t size, size_t *rank)
{
    *rank = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *rank = 10 * *rank + (size_t)(text[i] - '0');
    }
    return size > 0 && size <= 9;
}

static rapt_code ranks_take_line(byte_bpe *b, const struct encoding *of, const char *line, size_t size, const char *path,
                                 size_t number, rapt_error *err)
{
    size_t rank;
    const char *space = memchr(line, ' ', size);
    if (size == 0)
        return RAPT_OK;
    if (!space || !read_rank(space + 1, size - 1 - (size_t)(space - line), &rank))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: not a token in base64, a space and a rank", path, number);
    return put_token(b, of, rank, line, (size_t)(space - line), path, number, err);
}

static rapt_code ranks_take_lines(byte_bpe *b, const struct encoding *of, const char *text, size_t size, const char *path,
                                  rapt_error *err)
{
    rapt_code code = size ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "%s: an empty file", path);
    line_walk walk = {text, text + size};
    for (size_t number = 1; walk.at < walk.end && code == RAPT_OK; number++) {
        line_span line = lines_next(&walk);
        code = ranks_take_line(b, of, line.at, line.size, path, number, err);
    }
    return code ? code : ranks_complete(b, of, path, err);
}

static rapt_tokenizer *ranks_from_lines(const struct encoding *of, const char *text, size_t size, const char *path,
                                        rapt_error *err)
{
    byte_bpe *b = new_of(of, err);
    if (b && ranks_take_lines(b, of, text, size, path, err) != RAPT_OK) {
        byte_bpe_free(b);
        b = NULL;
    }
    return b ? &b->base : NULL;
}

rapt_tokenizer *ranks_from_file(const char *encoding, const char *path, rapt_error *err)
{
    char *text = NULL;
    size_t size;
    if (file_read_regular(path, MAX_BYTES, &text, &size, err) != RAPT_OK)
        return NULL;
    rapt_tokenizer *k = ranks_from_lines(find_encoding(encoding, strlen(encoding)), text, size, path, err);
    free(text);
    return k;
}

bool ranks_look_like(const char *text, size_t size)
{
    static const char digits[] = "0123456789";
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    size_t end = 0, space = 0;
    while (space < size && text[space] && strchr(letters, text[space]))
        space++;
    for (end = space + 1; end < size && text[end] && strchr(digits, text[end]);)
        end++;
    return space > 0 && space % 4 == 0 && space < size && text[space] == ' ' && end > space + 1 && end < size &&
           (text[end] == '\n' || text[end] == '\r');
}

static size_t count_ranks(const struct encoding *of)
{
    size_t count = 0;
    for (size_t i = 0; i < of->ranks; i++)
        count += !is_special_of(of, i);
    return count;
}

/* Files of other models have only ranks; their number tells the best-known models apart. */
void ranks_refuse(const char *path, const char *named, const char *text, size_t size, rapt_error *err)
{
    const size_t count = lines_count((line_walk){text, text + size});
    const char *whose = count == 128000 ? ", as Llama 3's" : count == 151643 ? ", as Qwen's" : "";
    for (size_t i = 0; i < sizeof ENCODINGS / sizeof *ENCODINGS && !named; i++)
        named = count == count_ranks(&ENCODINGS[i]) ? ENCODINGS[i].name : NULL;
    if (named)
        rapt_fail(err, RAPT_ERR_FORMAT, "%.200s is a rank file of tiktoken, but not the one that is published as %s; if it is "
                  "meant for that encoding, its name goes before it: %s:%.200s", path, named, named, path);
    else
        rapt_fail(err, RAPT_ERR_FORMAT, "%.150s is a rank file of tiktoken; of those rapt reads " NAMES " (cl100k_base:PATH). "
                  "This one has %zu ranks%s, and neither the pattern nor the special tokens of its model: they are in the "
                  "tokenizer.json of its Hugging Face folder, which rapt reads", path, count, whose);
}

rapt_tokenizer *ranks_from_text(const char *path, const char *named, const char *text, size_t size, rapt_error *err)
{
    const uint64_t hash = XXH3_64bits(text, size);
    for (size_t i = 0; i < sizeof ENCODINGS / sizeof *ENCODINGS; i++)
        if (ENCODINGS[i].hash == hash)
            return ranks_from_lines(&ENCODINGS[i], text, size, path, err);
    ranks_refuse(path, named, text, size, err);
    return NULL;
}

/* ---- from JSON ---------------------------------------------------------------------------------------------- */

static rapt_code take_list(byte_bpe *b, const struct encoding *of, const json_t *list, const char *path, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < json_array_size(list) && code == RAPT_OK; i++) {
        const json_t *letters = json_array_get(list, i);
        const char *text = json_string_value(letters);
        rapt_error why = {0};
        if (json_is_null(letters) && is_special_of(of, i))
            continue;
        code = put_token(b, of, i, text ? text : "", json_string_length(letters), "token", i, &why);
        if (code)
            rapt_fail(err, code, "%s: %s", path, why.message);
    }
    return code ? code : ranks_complete(b, of, path, err);
}

rapt_tokenizer *ranks_from_json(const json_t *root, const char *path, rapt_error *err)
{
    const char *name = json_string_value(json_object_get(root, "encoding"));
    const struct encoding *of = name ? find_encoding(name, strlen(name)) : NULL;
    if (!of) {
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"encoding\" is none of " NAMES, path);
        return NULL;
    }
    byte_bpe *b = new_of(of, err);
    if (b && take_list(b, of, json_object_get(root, "tokens"), path, err) != RAPT_OK) {
        byte_bpe_free(b);
        return NULL;
    }
    return b ? &b->base : NULL;
}
