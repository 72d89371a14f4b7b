/* text/layout/layout_json.c: the tokenizer.json of a layout, as SpmConverter of transformers 4 makes it
 * (convert_slow_tokenizer.py). For layout_folder.c. */
#include "text/layout/layout.h"

#include "text/bpe/base64.h"

#include <stdlib.h>
#include <string.h>

/* Spaces of Llama: its pre-tokenizer has them unless it is a legacy one. */
static json_t *layout_spaces(const layout_settings *s)
{
    if (!s->legacy)
        return json_null();
    return s->prefixed ? json_pack("{s:s, s:[{s:s, s:s}, {s:s, s:{s:s}, s:s}]}", "type", "Sequence", "normalizers", "type",
                                   "Prepend", "prepend", SPM_SPACE, "type", "Replace", "pattern", "String", " ", "content",
                                   SPM_SPACE)
                       : json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", " ", "content", SPM_SPACE);
}

/* The model's character map; then spaces at the end go, and several spaces become one. */
static json_t *layout_normalizer(const layout_settings *s, const spm *pieces)
{
    size_t size;
    if (s->of->bytes)
        return layout_spaces(s);
    const char *blob = charsmap_blob(&pieces->rules.map, &size);
    json_t *list = json_pack("[{s:s, s:b, s:b}, {s:s, s:{s:s}, s:s}]", "type", "Strip", "strip_left", 0, "strip_right", 1, "type",
                             "Replace", "pattern", "Regex", " {2,}", "content", SPM_SPACE);
    char *letters = blob ? malloc(BASE64_CAPACITY(size)) : NULL;
    bool ok = list && (!blob || letters);
    if (ok && blob) {
        base64_encode(blob, size, letters);
        ok = json_array_insert_new(list, 0, json_pack("{s:s, s:s%}", "type", "Precompiled", "precompiled_charsmap", letters,
                                                      BASE64_CAPACITY(size))) == 0;
    }
    free(letters);
    json_t *all = ok ? json_pack("{s:s, s:O}", "type", "Sequence", "normalizers", list) : NULL;
    json_decref(list);
    return all;
}

static json_t *layout_metaspace(const layout_settings *s)
{
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", SPM_SPACE, "prepend_scheme",
                     !s->prefixed ? "never" : s->legacy ? "always" : "first", "split", !s->of->bytes);
}

static json_t *layout_decoder(const layout_settings *s)
{
    if (!s->of->bytes)
        return layout_metaspace(s);
    json_t *list = json_pack("[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]", "type", "Replace", "pattern", "String", SPM_SPACE, "content",
                             " ", "type", "ByteFallback", "type", "Fuse");
    if (list && s->prefixed)
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0));
    return json_pack("{s:s, s:o}", "type", "Sequence", "decoders", list);
}

static json_t *layout_pre_tokenizer(const layout_settings *s)
{
    if (s->of->bytes && s->legacy)
        return json_null();
    return s->of->words_apart ? json_pack("{s:s, s:[{s:s}, o]}", "type", "Sequence", "pretokenizers", "type", "WhitespaceSplit",
                                          layout_metaspace(s))
                              : layout_metaspace(s);
}

json_int_t layout_added_id(const json_t *added, const char *token)
{
    const json_t *one;
    size_t i;
    json_array_foreach(added, i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "content")), token) == 0)
            return json_integer_value(json_object_get(one, "id"));
    }
    return -1;
}

/* Adds the tokens of a list to a template and to the table of those that it names. */
static rapt_code add_template_tokens(const layout_settings *s, const char *list, const json_t *added, json_t *single,
                                     json_t *table, rapt_error *err)
{
    const char *at;
    for (size_t size; (at = layout_next(&list, &size));) {
        char token[64];
        const bool source = *at == '#';
        const size_t length = source ? strlen(s->source) : size;
        memcpy(token, source ? s->source : at, length < sizeof token ? length : sizeof token - 1);
        token[length < sizeof token ? length : sizeof token - 1] = '\0';
        const json_int_t id = layout_added_id(added, token);
        if (id < 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is no \"%s\", which %sTokenizer puts about a text", s->path, token,
                             s->of->class);
        if (json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", token, "type_id", 0)) != 0 ||
            json_object_set_new(table, token, json_pack("{s:s, s:[I], s:[s]}", "id", token, "ids", id, "tokens", token)) != 0)
            return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", s->path);
    }
    return RAPT_OK;
}

static json_t *layout_post_processor(const layout_settings *s, const json_t *added, rapt_error *err)
{
    json_t *single = json_array(), *table = json_object(), *all = NULL;
    rapt_code code = add_template_tokens(s, s->before, added, single, table, err);
    if (!code)
        json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "Sequence", "id", "A", "type_id", 0));
    code = code ? code : add_template_tokens(s, s->after, added, single, table, err);
    if (!code && !(all = json_pack("{s:s, s:O, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:O}", "type", "TemplateProcessing",
                                   "single", single, "pair", "Sequence", "id", "A", "type_id", 0, "Sequence", "id", "B",
                                   "type_id", 1, "special_tokens", table)))
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", s->path);
    json_decref(single);
    json_decref(table);
    return all;
}

json_t *layout_json(const layout_settings *s, const spm *pieces, rapt_error *err)
{
    json_t *added = NULL, *model = layout_model(s, pieces, &added, err);
    json_t *about = model ? layout_post_processor(s, added, err) : NULL, *root = NULL;
    if (about && !(root = json_pack("{s:s, s:n, s:n, s:O, s:o, s:o, s:O, s:o, s:O}", "version", "1.0", "truncation", "padding",
                                    "added_tokens", added, "normalizer", layout_normalizer(s, pieces), "pre_tokenizer",
                                    layout_pre_tokenizer(s), "post_processor", about, "decoder", layout_decoder(s), "model",
                                    model)))
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", s->path);
    json_decref(added);
    json_decref(model);
    json_decref(about);
    return root;
}
