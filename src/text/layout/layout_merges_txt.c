/* text/layout/layout_merges_txt.c: folders with vocab.json and merges.txt and no tokenizer.json: byte-level BPE, whose class
 * decides the special tokens. They become the tokenizer.json that transformers 5 makes of them (tokenization_gpt2.py,
 * tokenization_roberta.py). For tokenizer_file.c. layout_merges.c has the merges of a SentencePiece model. */
#include "text/layout/layout.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/folder_json.h"
#include "text/spm/marian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

enum { SEP = 3, CLS = 5, NAMED_COUNT = 7 };
static const char *const NAMED[NAMED_COUNT] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
                                               "mask_token"};

typedef struct merged_class {
    const char *class, *type;
    const char *tokens[NAMED_COUNT]; /* defaults; NULL: no token */
} merged_class;

#define FAIRSEQ {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"} /* cls and sep go about a text */
static const merged_class CLASSES[] = {
    {"GPT2", "gpt2", {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, NULL, NULL, NULL}},
    {"Roberta", "roberta", FAIRSEQ},
    {"Bart", "bart", FAIRSEQ}};

typedef struct merged {
    const char *folder;
    const merged_class *of;
    json_t *config, *model, *specials, *listed; /* the folder's files; listed: ids of added tokens */
    json_t *vocab, *added;
    rapt_error *err;
} merged;

static rapt_code merged_no_memory(const merged *m)
{
    return rapt_fail(m->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", m->folder);
}

/* ---- the class ------------------------------------------------------------------------------------------------- */

static bool names_class(const char *name, const char *class)
{
    const size_t size = strlen(class);
    return strncmp(name, class, size) == 0 &&
           (strcmp(name + size, "Tokenizer") == 0 || strcmp(name + size, "TokenizerFast") == 0);
}

static rapt_code find_merged_class(merged *m)
{
    const char *class = json_string_value(json_object_get(m->config, "tokenizer_class"));
    const char *type = json_string_value(json_object_get(m->model, "model_type"));
    class = class ? class : json_string_value(json_object_get(m->model, "tokenizer_class"));
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
        if (class ? names_class(class, CLASSES[i].class) : type && strcmp(type, CLASSES[i].type) == 0)
            m->of = &CLASSES[i];
    if (m->of)
        return RAPT_OK;
    return rapt_fail(m->err, RAPT_ERR_FORMAT, "%s: tokenizer.json is missing; of vocab.json and merges.txt rapt makes a "
                     "GPT2Tokenizer, RobertaTokenizer or BartTokenizer, and the folder names %s", m->folder,
                     class ? quote(class).text : type ? quote(type).text : "no class");
}

/* ---- added tokens ---------------------------------------------------------------------------------------------- */

static const char *merged_text(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

/* A special token that the folder names, or NULL. */
static const json_t *named_token(const merged *m, const char *key)
{
    const json_t *token = json_object_get(m->config, key);
    return merged_text(token) ? token : json_object_get(m->specials, key);
}

static const char *special_text(const merged *m, size_t i)
{
    const char *text = merged_text(named_token(m, NAMED[i]));
    return text ? text : m->of->tokens[i];
}

/* Puts a token into the list, which is in the order of ids; if the list has it, sets only its flags. */
static rapt_code put_added(const merged *m, const char *text, json_int_t id, const json_t *flags, bool special)
{
    static const char *const keys[] = {"single_word", "lstrip", "rstrip", "normalized"};
    size_t at = json_array_size(m->added);
    while (at > 0 && json_integer_value(json_object_get(json_array_get(m->added, at - 1), "id")) > id)
        at--;
    json_t *there = at > 0 ? json_array_get(m->added, at - 1) : NULL;
    if (!there || json_integer_value(json_object_get(there, "id")) != id) {
        there = json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", text, "single_word", 0, "lstrip", 0,
                          "rstrip", 0, "normalized", !special, "special", special);
        if (json_array_insert_new(m->added, at, there) != 0)
            return merged_no_memory(m);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *flag = json_object_get(flags, keys[i]);
        if (json_is_boolean(flag) && json_object_set(there, keys[i], flag) != 0)
            return merged_no_memory(m);
    }
    return RAPT_OK;
}

static rapt_code take_merged(const merged *m, const json_t *token, const char *text, bool special)
{
    const json_t *id = json_object_get(m->vocab, text);
    id = id ? id : json_object_get(m->listed, text);
    if (!json_is_integer(id))
        return rapt_fail(m->err, RAPT_ERR_FORMAT, "%s: the special token \"%s\" has no id in vocab.json or among the added "
                         "tokens", m->folder, quote(text).text);
    return put_added(m, text, json_integer_value(id), json_is_object(token) ? token : NULL, special);
}

/* Adds the ids of "added_tokens_decoder" to those from added_tokens.json. */
static rapt_code list_ids(const merged *m)
{
    const char *key;
    json_t *one;
    json_object_foreach(json_object_get(m->config, "added_tokens_decoder"), key, one)
    {
        const char *text = merged_text(one);
        char *end;
        const long long id = strtoll(key, &end, 10);
        const json_t *known = text ? json_object_get(m->vocab, text) : NULL;
        if (!text || *end || (known && json_integer_value(known) != id))
            return rapt_fail(m->err, RAPT_ERR_FORMAT, "%s: the folder gives id %s to the added token \"%s\", and vocab.json "
                             "another", m->folder, quote(key).text, text ? quote(text).text : "");
        if (json_object_set_new(m->listed, text, json_integer(id)) != 0)
            return merged_no_memory(m);
    }
    return RAPT_OK;
}

static rapt_code take_more(const merged *m, const json_t *from)
{
    const json_t *more = json_object_get(from, "additional_special_tokens");
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < json_array_size(more); i++)
        if (merged_text(json_array_get(more, i)))
            code = take_merged(m, json_array_get(more, i), merged_text(json_array_get(more, i)), true);
    return code;
}

