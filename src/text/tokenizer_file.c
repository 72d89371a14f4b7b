/* text/tokenizer_file.c: a tokenizer as a JSON file: {"format", "version", "type", "lowercase", "tokens"}. For model
 * folders. What is read is checked: a model depends on every entry. */
#include "text/tokenizer.h"

#include "base/file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "rapt-tokenizer"
#define VERSION 1
#define MAX_BYTES ((size_t)1 << 30)

static json_t *tokens_json(const rapt_tokenizer *k)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < k->words.size; i++)
        if (json_array_append_new(list, json_string(k->words.entries[i].word)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

rapt_code rapt_tokenizer_save(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    json_t *root = json_pack("{s:s, s:i, s:s, s:b, s:o}", "format", FORMAT, "version", VERSION, "type", "words",
                             "lowercase", k->lowercase, "tokens", tokens_json(k));
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text)
        return rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for the tokenizer's JSON", path);
    rapt_code code = file_write_atomic(path, text, strlen(text), err);
    free(text);
    return code;
}

/* No token may be empty or hold white space: the text that it comes from is split there. */
static rapt_code take_token(rapt_tokenizer *k, size_t i, const char *word, const char *path, rapt_error *err)
{
    if (!word || !*word || strpbrk(word, " \t\r\n\v\f"))
        return rapt_fail(err, RAPT_FORMAT, "%s: token %zu is not a word", path, i);
    if (i < RAPT_SPECIALS && strcmp(word, tokenizer_specials[i]) != 0)
        return rapt_fail(err, RAPT_FORMAT, "%s: token %zu is not \"%s\"", path, i, tokenizer_specials[i]);
    int64_t id = word_table_add(&k->words, word, strlen(word));
    if (id < 0)
        return rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for token %zu", path, i);
    if ((size_t)id != i)
        return rapt_fail(err, RAPT_FORMAT, "%s: token %zu repeats token %zu", path, i, (size_t)id);
    return RAPT_OK;
}

static rapt_code take_tokens(rapt_tokenizer *k, json_t *tokens, const char *path, rapt_error *err)
{
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        rapt_code code = take_token(k, i, json_string_value(json_array_get(tokens, i)), path, err);
        if (code)
            return code;
    }
    if (k->words.size < RAPT_SPECIALS)
        return rapt_fail(err, RAPT_FORMAT, "%s: a vocabulary of %zu tokens lacks the special ones", path, k->words.size);
    return RAPT_OK;
}

static rapt_tokenizer *from_json(json_t *root, const char *path, rapt_error *err)
{
    const char *format = NULL, *type = NULL;
    int version = 0, lowercase = 0;
    json_t *tokens = NULL;
    if (json_unpack(root, "{s:s, s:i, s:s, s:b, s:o}", "format", &format, "version", &version, "type", &type,
                    "lowercase", &lowercase, "tokens", &tokens) != 0 ||
        strcmp(format, FORMAT) != 0 || !json_is_array(tokens)) {
        rapt_fail(err, RAPT_FORMAT, "%s: not a tokenizer file", path);
        return NULL;
    }
    if (version != VERSION || strcmp(type, "words") != 0) {
        rapt_fail(err, RAPT_FORMAT, "%s: tokenizer type \"%s\", version %d; this rapt reads \"words\", version %d", path,
                  type, version, VERSION);
        return NULL;
    }
    rapt_tokenizer *k = tokenizer_new(lowercase, err);
    if (k && take_tokens(k, tokens, path, err) != RAPT_OK) {
        rapt_tokenizer_free(k);
        return NULL;
    }
    return k;
}

rapt_tokenizer *rapt_tokenizer_load(const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    json_error_t where;
    if (file_read(path, MAX_BYTES, &text, &size, err) != RAPT_OK)
        return NULL;
    json_t *root = json_loadb(text, size, 0, &where);
    free(text);
    if (!root) {
        rapt_fail(err, RAPT_FORMAT, "%s:%d: %s", path, where.line, where.text);
        return NULL;
    }
    rapt_tokenizer *k = from_json(root, path, err);
    json_decref(root);
    return k;
}
