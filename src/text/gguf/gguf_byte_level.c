/* text/gguf/gguf_byte_level.c: byte-level BPE of GGUF files, "gpt2": tokens in letters of bytes, merges, and a label instead of
 * the pattern that cuts a text. For gguf_tokenizer.c.
 *
 * A label stands for the tokenizers that gave one text the same ids when a model was converted (get_vocab_base_pre in llama.cpp's
 * conversion/base.py). The table has the parts of these tokenizers' tokenizer.json, including the normalizer, which llama.cpp
 * leaves out. */
#include "text/gguf/gguf_tokenizer.h"

#include "base/quote.h"
#include "text/split/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gguf_label {
    const char *name;
    const char *pattern; /* NULL: GPT-2's, which ByteLevel has built in */
    bool digits;         /* each digit is a piece */
    bool nfc;
    bool whole;  /* a piece that is a token becomes it, regardless of merges */
    bool begins; /* a text begins with the beginning of text */
} gguf_label;

/* Among labels with the same cuts, the first is written. */
static const gguf_label LABELS[] = {
    {"gpt-2"},
    {"phi-2"},
    {"mpt", .nfc = true},
    {"olmo", .nfc = true},
    {"llama-bpe", SPLIT_LLAMA3, .whole = true, .begins = true},
    {"llama3", SPLIT_LLAMA3, .whole = true, .begins = true},
    {"llama-v3", SPLIT_LLAMA3, .whole = true, .begins = true},
    {"dbrx", SPLIT_LLAMA3},
    {"smaug-bpe", SPLIT_LLAMA3},
    {"qwen2", SPLIT_QWEN2, .nfc = true},
    {"deepseek-r1-qwen", SPLIT_QWEN2},
    {"smollm", .digits = true},
    {"starcoder", .digits = true},
    {"refact", .digits = true},
    {"gpt-4o", SPLIT_O200K}};
enum { LABEL_COUNT = sizeof LABELS / sizeof *LABELS };

/* Llama 3's pattern cuts as cl100k_base's does. */
static bool label_cuts_by(const gguf_label *label, const char *pattern)
{
    const char *own = label->pattern ? label->pattern : SPLIT_GPT2;
    const bool same = strcmp(own, pattern) == 0 || (strcmp(pattern, SPLIT_CL100K) == 0 && strcmp(own, SPLIT_LLAMA3) == 0);
    return same && !label->digits;
}

const char *gguf_label_of(const char *pattern, bool nfc, bool whole)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < LABEL_COUNT; i++) {
        if (!label_cuts_by(&LABELS[i], pattern) || LABELS[i].whole != whole)
            continue;
        if (LABELS[i].nfc == nfc)
            return LABELS[i].name;
        nearest = nearest ? nearest : LABELS[i].name;
    }
    return nearest;
}

static rapt_code refuse_label(const gguf_vocab *v, const char *name, rapt_error *err)
{
    char list[200];
    size_t used = 0;
    for (size_t i = 0; i < LABEL_COUNT && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", LABELS[i].name);
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"tokenizer.ggml.pre\" is \"%s\"; rapt knows how texts are cut for %s",
                     v->file->path, quote(name).text, list);
}

/* Old files have no label: then it is unknown how to cut a text. */
static rapt_code find_label(const gguf_vocab *v, const gguf_label **to, rapt_error *err)
{
    const gguf_value *value = gguf_find(v->file, "tokenizer.ggml.pre");
    const gguf_text none = {"", 0}, text = value && value->type == GGUF_TEXT && !value->is_array ? gguf_text_first(value) : none;
    char *name = gguf_text_copy(&text);
    if (!name)
        return gguf_vocab_no_memory(v, err);
    *to = NULL;
    for (size_t i = 0; i < LABEL_COUNT; i++)
        if (strcmp(LABELS[i].name, name) == 0)
            *to = &LABELS[i];
    rapt_code code = *to ? RAPT_OK : refuse_label(v, name, err);
    free(name);
    return code;
}

static json_t *byte_level_of(bool splits)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 1, "use_regex",
                     (int)splits);
}

static json_t *label_cuts(const gguf_label *label)
{
    if (!label->pattern && !label->digits)
        return byte_level_of(true);
    json_t *first = label->digits ? json_pack("{s:s, s:b}", "type", "Digits", "individual_digits", 1)
                                  : json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", label->pattern,
                                              "behavior", "Isolated", "invert", 0);
    return json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers", first, byte_level_of(label->digits));
}

