/* text/layout/layout_folder.c: finds the layout of a Hugging Face folder, and its settings. */
#include "text/layout/layout.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/folder_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)
enum { MAX_EXTRA_IDS = 10000 };

/* Files of a folder; a missing one is an empty object. */
typedef struct layout_files {
    json_t *tokenizer; /* tokenizer_config.json */
    json_t *model;     /* config.json */
    json_t *specials;  /* special_tokens_map.json */
    json_t *added;     /* added_tokens.json: ids by token */
} layout_files;

static rapt_code layout_files_read(const char *folder, layout_files *f, rapt_error *err)
{
    rapt_code code = folder_json_read(folder, "tokenizer_config.json", &f->tokenizer, err);
    code = code ? code : folder_json_read(folder, "config.json", &f->model, err);
    code = code ? code : folder_json_read(folder, "special_tokens_map.json", &f->specials, err);
    return code ? code : folder_json_read(folder, "added_tokens.json", &f->added, err);
}

static void layout_files_free(layout_files *f)
{
    json_decref(f->tokenizer);
    json_decref(f->model);
    json_decref(f->specials);
    json_decref(f->added);
}

/* As AutoTokenizer looks for a class. */
static const layout *find_layout(const layout_files *f)
{
    const char *class = json_string_value(json_object_get(f->tokenizer, "tokenizer_class"));
    class = class ? class : json_string_value(json_object_get(f->model, "tokenizer_class"));
    return class ? layout_of_class(class) : layout_of_type(json_string_value(json_object_get(f->model, "model_type")));
}

/* ---- special tokens --------------------------------------------------------------------------------------------- */

static const char *const NAMED[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
enum { NAMED_COUNT = sizeof NAMED / sizeof *NAMED };

/* The text of a token that is written as a string, or as an object with its content. */
static const char *content_of(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

static rapt_code check_special_token(const char *folder, const char *key, const json_t *token, const json_t *added,
                                     const layout_settings *s, rapt_error *err)
{
    const char *text = content_of(token);
    const char *fixed = strcmp(key, "eos_token") == 0 && strstr(s->after, "</s>")  ? "</s>"
                        : strcmp(key, "bos_token") == 0 && strstr(s->before, "<s>") ? "<s>"
                        : strcmp(key, "unk_token") == 0                             ? "<unk>"
                                                                                    : text;
    if (!token || json_is_null(token) || (text && layout_added_id(added, text) >= 0 && strcmp(text, fixed) == 0))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: \"%s\" is \"%s\", which the tokenizer's class does not have there", folder, key,
                     text ? quote(text).text : "");
}

/* Tokens that the folder names must exist, and have the same meaning as in the class. */
static rapt_code check_specials(const char *folder, const json_t *from, const json_t *added, const layout_settings *s,
                                rapt_error *err)
{
    const json_t *more = json_object_get(from, "additional_special_tokens");
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < NAMED_COUNT; i++)
        code = check_special_token(folder, NAMED[i], json_object_get(from, NAMED[i]), added, s, err);
    for (size_t i = 0; !code && i < json_array_size(more); i++)
        code = check_special_token(folder, "additional_special_tokens", json_array_get(more, i), added, s, err);
    return code;
}

static bool names_special(const json_t *specials, const char *token)
{
    const json_t *more = json_object_get(specials, "additional_special_tokens");
    bool found = false;
    for (size_t i = 0; i < NAMED_COUNT + json_array_size(more); i++) {
        const json_t *one = i < NAMED_COUNT ? json_object_get(specials, NAMED[i]) : json_array_get(more, i - NAMED_COUNT);
        const char *text = content_of(one);
        found = found || (text && strcmp(text, token) == 0);
    }
    return found;
}

