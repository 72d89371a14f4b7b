/* text/tokenizer_file.c: tokenizers as files: finds the type of a file, and its reader. For model folders and the program. The
 * readers check the contents. */
#include "text/tokenizer.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/quote.h"
#include "text/gguf/gguf_tokenizer.h"
#include "text/json_text.h"
#include "text/layout/layout.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

char *tokenizer_to_text(const rapt_tokenizer *k)
{
    json_t *root = k->ops->to_json(k);
    char *text = json_text(root, JSON_INDENT(1));
    json_decref(root);
    return text;
}

/* Whether a path has the ending of SentencePiece's files. */
static bool names_model(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".model") == 0 || strcmp(dot, ".spm") == 0);
}

rapt_code rapt_tokenizer_save(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    size_t size;
    const char *model = names_model(path) ? spm_file(k, &size) : NULL;
    if (model)
        return file_write_atomic(path, model, size, err);
    char *text = tokenizer_to_text(k);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer's JSON", path);
    rapt_code code = file_write_atomic(path, text, strlen(text), err);
    free(text);
    return code;
}

static const struct {
    const char *name;
    rapt_tokenizer *(*read)(const json_t *root, const char *path, rapt_error *err);
} TYPES[] = {{"words", words_from_json},
             {"characters", characters_from_json},
             {"ranks", ranks_from_json},
             {"sentencepiece", spm_from_json},
             {"marian", marian_from_json},
             {"m2m100", m2m100_from_json}};

static rapt_tokenizer *from_rapt(const json_t *root, const char *path, rapt_error *err)
{
    const char *type = json_string_value(json_object_get(root, "type"));
    json_int_t version = json_integer_value(json_object_get(root, "version"));
    for (size_t i = 0; type && version == TOKENIZER_VERSION && i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].name, type) == 0)
            return TYPES[i].read(root, path, err);
    rapt_fail(err, RAPT_ERR_FORMAT,
              "%s: tokenizer type \"%s\", version %lld; this rapt reads \"words\", \"characters\", \"ranks\", "
              "\"sentencepiece\", \"marian\" and \"m2m100\", version %d", path, type ? quote(type).text : "",
              (long long)version, TOKENIZER_VERSION);
    return NULL;
}

static rapt_tokenizer *from_json(const json_t *root, const char *path, rapt_error *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format && strcmp(format, TOKENIZER_FORMAT) == 0)
        return from_rapt(root, path, err);
    if (json_is_object(json_object_get(root, "model")))
        return hf_from_json(root, path, err);
    rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a tokenizer file", path);
    return NULL;
}

/* The public encoding whose rank file has such a name, "x/cl100k_base.tiktoken" or "cl100k_base"; or NULL. */
static const char *encoding_of(const char *path)
{
    const char *slash = disk_last_slash(path), *name = slash ? slash + 1 : path, *dot = strchr(name, '.');
    return dot && strcmp(dot, ".tiktoken") != 0 ? NULL : ranks_encoding(name, dot ? (size_t)(dot - name) : strlen(name));
}

static void fail_json(const char *path, const json_error_t *where, rapt_error *err)
{
    const bool memory = json_error_code(where) == json_error_out_of_memory;
    rapt_fail(err, memory ? RAPT_ERR_MEMORY : RAPT_ERR_FORMAT, "%s:%d: %s", path, where->line, quote(where->text).text);
}

rapt_tokenizer *tokenizer_from_text(const char *name, const char *text, size_t size, rapt_error *err)
{
    if (ranks_look_like(text, size))
        return ranks_from_text(name, encoding_of(name), text, size, err);
    if (spm_looks_like(text, size, names_model(name)))
        return spm_from_bytes(text, size, name, err);
    json_error_t where;
    json_t *root = json_loadb(text, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        fail_json(name, &where, err);
        return NULL;
    }
    rapt_tokenizer *k = from_json(root, name, err);
    json_decref(root);
    return k;
}

rapt_code rapt_tokenizer_save_bytes(const rapt_tokenizer *k, char **bytes, size_t *size, rapt_error *err)
{
    *bytes = tokenizer_to_text(k);
    *size = *bytes ? strlen(*bytes) : 0;
    return *bytes ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokenizer's JSON");
}