/* Ids by token; if not `whole`, of added tokens only. */
static json_t *vocabulary_of(const gguf_vocab *v, bool whole, rapt_error *err)
{
    json_t *all = json_object();
    rapt_code code = all ? RAPT_OK : gguf_vocab_no_memory(v, err);
    for (size_t i = 0; i < v->count && !code; i++) {
        if (!whole && !gguf_vocab_is_added(v, i))
            continue;
        char *token = gguf_text_copy(&v->tokens[i]);
        if (token && json_object_get(all, token))
            code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu, \"%s\", is there before", v->file->path, i, quote(token).text);
        else if (!token || json_object_set_new(all, token, json_integer((json_int_t)i)) != 0)
            code = gguf_vocab_no_memory(v, err);
        free(token);
    }
    if (!code)
        return all;
    json_decref(all);
    return NULL;
}

/* NULL with `err` set. */
static const gguf_value *find_merges(const gguf_vocab *v, rapt_error *err)
{
    const gguf_value *merges = gguf_find(v->file, "tokenizer.ggml.merges");
    if (merges && merges->is_array && merges->type == GGUF_TEXT)
        return merges;
    rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"tokenizer.ggml.merges\" is no array of texts", v->file->path);
    return NULL;
}

/* If not `whole`, an empty list. */
static json_t *merges_of(const gguf_vocab *v, bool whole, rapt_error *err)
{
    const gguf_value *merges = find_merges(v, err);
    if (!merges)
        return NULL;
    json_t *list = json_array();
    gguf_text text = {"", 0};
    bool ok = list != NULL;
    for (size_t i = 0; ok && whole && i < merges->count; i++) {
        text = i ? gguf_text_next(&text) : gguf_text_first(merges);
        ok = json_array_append_new(list, json_stringn(text.data, text.size)) == 0;
    }
    if (ok)
        return list;
    json_decref(list);
    rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"tokenizer.ggml.merges\" is not UTF-8, or memory ended", v->file->path);
    return NULL;
}

/* ---- lists beside the JSON -------------------------------------------------------------------------------------- */

static rapt_code take_file_tokens(const hf_reading *r)
{
    const gguf_vocab *v = r->lists->of;
    const gguf_text *first = &v->tokens[0], *last = &v->tokens[v->count - 1];
    if (!token_list_reserve(&r->b->tokens, v->count, (size_t)(last->data + last->size - first->data)))
        return gguf_vocab_no_memory(v, r->err);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < v->count && !code; i++)
        code = hf_take_token(r, (int64_t)i, v->tokens[i].data, v->tokens[i].size);
    return code;
}

static rapt_code take_file_merges(const hf_reading *r)
{
    const gguf_vocab *v = r->lists->of;
    const gguf_value *merges = find_merges(v, r->err);
    rapt_code code = merges ? RAPT_OK : RAPT_ERR_FORMAT;
    if (!code && !pair_table_reserve(&r->b->pairs, merges->count))
        return gguf_vocab_no_memory(v, r->err);
    gguf_text text = {"", 0};
    for (size_t i = 0; !code && i < merges->count; i++) {
        text = i ? gguf_text_next(&text) : gguf_text_first(merges);
        code = hf_take_merge_text(r, i, text.data, text.size);
    }
    return code;
}

rapt_code gguf_byte_level_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err)
{
    static const hf_lists lists = {.tokens = take_file_tokens, .merges = take_file_merges};
    const gguf_label *label;
    rapt_code code = find_label(v, &label, err);
    json_t *vocab = code ? NULL : vocabulary_of(v, whole, err), *merges = vocab ? merges_of(v, whole, err) : NULL;
    if (merges)
        *p = (gguf_parts){.model = json_pack("{s:s, s:O, s:O, s:b}", "type", "BPE", "vocab", vocab, "merges", merges,
                                             "ignore_merges", (int)label->whole),
                          .normalizer = label->nfc ? json_pack("{s:s}", "type", "NFC") : json_null(),
                          .pre_tokenizer = label_cuts(label), .decoder = byte_level_of(true), .begins = label->begins,
                          .lists = whole ? NULL : &lists};
    json_decref(vocab);
    code = code ? code : merges ? RAPT_OK : RAPT_ERR_FORMAT;
    json_decref(merges);
    return code;
}
