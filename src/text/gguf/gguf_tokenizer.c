/* text/gguf/gguf_tokenizer.c: joins the parts of a tokenizer. gguf_byte_level.c and gguf_pieces.c make them for each kind. */
#include "text/gguf/gguf_tokenizer.h"

#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    rapt_code (*parts)(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err);
} KINDS[] = {{"gpt2", gguf_byte_level_parts}, {"llama", gguf_scored_parts}, {"t5", gguf_unigram_parts}};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static void gguf_parts_free(gguf_parts *p)
{
    json_decref(p->model);
    json_decref(p->normalizer);
    json_decref(p->pre_tokenizer);
    json_decref(p->decoder);
}

static rapt_code gguf_parts_read(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err)
{
    const gguf_value *value = gguf_find(v->file, "tokenizer.ggml.model");
    const gguf_text none = {"", 0}, text = value && value->type == GGUF_TEXT && !value->is_array ? gguf_text_first(value) : none;
    char *name = gguf_text_copy(&text);
    *p = (gguf_parts){0};
    for (size_t i = 0; name && i < KIND_COUNT; i++)
        if (strcmp(KINDS[i].name, name) == 0) {
            free(name);
            return KINDS[i].parts(v, whole, p, err);
        }
    rapt_code code = !name ? gguf_vocab_no_memory(v, err)
                           : rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"tokenizer.ggml.model\" is \"%s\"; rapt reads gpt2, llama "
                                       "and t5", v->file->path, quote(name).text);
    free(name);
    return code;
}

/* ---- added tokens ----------------------------------------------------------------------------------------------- */

static json_t *gguf_added(const gguf_vocab *v)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < v->count; i++)
        if (v->tokens[i].size > 0 && gguf_vocab_is_added(v, i))
            ok = json_array_append_new(list, json_pack("{s:I, s:s%, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)i, "content",
                                                       v->tokens[i].data, v->tokens[i].size, "single_word", 0, "lstrip", 0,
                                                       "rstrip", 0, "normalized", 0, "special",
                                                       gguf_vocab_kind(v, i) != GGUF_USER_DEFINED)) == 0;
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- what is about a text --------------------------------------------------------------------------------------- */

/* Adds a special token to a template, and to the table of those that it names. */
static bool add_about(const gguf_vocab *v, int64_t id, json_t *single, json_t *table)
{
    char *name = gguf_text_copy(&v->tokens[id]);
    const bool ok = name &&
                    json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", name, "type_id", 0)) == 0 &&
                    json_object_set_new(table, name, json_pack("{s:s, s:[I], s:[s]}", "id", name, "ids", (json_int_t)id, "tokens",
                                                               name)) == 0;
    free(name);
    return ok;
}

/* The beginning of text is not put before a text without a flag that says so, or a kind that has it. */
static rapt_code gguf_about(const gguf_vocab *v, const gguf_parts *p, json_t **to, rapt_error *err)
{
    int64_t begin = -1, end = -1;
    json_t *single = json_array(), *table = json_object();
    rapt_code code = gguf_vocab_id(v, "bos_token_id", &begin, err);
    code = code ? code : gguf_vocab_id(v, "eos_token_id", &end, err);
    const bool begins = gguf_vocab_flag(v, "add_bos_token", p->begins), ends = gguf_vocab_flag(v, "add_eos_token", p->ends);
    bool ok = single && table;
    if (!code && ok && begins && begin >= 0)
        ok = add_about(v, begin, single, table);
    ok = ok && json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "Sequence", "id", "A", "type_id", 0)) == 0;
    if (!code && ok && ends && end >= 0)
        ok = add_about(v, end, single, table);
    *to = code || !ok ? NULL : json_pack("{s:s, s:O, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:O}", "type", "TemplateProcessing",
                                         "single", single, "pair", "Sequence", "id", "A", "type_id", 0, "Sequence", "id", "B",
                                         "type_id", 1, "special_tokens", table);
    json_decref(single);
    json_decref(table);
    return code || *to ? code : gguf_vocab_no_memory(v, err);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static json_t *gguf_tokenizer_root(const gguf_vocab *v, const gguf_parts *p, rapt_error *err)
{
    json_t *about = NULL, *added = gguf_added(v), *root = NULL;
    rapt_code code = added ? gguf_about(v, p, &about, err) : gguf_vocab_no_memory(v, err);
    if (!code)
        root = json_pack("{s:s, s:n, s:n, s:O, s:O, s:O, s:O, s:O, s:O}", "version", "1.0", "truncation", "padding",
                         "added_tokens", added, "normalizer", p->normalizer, "pre_tokenizer", p->pre_tokenizer, "post_processor",
                         about, "decoder", p->decoder, "model", p->model);
    if (!code && !root)
        gguf_vocab_no_memory(v, err);
    json_decref(about);
    json_decref(added);
    return root;
}

