/* text/layout/layout_listed.c: tokenizers whose ids are in vocab.json beside the SentencePiece model: M2M100's, whose languages
 * have the ids after those. For layout_folder.c. Marian's tokenizers, with two models, are in text/spm. */
#include "text/layout/layout.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/spm/marian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40 };

static void copy_token(char copy[LONGEST], const char *token, size_t size)
{
    snprintf(copy, LONGEST, "%.*s", (int)size, token);
}

static rapt_code listed_no_memory(const layout_settings *s, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", s->path);
}

/* Languages have the ids from the number of tokens on. */
static rapt_code number_languages(const layout_settings *s, const char *codes, json_t *ids, const char *path, rapt_error *err)
{
    const char *token;
    for (size_t size; (token = layout_next(&codes, &size));) {
        char text[LONGEST];
        copy_token(text, token, size);
        if (json_object_get(ids, text))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is a token \"%s\", which is a language of %sTokenizer", path, text,
                             s->of->class);
        if (json_object_set_new(ids, text, json_integer((json_int_t)json_object_size(ids))) != 0)
            return listed_no_memory(s, err);
    }
    return RAPT_OK;
}

/* Adds the tokens of a list that have an id. */
static rapt_code add_specials(const layout_settings *s, const char *list, const json_t *ids, json_t *added, rapt_error *err)
{
    const char *token;
    for (size_t size; (token = layout_next(&list, &size));) {
        char text[LONGEST];
        copy_token(text, token, size);
        json_t *id = json_object_get(ids, text);
        if (id && json_array_append_new(added, json_pack("{s:O, s:s}", "id", id, "content", text)) != 0)
            return listed_no_memory(s, err);
    }
    return RAPT_OK;
}

/* The folder's own list of added tokens may only name existing tokens. */
static rapt_code check_listed_ids(const layout_settings *s, const json_t *ids, rapt_error *err)
{
    const char *key;
    json_t *one;
    json_object_foreach((json_t *)s->added, key, one)
    {
        const char *text = json_string_value(json_object_get(one, "content"));
        const json_t *id = text ? json_object_get(ids, text) : NULL;
        char number[24] = "";
        if (json_is_integer(id))
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(id));
        if (strcmp(number, key) != 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the folder gives id %s to the added token \"%s\", and %sTokenizer %s",
                             s->path, quote(key).text, text ? quote(text).text : "", s->of->class, *number ? number : "none");
    }
    return RAPT_OK;
}

json_t *layout_listed_ids(const layout_settings *s, const char *folder, const char *codes, json_t **added, rapt_error *err)
{
    char *path;
    *added = NULL;
    rapt_code code = file_path(folder, "vocab.json", &path, err);
    json_t *ids = code ? NULL : marian_read_vocabulary(path, err);
    code = ids ? number_languages(s, codes, ids, path, err) : RAPT_ERR_FORMAT;
    if (!code && !(*added = json_array()))
        code = listed_no_memory(s, err);
    code = code ? code : add_specials(s, s->of->first, ids, *added, err);
    code = code ? code : add_specials(s, codes, ids, *added, err);
    code = code ? code : check_listed_ids(s, ids, err);
    free(path);
    if (!code)
        return ids;
    json_decref(ids);
    json_decref(*added);
    *added = NULL;
    return NULL;
}

rapt_tokenizer *layout_listed(const layout_settings *s, const char *codes, const json_t *ids, spm *pieces, rapt_error *err)
{
    char source[LONGEST];
    size_t languages = 0, size;
    rapt_error why = {0};
    snprintf(source, sizeof source, "__%s__", s->source);
    while (layout_next(&codes, &size))
        languages++;
    rapt_tokenizer *k = marian_new(pieces, ids, source, languages, &why);
    if (!k)
        rapt_fail(err, why.code, "%s: %s", s->path, why.message);
    return k;
}