/* added_tokens.json in the form of "added_tokens_decoder": special tokens are those that special_tokens_map.json names. */
static json_t *added_by_id(const layout_files *f)
{
    json_t *by_id = json_object(), *id;
    const char *token;
    bool ok = by_id != NULL;
    json_object_foreach(f->added, token, id)
    {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)json_integer_value(id));
        json_t *one = names_special(f->specials, token)
                          ? json_pack("{s:s, s:b, s:b}", "content", token, "special", 1, "normalized", 0)
                          : json_pack("{s:s}", "content", token);
        ok = json_object_set_new(by_id, key, one) == 0 && ok;
    }
    if (ok)
        return by_id;
    json_decref(by_id);
    return NULL;
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

static rapt_code refuse_setting(const char *folder, const char *key, const json_t *value, const layout *of, rapt_error *err)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    rapt_code code = rapt_fail(err, RAPT_ERR_VALUE, "%s/tokenizer_config.json: \"%s\" is %s: it changes ids, and rapt does not "
                               "know how in %sTokenizer; a tokenizer.json in the folder would say", folder, key,
                               text ? quote(text).text : "", of->class);
    free(text);
    return code;
}

/* Refuses settings with another value than null and the one that is implemented. */
static rapt_code check_layout_settings(const char *folder, const json_t *config, const layout *of, rapt_error *err)
{
    const char *const keys[] = {"sp_model_kwargs", "legacy_behaviour", "offset", "mask_token_sent"};
    json_t *const wanted[] = {json_object(), json_false(), json_integer(103), json_string("<mask_1>")};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(config, keys[i]);
        if (!code && value && !json_is_null(value) && !json_equal(value, wanted[i]))
            code = refuse_setting(folder, keys[i], value, of, err);
        json_decref(wanted[i]);
    }
    return code;
}

/* "add_bos_token" and "add_eos_token" of Llama. */
static void read_layout_template(const layout_files *f, layout_settings *s)
{
    s->before = s->of->before;
    s->after = s->of->after;
    if (s->of->bytes && json_is_false(json_object_get(f->tokenizer, "add_bos_token")))
        s->before = "";
    if (s->of->bytes && json_is_true(json_object_get(f->tokenizer, "add_eos_token")))
        s->after = s->of->bare ? "<eos>" : "</s>";
}