/* If not `whole`, without lists that *lists has then. */
static json_t *gguf_vocab_json(const gguf_vocab *v, bool whole, hf_lists *lists, rapt_error *err)
{
    gguf_parts p = {0};
    rapt_code code = gguf_parts_read(v, whole, &p, err);
    json_t *root = code ? NULL : gguf_tokenizer_root(v, &p, err);
    *lists = p.lists ? (hf_lists){p.lists->tokens, p.lists->merges, v} : (hf_lists){0};
    gguf_parts_free(&p);
    return root;
}

json_t *gguf_tokenizer_json(const gguf_file *f, rapt_error *err)
{
    gguf_vocab v;
    hf_lists none;
    json_t *root = gguf_vocab_open(&v, f, err) ? NULL : gguf_vocab_json(&v, true, &none, err);
    gguf_vocab_free(&v);
    return root;
}

static rapt_code put_named(const gguf_vocab *v, json_t *settings, const char *name, const char *key, rapt_error *err)
{
    int64_t id;
    rapt_code code = gguf_vocab_special(v, key, &id, err);
    if (code || id < 0)
        return code;
    return json_object_set_new(settings, name, json_stringn(v->tokens[id].data, v->tokens[id].size)) == 0
               ? RAPT_OK : gguf_vocab_no_memory(v, err);
}

static rapt_code put_template(const gguf_vocab *v, json_t *settings, rapt_error *err)
{
    const gguf_value *value = gguf_find(v->file, "tokenizer.chat_template");
    if (!value)
        return RAPT_OK;
    const bool is_text = value->type == GGUF_TEXT && !value->is_array;
    const gguf_text none = {"", 0}, text = is_text ? gguf_text_first(value) : none;
    json_t *template = is_text ? json_stringn(text.data, text.size) : NULL;
    if (!template)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"tokenizer.chat_template\" is no text in UTF-8", v->file->path);
    return json_object_set_new(settings, "chat_template", template) == 0 ? RAPT_OK : gguf_vocab_no_memory(v, err);
}

json_t *gguf_tokenizer_settings(const gguf_file *f, rapt_error *err)
{
    static const char *const names[][2] = {{"bos_token", "bos_token_id"}, {"eos_token", "eos_token_id"},
                                           {"unk_token", "unknown_token_id"}, {"pad_token", "padding_token_id"}};
    gguf_vocab v;
    json_t *settings = json_pack("{s:s}", "tokenizer_class", "PreTrainedTokenizerFast");
    rapt_code code = gguf_vocab_open(&v, f, err);
    code = code || settings ? code : gguf_vocab_no_memory(&v, err);
    for (size_t i = 0; !code && i < sizeof names / sizeof *names; i++)
        code = put_named(&v, settings, names[i][0], names[i][1], err);
    code = code ? code : put_template(&v, settings, err);
    gguf_vocab_free(&v);
    if (!code)
        return settings;
    json_decref(settings);
    return NULL;
}

/* Lists of a hundred thousand texts are read where they are. What byte-level BPE refuses is read as JSON: a pipeline may take it,
 * or says what is wrong. */
static rapt_tokenizer *gguf_vocab_tokenizer(const gguf_vocab *v, const char *path, rapt_error *err)
{
    rapt_error why = {0};
    hf_lists lists;
    json_t *root = gguf_vocab_json(v, false, &lists, &why);
    rapt_tokenizer *k = !root ? NULL : lists.tokens ? hf_from_lists(root, &lists, path, &why) : hf_from_json(root, path, &why);
    json_decref(root);
    if (!k && why.code == RAPT_ERR_FORMAT) {
        why = (rapt_error){0};
        root = gguf_vocab_json(v, true, &lists, &why);
        k = root ? hf_from_json(root, path, &why) : NULL;
        json_decref(root);
    }
    if (!k)
        rapt_fail(err, why.code, "%s", why.message);
    return k;
}

rapt_tokenizer *gguf_tokenizer_load(const char *path, rapt_error *err)
{
    gguf_file *f;
    gguf_vocab v = {0};
    rapt_code code = gguf_open(path, &f, err);
    code = code ? code : gguf_vocab_open(&v, f, err);
    rapt_tokenizer *k = code ? NULL : gguf_vocab_tokenizer(&v, path, err);
    gguf_vocab_free(&v);
    gguf_close(f);
    return k;
}

json_t *gguf_settings_load(const char *path, rapt_error *err)
{
    gguf_file *f;
    rapt_code code = gguf_open(path, &f, err);
    json_t *settings = code ? NULL : gguf_tokenizer_settings(f, err);
    gguf_close(f);
    return settings;
}
