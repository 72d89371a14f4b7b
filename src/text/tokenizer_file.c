/* text/tokenizer_file.c: tokenizers as files: which type a file is of, and who reads it. For model folders and the
 * program. What the types hold is read and checked where they are used. */
#define _GNU_SOURCE /* strndup */
#include "text/tokenizer.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/json_text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

rapt_code rapt_tokenizer_save(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    json_t *root = k->ops->to_json(k);
    char *text = json_text(root, JSON_INDENT(1));
    json_decref(root);
    if (!text)
        return rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for the tokenizer's JSON", path);
    rapt_code code = file_write_atomic(path, text, strlen(text), err);
    free(text);
    return code;
}

static const struct {
    const char *name;
    rapt_tokenizer *(*read)(const json_t *root, const char *path, rapt_error *err);
} TYPES[] = {{"words", words_from_json}, {"characters", characters_from_json}, {"ranks", ranks_from_json}};

static rapt_tokenizer *from_rapt(const json_t *root, const char *path, rapt_error *err)
{
    const char *type = json_string_value(json_object_get(root, "type"));
    json_int_t version = json_integer_value(json_object_get(root, "version"));
    for (size_t i = 0; type && version == TOKENIZER_VERSION && i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].name, type) == 0)
            return TYPES[i].read(root, path, err);
    rapt_fail(err, RAPT_FORMAT,
              "%s: tokenizer type \"%s\", version %lld; this rapt reads \"words\", \"characters\" and \"ranks\", version %d",
              path, type ? quote(type).text : "", (long long)version, TOKENIZER_VERSION);
    return NULL;
}

static rapt_tokenizer *from_json(const json_t *root, const char *path, rapt_error *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format && strcmp(format, TOKENIZER_FORMAT) == 0)
        return from_rapt(root, path, err);
    if (json_is_object(json_object_get(root, "model")))
        return hf_from_json(root, path, err);
    rapt_fail(err, RAPT_FORMAT, "%s: not a tokenizer file", path);
    return NULL;
}

static rapt_tokenizer *load_json(const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    json_error_t where;
    if (file_read_regular(path, MAX_BYTES, &text, &size, err) != RAPT_OK)
        return NULL;
    json_t *root = json_loadb(text, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!root) {
        bool full = json_error_code(&where) == json_error_out_of_memory;
        rapt_fail(err, full ? RAPT_NO_MEMORY : RAPT_FORMAT, "%s:%d: %s", path, where.line, quote(where.text).text);
        return NULL;
    }
    rapt_tokenizer *k = from_json(root, path, err);
    json_decref(root);
    return k;
}

/* Whether the part of `spec` before a colon names a public encoding; then *path is what follows. */
static bool split_spec(const char *spec, char name[32], const char **path)
{
    static const char *const names[] = {"cl100k_base", "o200k_base", "r50k_base"};
    const char *colon = strchr(spec, ':');
    for (size_t i = 0; colon && i < sizeof names / sizeof *names; i++)
        if ((size_t)(colon - spec) == strlen(names[i]) && strncmp(spec, names[i], strlen(names[i])) == 0) {
            strcpy(name, names[i]);
            *path = colon + 1;
            return true;
        }
    return false;
}

rapt_tokenizer *rapt_tokenizer_load(const char *spec, rapt_error *err)
{
    char name[32];
    const char *ranks;
    if (split_spec(spec, name, &ranks))
        return ranks_from_file(name, ranks, err);
    bool folder;
    if (file_is_folder(spec, &folder, err) != RAPT_OK)
        return NULL;
    if (!folder)
        return load_json(spec, err);
    char *path = file_join(spec, "tokenizer.json");
    if (!path)
        rapt_fail(err, RAPT_NO_MEMORY, "no memory for a path");
    rapt_tokenizer *k = path ? load_json(path, err) : NULL;
    free(path);
    return k;
}
