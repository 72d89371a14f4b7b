/* text/spm/marian_file.c: Marian's tokenizers in files: source.spm or target.spm beside vocab.json in a folder of Hugging Face,
 * or a file of rapt, also for M2M100. For rapt_tokenizer_load. */
#include "text/spm/marian.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

/* Takes ownership of `pieces`, which may be NULL, with `err` set. */
static rapt_tokenizer *make_marian(spm *pieces, const json_t *vocab, const char *source, size_t languages, const char *path,
                                   rapt_error *err)
{
    rapt_error why = {0};
    rapt_tokenizer *k = pieces ? marian_new(pieces, vocab, source, languages, &why) : NULL;
    if (pieces && !k)
        rapt_fail(err, why.code, "%s: %s", path, why.message);
    return k;
}

/* ---- a folder of Hugging Face ------------------------------------------------------------------------------- */

/* The path of a file in the folder of `path`, to be freed, and whether it is there. */
static rapt_code find_beside(const char *path, const char *name, char **found, bool *there, rapt_error *err)
{
    const char *slash = disk_last_slash(path);
    char *folder = chars_copy_part(path, slash ? (size_t)(slash - path) + 1 : 0);
    *found = NULL;
    rapt_code code = folder ? file_path(folder, name, found, err)
                            : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the path of %s", path, name);
    if (!code)
        code = file_is_there(*found, there, err);
    if (code || !*there) {
        free(*found);
        *found = NULL;
    }
    free(folder);
    return code;
}

rapt_code marian_vocabulary(const char *path, char **vocab, rapt_error *err)
{
    const char *slash = disk_last_slash(path), *name = slash ? slash + 1 : path;
    const bool target = strcmp(name, "target.spm") == 0;
    bool there = false;
    char *other = NULL;
    *vocab = NULL;
    if (!target && strcmp(name, "source.spm") != 0)
        return RAPT_OK;
    rapt_code code = find_beside(path, target ? "source.spm" : "target.spm", &other, &there, err);
    if (!code && there && target)
        code = find_beside(path, "target_vocab.json", vocab, &there, err);
    if (!code && other && !*vocab)
        code = find_beside(path, "vocab.json", vocab, &there, err);
    free(other);
    return code;
}

json_t *marian_read_vocabulary(const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    json_error_t where;
    if (file_read_regular(path, MAX_BYTES, &text, &size, err) != RAPT_OK)
        return NULL;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!root)
        rapt_fail(err, json_error_code(&where) == json_error_out_of_memory ? RAPT_ERR_MEMORY : RAPT_ERR_FORMAT, "%s:%d: %s", path,
                  where.line, quote(where.text).text);
    else if (!json_is_object(root))
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: not an object of tokens with their ids", path);
    if (json_is_object(root))
        return root;
    json_decref(root);
    return NULL;
}

rapt_tokenizer *marian_from_files(const char *path, const char *vocab, rapt_error *err)
{
    char *file;
    size_t size;
    if (file_read_regular(path, MAX_BYTES, &file, &size, err) != RAPT_OK)
        return NULL;
    spm *pieces = spm_open(file, size, path, err);
    json_t *ids = pieces ? marian_read_vocabulary(vocab, err) : NULL;
    rapt_tokenizer *k = ids ? make_marian(pieces, ids, NULL, 0, vocab, err) : NULL;
    if (pieces && !ids)
        spm_free(pieces);
    json_decref(ids);
    return k;
}

/* ---- a file of rapt ----------------------------------------------------------------------------------------- */

/* The list of tokens as an object with their ids; NULL with `err` set. */
static json_t *ids_of_list(const json_t *list, const char *path, rapt_error *err)
{
    json_t *ids = json_object(), *token;
    size_t i;
    bool ok = ids != NULL;
    json_array_foreach(list, i, token)
    {
        const char *text = json_string_value(token);
        if (ok && text && (strlen(text) != json_string_length(token) || json_object_get(ids, text))) {
            json_decref(ids);
            rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu holds a NUL, or was there before", path, i);
            return NULL;
        }
        ok = ok && (!text || json_object_set_new(ids, text, json_integer((json_int_t)i)) == 0);
    }
    if (ok)
        return ids;
    json_decref(ids);
    rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", path);
    return NULL;
}

rapt_tokenizer *marian_from_json(const json_t *root, const char *path, rapt_error *err)
{
    json_t *ids = ids_of_list(json_object_get(root, "tokens"), path, err);
    rapt_tokenizer *k = ids ? make_marian(spm_open_json(root, path, err), ids, NULL, 0, path, err) : NULL;
    json_decref(ids);
    return k;
}

rapt_tokenizer *m2m100_from_json(const json_t *root, const char *path, rapt_error *err)
{
    const char *source = json_string_value(json_object_get(root, "source"));
    const json_int_t languages = json_integer_value(json_object_get(root, "languages"));
    json_t *ids = ids_of_list(json_object_get(root, "tokens"), path, err);
    rapt_tokenizer *k = ids ? make_marian(spm_open_json(root, path, err), ids, source ? source : "",
                                          languages > 0 ? (size_t)languages : 0, path, err) : NULL;
    json_decref(ids);
    return k;
}
