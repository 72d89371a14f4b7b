/* io/hub/hub_vocab.c: makes the tokenizer.json that BertTokenizer of Hugging Face transformers makes, with its keys and
 * defaults. */
#include "io/hub/hub_parts.h"

#include "base/file.h"
#include "base/quote.h"
#include "io/hub/hub_config.h"
#include "io/json_file.h"
#include "text/lines.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VOCAB ((size_t)64 << 20)
#define MAX_SETTINGS ((size_t)16 << 20)

enum { UNK, SEP, PAD, CLS, MASK, SPECIALS };
static const char *const KEYS[SPECIALS] = {"unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
static const char *const DEFAULTS[SPECIALS] = {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};

typedef struct vocab_reading {
    const char *folder;
    char *path; /* path of vocab.txt */
    json_t *vocab;
    const char *tokens[SPECIALS];
    bool lowercase, chinese;
    json_t *accents; /* true, false, or null: as `lowercase` */
    rapt_error *err;
} vocab_reading;

/* ---- vocab.txt ------------------------------------------------------------------------------------------------ */

static rapt_code vocab_take_lines(vocab_reading *r, const struct lines *l)
{
    rapt_code code = RAPT_OK;
    if (lines_mark(l->text, l->count ? strlen(l->text) : 0))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s:1: a byte order mark, which would be a part of the token", r->path);
    for (size_t i = 0; i < l->count && !code; i++) {
        const char *token = l->line[i];
        if (l->length[i] == 0 || strchr(token, '\r'))
            code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s:%zu: %s", r->path, i + 1,
                             *token ? "a carriage return within a line" : "an empty line in place of a token");
        else if (json_object_get(r->vocab, token))
            code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s:%zu: token \"%s\" is there twice", r->path, i + 1, quote(token).text);
        else if (json_object_set_new(r->vocab, token, json_integer((json_int_t)i)))
            code = rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokens", r->path);
    }
    return code;
}

static rapt_code vocab_read_tokens(vocab_reading *r)
{
    struct lines l = {0};
    rapt_code code = file_path(r->folder, "vocab.txt", &r->path, r->err);
    r->vocab = code ? NULL : json_object();
    if (!code && !r->vocab)
        code = rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokens", r->path);
    code = code ? code : lines_read(r->path, MAX_VOCAB, &l, r->err);
    code = code ? code : vocab_take_lines(r, &l);
    lines_free(&l);
    for (int i = 0; i < SPECIALS && !code; i++)
        if (!json_object_get(r->vocab, r->tokens[i]))
            code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: token \"%s\" is missing, the \"%s\"", r->path,
                             quote(r->tokens[i]).text, KEYS[i]);
    return code;
}

/* ---- settings ------------------------------------------------------------------------------------------------- */

static bool vocab_is_special(const vocab_reading *r, const char *token)
{
    bool is = false;
    for (int i = 0; i < SPECIALS && token; i++)
        is = is || strcmp(r->tokens[i], token) == 0;
    return is;
}

/* The text of a token, which is a string, or an object with its text and flags, all of which must be off except `special`. NULL:
 * it is neither. */
static const char *vocab_token_of(const json_t *value)
{
    static const char *const flags[] = {"lstrip", "rstrip", "single_word", "normalized"};
    bool plain = true;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        plain = plain && !json_is_true(json_object_get(value, flags[i]));
    return json_is_string(value) ? json_string_value(value) : plain ? json_string_value(json_object_get(value, "content")) : NULL;
}

static void vocab_read_special(vocab_reading *r, hub_config *c, int i)
{
    const json_t *value = hub_value(c, KEYS[i]);
    r->tokens[i] = value ? vocab_token_of(value) : DEFAULTS[i];
    if (!r->tokens[i])
        hub_refuse(c, KEYS[i], "with vocab.txt rapt takes a text, or a token without flags");
    r->tokens[i] = r->tokens[i] ? r->tokens[i] : DEFAULTS[i];
}

/* Refuses tokens that are not in vocab.txt, because they would get new ids. */
static void vocab_check_added(const vocab_reading *r, hub_config *c)
{
    static const char *const lists[] = {"additional_special_tokens", "extra_special_tokens"};
    const json_t *added = hub_value(c, "added_tokens_decoder");
    const char *id;
    json_t *token;
    json_object_foreach((json_t *)added, id, token)
    {
        if (!vocab_is_special(r, vocab_token_of(token)))
            hub_refuse(c, "added_tokens_decoder", "with vocab.txt rapt takes its special tokens alone, without flags");
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *list = hub_value(c, lists[i]);
        if (json_array_size(list) || json_object_size(list))
            hub_refuse(c, lists[i], "with vocab.txt rapt takes its special tokens alone");
    }
}

/* Accepts the two classes that do as BERT does. */
static void vocab_check_class(hub_config *c)
{
    static const char *const classes[] = {"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast"};
    const char *name = hub_word(c, "tokenizer_class", classes[0]);
    bool known = false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        known = known || strcmp(name, classes[i]) == 0;
    if (!known)
        hub_refuse(c, "tokenizer_class", "with vocab.txt rapt reads BertTokenizer and DistilBertTokenizer");
}