rapt_tokenizer *rapt_tokenizer_load_bytes(const char *bytes, size_t size, rapt_error *err)
{
    rapt_error own = {0}; /* readers return what it holds */
    if (size > MAX_BYTES) {
        rapt_fail(err, RAPT_ERR_VALUE, "tokenizer: larger than %zu bytes", MAX_BYTES);
        return NULL;
    }
    char *text = malloc(size + 1); /* readers may look at the NUL behind a file */
    if (!text) {
        rapt_fail(err, RAPT_ERR_MEMORY, "tokenizer: out of memory for %zu bytes", size);
        return NULL;
    }
    if (size > 0)
        memcpy(text, bytes, size);
    text[size] = '\0';
    rapt_tokenizer *k = tokenizer_from_text("tokenizer", text, size, &own);
    free(text);
    if (!k)
        rapt_fail(err, own.code, "%s", own.message);
    return k;
}

static rapt_tokenizer *load_tokenizer_file(const char *path, rapt_error *err)
{
    char *text, *vocab;
    size_t size;
    if (marian_vocabulary(path, &vocab, err) != RAPT_OK)
        return NULL;
    if (vocab) {
        rapt_tokenizer *marian = marian_from_files(path, vocab, err);
        free(vocab);
        return marian;
    }
    if (file_read_regular(path, MAX_BYTES, &text, &size, err) != RAPT_OK)
        return NULL;
    rapt_tokenizer *k = tokenizer_from_text(path, text, size, err);
    free(text);
    return k;
}

/* The path of the first file of these names that the folder has; the caller frees it; NULL: none. */
static rapt_code find_in_folder(const char *folder, const char *const *names, size_t count, char **path, rapt_error *err)
{
    bool there = false;
    rapt_code code = RAPT_OK;
    *path = NULL;
    for (size_t i = 0; i < count && !code && !there; i++) {
        code = file_path(folder, names[i], path, err);
        if (!code)
            code = file_is_there(*path, &there, err);
        if (code || !there) {
            free(*path);
            *path = NULL;
        }
    }
    return code;
}

/* The class that the folder names decides the ids of a SentencePiece model's pieces; without a class the model's own ids are
 * used. */
static rapt_tokenizer *load_folder_file(const char *folder, const char *path, rapt_error *err)
{
    rapt_tokenizer *k = NULL;
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".txt") == 0)
        return layout_from_merges(folder, path, err);
    rapt_code code = names_model(path) ? layout_from_folder(folder, path, &k, err) : RAPT_OK;
    return k || code ? k : load_tokenizer_file(path, err);
}

/* A translation model has two tokenizers, or one for both sides, under other names: the source's is found. */
static rapt_tokenizer *load_folder(const char *folder, rapt_error *err)
{
    static const char *const names[] = {"tokenizer.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model",
                                        "merges.txt"};
    static const char *const sources[] = {"source.tokenizer.json", "source.spm"};
    char *path = NULL, *source = NULL;
    rapt_tokenizer *k = NULL;
    rapt_code code = find_in_folder(folder, names, sizeof names / sizeof *names, &path, err);
    if (!code && !path)
        code = find_in_folder(folder, sources, sizeof sources / sizeof *sources, &source, err);
    if (!code && !path && !source)
        code = file_path(folder, names[0], &path, err); /* the error is that this file is missing */
    if (!code && source)
        rapt_fail(err, RAPT_ERR_VALUE, "%s is a translation model, with a tokenizer for each side: %s is that of the source",
                  folder,
                  source);
    else if (!code)
        k = load_folder_file(folder, path, err);
    free(source);
    free(path);
    return k;
}

rapt_tokenizer *rapt_tokenizer_load(const char *spec, rapt_error *err)
{
    const char *colon = strchr(spec, ':'), *name = colon ? ranks_encoding(spec, (size_t)(colon - spec)) : NULL;
    if (name)
        return ranks_from_file(name, colon + 1, err);
    bool there, folder;
    if (file_is_there(spec, &there, err) != RAPT_OK || file_is_folder(spec, &folder, err) != RAPT_OK)
        return NULL;
    if (folder)
        return load_folder(spec, err);
    if (gguf_is_file(spec))
        return gguf_tokenizer_load(spec, err);
    const char *encoding = encoding_of(spec);
    if (encoding && strcmp(encoding, spec) == 0 && !there) {
        rapt_fail(err, RAPT_ERR_IO, "%s is the name of an encoding; its rank file goes behind it: %s:PATH", spec, spec);
        return NULL;
    }
    return load_tokenizer_file(spec, err);
}