/* If "legacy" is false, a text after an added token gets no space; without "add_prefix_space" no text does. */
static rapt_code read_settings_of(const char *folder, const layout_files *f, layout_settings *s, rapt_error *err)
{
    const json_t *extra = json_object_get(f->tokenizer, "extra_ids"), *source = json_object_get(f->tokenizer, "src_lang");
    const bool known = s->of->extra_ids > 0, spaces = known || (s->of->bytes && !s->of->bare);
    const json_int_t count = json_is_integer(extra) ? json_integer_value(extra) : -1;
    s->extra_ids = s->of->extra_ids;
    s->source = s->of->source && json_is_string(source) ? json_string_value(source) : s->of->source;
    s->legacy = !(spaces && json_is_false(json_object_get(f->tokenizer, "legacy")));
    s->prefixed = !s->of->bare && !(spaces && json_is_false(json_object_get(f->tokenizer, "add_prefix_space")));
    read_layout_template(f, s);
    if (known && extra && (count < 0 || count > MAX_EXTRA_IDS))
        return refuse_setting(folder, "extra_ids", extra, s->of, err);
    if (known && extra)
        s->extra_ids = (size_t)count;
    return check_layout_settings(folder, f->tokenizer, s->of, err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Refuses settings of the model that a tokenizer.json cannot express. */
static rapt_code check_model(const spm *pieces, const char *path, const layout *of, rapt_error *err)
{
    const spm_rules *r = &pieces->rules;
    const char *what = pieces->type != SPM_BPE && (of->bytes || pieces->type != SPM_UNIGRAM)   ? "its type"
                       : pieces->byte_fallback != of->bytes                                    ? "byte_fallback"
                       : r->suffix                                                             ? "treat_whitespace_as_suffix"
                       : r->dummy_prefix == of->bare || r->squeezes == of->bytes || !r->escapes ? "how it treats spaces"
                       : of->bytes && r->map.count > 0                                         ? "its character map"
                                                                                               : NULL;
    if (!what)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %s is not that of a model for %sTokenizer", path, what, of->class);
}

static rapt_code check_all_specials(const char *folder, const layout_files *f, const json_t *added, const layout_settings *s,
                                    rapt_error *err)
{
    rapt_code code = check_specials(folder, f->tokenizer, added, s, err);
    return code ? code : check_specials(folder, f->specials, added, s, err);
}

static rapt_tokenizer *make_tokenizer(const char *folder, const layout_files *f, const layout_settings *s, const spm *pieces,
                                      rapt_error *err)
{
    json_t *root = layout_json(s, pieces, err);
    const json_t *added = json_object_get(root, "added_tokens");
    rapt_code code = root ? check_all_specials(folder, f, added, s, err) : RAPT_ERR_FORMAT;
    rapt_tokenizer *k = code ? NULL : hf_from_json(root, s->path, err);
    json_decref(root);
    return k;
}

/* Facebook's translators of WMT21 have fewer languages. *pieces is NULL if the tokenizer has taken them over. */
static rapt_tokenizer *make_listed(const char *folder, const layout_files *f, const layout_settings *s, spm **pieces,
                                   rapt_error *err)
{
    const json_t *named = json_object_get(f->tokenizer, "language_codes");
    const char *name = json_string_value(named);
    const bool wmt = name && strcmp(name, "wmt21") == 0;
    json_t *added = NULL;
    if (named && !json_is_null(named) && !wmt && (!name || strcmp(name, "m2m100") != 0)) {
        refuse_setting(folder, "language_codes", named, s->of, err);
        return NULL;
    }
    const char *codes = wmt ? LAYOUT_WMT21_CODES : s->of->codes;
    json_t *ids = layout_listed_ids(s, folder, codes, &added, err);
    rapt_tokenizer *k = NULL;
    if (ids && check_all_specials(folder, f, added, s, err) == RAPT_OK) {
        k = layout_listed(s, codes, ids, *pieces, err);
        *pieces = NULL;
    }
    json_decref(ids);
    json_decref(added);
    return k;
}

static rapt_code load_layout(const char *folder, const layout_files *f, layout_settings *s, rapt_tokenizer **k, rapt_error *err)
{
    char *file = NULL;
    size_t size = 0;
    json_t *listed = json_object_get(f->tokenizer, "added_tokens_decoder");
    json_t *added = listed ? json_incref(listed) : json_object_size(f->added) > 0 ? added_by_id(f) : NULL;
    rapt_code code = read_settings_of(folder, f, s, err);
    s->added = added;
    if (!code && !added && json_object_size(f->added) > 0)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for added tokens", folder);
    code = code ? code : file_read_regular(s->path, MAX_BYTES, &file, &size, err);
    spm *pieces = code ? NULL : spm_open(file, size, s->path, err);
    if (pieces && check_model(pieces, s->path, s->of, err) == RAPT_OK)
        *k = s->of->listed ? make_listed(folder, f, s, &pieces, err) : make_tokenizer(folder, f, s, pieces, err);
    if (pieces)
        spm_free(pieces);
    json_decref(added);
    return *k ? RAPT_OK : code ? code : RAPT_ERR_FORMAT;
}

rapt_code layout_from_folder(const char *folder, const char *path, rapt_tokenizer **k, rapt_error *err)
{
    layout_files f = {0};
    layout_settings s = {.path = path};
    *k = NULL;
    rapt_code code = layout_files_read(folder, &f, err);
    s.of = code ? NULL : find_layout(&f);
    if (s.of)
        code = load_layout(folder, &f, &s, k, err);
    layout_files_free(&f);
    return code;
}