/* Special tokens first: a token's flags can be changed later, but not whether it is special. */
static rapt_code take_all_merged(const merged *m)
{
    const char *key;
    json_t *one;
    rapt_code code = list_ids(m);
    for (size_t i = 0; !code && i < NAMED_COUNT; i++)
        if (special_text(m, i))
            code = take_merged(m, named_token(m, NAMED[i]), special_text(m, i), true);
    code = code ? code : take_more(m, m->config);
    code = code ? code : take_more(m, m->specials);
    json_object_foreach(json_object_get(m->config, "added_tokens_decoder"), key, one)
        if (!code)
            code = take_merged(m, one, merged_text(one), json_is_true(json_object_get(one, "special")));
    json_object_foreach(m->listed, key, one)
        if (!code)
            code = take_merged(m, NULL, key, false);
    return code;
}

/* ---- tokenizer.json --------------------------------------------------------------------------------------------- */

/* Lines "LEFT RIGHT"; the first can be "#version: 0.2". NULL with `err` set. */
static json_t *read_merges(const merged *m, const char *path)
{
    char *text, *line, *rest;
    size_t size;
    if (file_read_regular(path, MAX_BYTES, &text, &size, m->err) != RAPT_OK)
        return NULL;
    json_t *list = json_array();
    bool ok = list && strlen(text) == size;
    rest = text + (strncmp(text, "#version", 8) == 0 ? strcspn(text, "\n") : 0);
    for (line = rest; ok && *line; line = rest) {
        const size_t length = strcspn(line, "\r\n");
        rest = line + length + strspn(line + length, "\r\n");
        ok = length == 0 || json_array_append_new(list, json_stringn(line, length)) == 0;
    }
    free(text);
    if (ok)
        return list;
    json_decref(list);
    rapt_fail(m->err, RAPT_ERR_FORMAT, "%s: not UTF-8, has a NUL, or out of memory for its merges", path);
    return NULL;
}

/* RoBERTa's puts cls before a text and sep after it. */
static json_t *merged_post_processor(const merged *m)
{
    if (!m->of->tokens[CLS])
        return json_null();
    const char *cls = special_text(m, CLS), *sep = special_text(m, SEP);
    return json_pack("{s:s, s:[s, I], s:[s, I], s:b, s:b}", "type", "RobertaProcessing", "sep", sep,
                     layout_added_id(m->added, sep), "cls", cls, layout_added_id(m->added, cls), "trim_offsets", 1,
                     "add_prefix_space", 0);
}

static json_t *merged_json(const merged *m, json_t *merges)
{
    const bool prefixed = json_is_true(json_object_get(m->config, "add_prefix_space"));
    return json_pack("{s:s, s:n, s:n, s:O, s:n, s:{s:s, s:b, s:b, s:b}, s:o, s:{s:s, s:b, s:b, s:b}, "
                     "s:{s:s, s:n, s:n, s:s, s:s, s:b, s:b, s:O, s:O}}",
                     "version", "1.0", "truncation", "padding", "added_tokens", m->added, "normalizer", "pre_tokenizer", "type",
                     "ByteLevel", "add_prefix_space", prefixed, "trim_offsets", 1, "use_regex", 1, "post_processor",
                     merged_post_processor(m), "decoder", "type", "ByteLevel", "add_prefix_space", 1, "trim_offsets", 1,
                     "use_regex", 1, "model", "type", "BPE", "dropout", "unk_token", "continuing_subword_prefix", "",
                     "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0, "vocab", m->vocab, "merges", merges);
}

static rapt_code read_merged_files(merged *m)
{
    char *path = NULL;
    rapt_code code = folder_json_read(m->folder, "tokenizer_config.json", &m->config, m->err);
    code = code ? code : folder_json_read(m->folder, "config.json", &m->model, m->err);
    code = code ? code : folder_json_read(m->folder, "special_tokens_map.json", &m->specials, m->err);
    code = code ? code : folder_json_read(m->folder, "added_tokens.json", &m->listed, m->err);
    code = code ? code : find_merged_class(m);
    code = code ? code : file_path(m->folder, "vocab.json", &path, m->err);
    if (!code && (!(m->vocab = marian_read_vocabulary(path, m->err)) || !(m->added = json_array())))
        code = m->vocab ? merged_no_memory(m) : RAPT_ERR_FORMAT;
    if (!code && json_is_true(json_object_get(m->config, "add_bos_token")))
        code = rapt_fail(m->err, RAPT_ERR_VALUE, "%s/tokenizer_config.json: \"add_bos_token\" is true, which rapt does not know "
                         "of %sTokenizer; a tokenizer.json in the folder would say", m->folder, m->of->class);
    free(path);
    return code;
}

rapt_tokenizer *layout_from_merges(const char *folder, const char *path, rapt_error *err)
{
    merged m = {.folder = folder, .err = err};
    rapt_tokenizer *k = NULL;
    json_t *merges = NULL, *root = NULL;
    rapt_code code = read_merged_files(&m);
    code = code ? code : take_all_merged(&m);
    if (!code && (merges = read_merges(&m, path)) && !(root = merged_json(&m, merges)))
        merged_no_memory(&m);
    if (root)
        k = hf_from_json(root, path, err);
    json_t *const all[] = {m.config, m.model, m.specials, m.listed, m.vocab, m.added, merges, root};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_decref(all[i]);
    return k;
}