static rapt_code vocab_read_settings(vocab_reading *r, const json_t *settings, const char *path)
{
    hub_config c = {.root = settings, .path = path, .err = r->err};
    vocab_check_class(&c);
    for (int i = 0; i < SPECIALS; i++)
        vocab_read_special(r, &c, i);
    r->lowercase = hub_flag(&c, "do_lower_case", true);
    r->chinese = hub_flag(&c, "tokenize_chinese_chars", true);
    r->accents = hub_value(&c, "strip_accents") ? json_boolean(hub_flag(&c, "strip_accents", false)) : json_null();
    hub_flag_is(&c, "do_basic_tokenize", true, true);
    if (json_array_size(hub_value(&c, "never_split")))
        hub_refuse(&c, "never_split", "rapt splits all words");
    vocab_check_added(r, &c);
    hub_ignore(&c, (const char *const[]){
        "model_max_length", "max_len", "name_or_path", "special_tokens_map_file", "tokenizer_file", "full_tokenizer_file",
        "backend", "clean_up_tokenization_spaces", "is_local", "local_files_only", "padding_side", "truncation_side",
        "init_inputs", "stride", "max_length", "pad_to_multiple_of", "pad_token_type_id", "truncation_strategy",
        "processor_class", "model_input_names", "vocab_size", NULL});
    hub_refuse_others(&c);
    return c.code;
}

/* The JSON of a file of the folder, which the caller releases; an empty object if it does not exist. The caller frees the
 * path. */
static rapt_code vocab_read_json(const vocab_reading *r, const char *name, char **path, json_t **root)
{
    bool there = false;
    rapt_code code = file_path(r->folder, name, path, r->err);
    code = code ? code : file_is_there(*path, &there, r->err);
    *root = code ? NULL : there ? json_file_read(*path, MAX_SETTINGS, r->err) : json_object();
    if (!code && !*root)
        code = rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", *path);
    else if (!code && !json_is_object(*root))
        code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: not a JSON object", *path);
    return code;
}

/* Checks other files that also name tokens: they may only name known tokens. */
static rapt_code vocab_check_file(const vocab_reading *r, const char *name)
{
    char *path = NULL;
    json_t *root = NULL, *value;
    const char *key;
    rapt_code code = vocab_read_json(r, name, &path, &root);
    json_object_foreach(root, key, value)
    {
        const bool is_id = json_is_integer(value), empty = json_is_array(value) && json_array_size(value) == 0;
        if (!code && !empty && !vocab_is_special(r, is_id ? key : vocab_token_of(value)))
            code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: \"%s\" is not among the special tokens that rapt takes with vocab.txt",
                             path, quote(key).text);
    }
    json_decref(root);
    free(path);
    return code;
}

/* ---- as tokenizer.json ---------------------------------------------------------------------------------------- */

static json_t *vocab_added_json(const vocab_reading *r)
{
    json_t *list = json_array();
    for (int i = 0; i < SPECIALS && list; i++)
        if (json_array_append_new(list, json_pack("{s:O, s:s, s:b}", "id", json_object_get(r->vocab, r->tokens[i]), "content",
                                                  r->tokens[i], "special", true))) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static json_t *vocab_tokenizer_json(const vocab_reading *r)
{
    json_t *cls = json_object_get(r->vocab, r->tokens[CLS]), *sep = json_object_get(r->vocab, r->tokens[SEP]);
    return json_pack("{s:o, s:{s:s, s:b, s:b, s:b, s:O}, s:{s:s}, s:{s:s, s:[s,O], s:[s,O]}, s:{s:s, s:s, s:b}, "
                     "s:{s:s, s:s, s:s, s:i, s:O}}",
                     "added_tokens", vocab_added_json(r),
                     "normalizer", "type", "BertNormalizer", "clean_text", true, "handle_chinese_chars", r->chinese, "lowercase",
                     r->lowercase, "strip_accents", r->accents,
                     "pre_tokenizer", "type", "BertPreTokenizer",
                     "post_processor", "type", "BertProcessing", "sep", r->tokens[SEP], sep, "cls", r->tokens[CLS], cls,
                     "decoder", "type", "WordPiece", "prefix", "##", "cleanup", true,
                     "model", "type", "WordPiece", "unk_token", r->tokens[UNK], "continuing_subword_prefix", "##",
                     "max_input_chars_per_word", 100, "vocab", r->vocab);
}

rapt_tokenizer *hub_vocab_load(const char *folder, rapt_error *err)
{
    vocab_reading r = {.folder = folder, .err = err};
    char *path = NULL;
    json_t *settings = NULL, *root = NULL;
    rapt_tokenizer *k = NULL;
    rapt_code code = vocab_read_json(&r, "tokenizer_config.json", &path, &settings);
    code = code ? code : vocab_read_settings(&r, settings, path);
    code = code ? code : vocab_check_file(&r, "special_tokens_map.json");
    code = code ? code : vocab_check_file(&r, "added_tokens.json");
    code = code ? code : vocab_read_tokens(&r);
    root = code ? NULL : vocab_tokenizer_json(&r);
    if (root)
        k = hf_from_json(root, r.path, err);
    else if (!code)
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", r.path);
    json_decref(root);
    json_decref(settings);
    json_decref(r.vocab);
    free(r.path);
    free(path);
    return k;
}
