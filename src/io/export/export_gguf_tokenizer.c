/* io/export/export_gguf_tokenizer.c: writes tokenizers as keys. llama.cpp's src/llama-vocab.cpp defines the meaning of the
 * keys. */
#include "io/export/export_gguf_parts.h"

#include "io/hub/hub_origin.h"
#include "text/bpe/byte_bpe.h"
#include "text/gguf/gguf_tokenizer.h"
#include "text/pipeline/pipeline.h"
#include "text/spm/spm.h"

#include <stdio.h>
#include <string.h>

/* Types of tokens, with the same numbers as in SentencePiece (spm_kind). */
typedef enum gguf_token_type { TOKEN_NORMAL = 1, TOKEN_CONTROL = 3, TOKEN_USER_DEFINED = 4, TOKEN_UNUSED = 5 } gguf_token_type;

typedef struct gguf_token {
    const char *text; /* NULL: the model has a row for it, and the tokenizer no token */
    size_t size;
    int32_t type;
    float score;
} gguf_token;

typedef struct gguf_tokens {
    gguf_token *list; /* [count] */
    size_t count;
    const char *path; /* for messages */
} gguf_tokens;

static rapt_code gguf_tokens_begin(gguf_tokens *t, size_t count, const char *path, rapt_error *err)
{
    *t = (gguf_tokens){calloc(count + 1, sizeof *t->list), count, path};
    return t->list ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu tokens", path, count);
}

/* The text is borrowed; a token that the model has no row for is left out. */
static void gguf_tokens_set(gguf_tokens *t, int64_t id, gguf_token token)
{
    if (id >= 0 && (uint64_t)id < t->count)
        t->list[id] = token;
}

/* Writes the keys that all tokenizers have. Tokens without a text get made-up names. */
static void export_gguf_put_tokens(gguf_keys *keys, const gguf_tokens *t, const char *model, const char *pre)
{
    gguf_keys_text(keys, "tokenizer.ggml.model", model);
    gguf_keys_text(keys, "tokenizer.ggml.pre", pre);
    gguf_keys_begin_texts(keys, "tokenizer.ggml.tokens", t->count);
    for (size_t i = 0; i < t->count; i++) {
        char unused[32];
        const int size = snprintf(unused, sizeof unused, "[PAD%zu]", i);
        const gguf_token *token = &t->list[i];
        gguf_keys_add_text(keys, token->text ? token->text : unused, token->text ? token->size : (size_t)size);
    }
    gguf_keys_begin_i32s(keys, "tokenizer.ggml.token_type", t->count);
    for (size_t i = 0; i < t->count; i++)
        gguf_keys_add_i32(keys, t->list[i].text ? t->list[i].type : TOKEN_UNUSED);
}

static void gguf_put_scores(gguf_keys *keys, const gguf_tokens *t)
{
    gguf_keys_begin_f32s(keys, "tokenizer.ggml.scores", t->count);
    for (size_t i = 0; i < t->count; i++)
        gguf_keys_add_f32(keys, t->list[i].score);
}

/* A file of the Hugging Face folder from which a model came; NULL: there is none. */
static const hub_file *gguf_origin_file(const rapt_model *m, const char *name)
{
    const hub_origin *o = m->origin;
    for (size_t i = 0; o && HUB_ORIGIN_FILES[i]; i++)
        if (strcmp(HUB_ORIGIN_FILES[i], name) == 0 && o->files[i].data)
            return &o->files[i];
    return NULL;
}

/* ---- byte-level BPE ------------------------------------------------------------------------------------------- */

/* The label of the tokenizer's pre-tokenization; NULL: there is none. Merges are derived from the tokens of rank files. */
static const char *gguf_pre_of(const byte_bpe *b)
{
    return gguf_label_of(split_pattern(b->cut), b->normal.count > 0, b->whole_pieces && !b->ranks);
}

/* llama.cpp always leaves NFC out; texts hardly ever change by it. */
static rapt_code gguf_check_bpe(const byte_bpe *b, const char *path, rapt_error *err)
{
    const normalizer *n = &b->normal;
    if (n->count > 1 || (n->count == 1 && n->steps[0].kind != NORMALIZER_NFC))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer normalizes texts, which llama.cpp's byte-level BPE does not",
                         path);
    if (!gguf_pre_of(b))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: llama.cpp has no name for the pattern that the tokenizer splits texts by: %s",
                         path, split_pattern(b->cut));
    if (b->before.count > 1 || b->after.count > 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer puts several tokens before or after a text", path);
    return RAPT_OK;
}

/* Texts are borrowed from the JSON. */
static void gguf_take_bpe(gguf_tokens *t, json_t *root)
{
    const char *text;
    json_t *id, *vocab = json_object_get(json_object_get(root, "model"), "vocab");
    const json_t *added = json_object_get(root, "added_tokens");
    json_object_foreach(vocab, text, id)
        gguf_tokens_set(t, json_integer_value(id), (gguf_token){text, strlen(text), TOKEN_NORMAL, 0});
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *entry = json_array_get(added, i), *content = json_object_get(entry, "content");
        const int32_t type = json_is_true(json_object_get(entry, "special")) ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
        gguf_tokens_set(t, json_integer_value(json_object_get(entry, "id")),
                        (gguf_token){json_string_value(content), json_string_length(content), type, 0});
    }
}

enum { MERGED = 1 << 16 }; /* max bytes of a merge; longer ones are left out, because texts hardly ever have them */

/* A merge as text, "a b", also of a pair ["a", "b"]; 0: it is longer than MERGED - 1. */
static size_t gguf_merge_text(const json_t *merge, char text[MERGED])
{
    const char *whole = json_string_value(merge);
    const char *left = json_string_value(json_array_get(merge, 0)), *right = json_string_value(json_array_get(merge, 1));
    const int size = whole ? snprintf(text, MERGED, "%s", whole) : snprintf(text, MERGED, "%s %s", left, right);
    return size < MERGED ? (size_t)size : 0;
}

/* Whether the model has a row for the token that a merge makes. */
static bool gguf_is_merged(const json_t *vocab, const char *merge, size_t count)
{
    char joined[MERGED];
    const char *space = strchr(merge, ' ');
    snprintf(joined, sizeof joined, "%.*s%s", (int)(space - merge), merge, space + 1);
    const json_t *id = json_object_get(vocab, joined);
    return id && (size_t)json_integer_value(id) < count;
}

static void gguf_put_merges(gguf_keys *keys, const json_t *root, size_t count)
{
    const json_t *model = json_object_get(root, "model"), *vocab = json_object_get(model, "vocab");
    const json_t *merges = json_object_get(model, "merges");
    char text[MERGED];
    size_t used = 0, size;
    for (size_t i = 0; i < json_array_size(merges); i++)
        used += gguf_merge_text(json_array_get(merges, i), text) && gguf_is_merged(vocab, text, count);
    gguf_keys_begin_texts(keys, "tokenizer.ggml.merges", used);
    for (size_t i = 0; i < json_array_size(merges); i++)
        if ((size = gguf_merge_text(json_array_get(merges, i), text)) && gguf_is_merged(vocab, text, count))
            gguf_keys_add_text(keys, text, size);
}

/* Writes the tokens and merges of a tokenizer.json. */
static void gguf_put_bpe_json(gguf_keys *keys, json_t *root, gguf_tokens *t, const char *pre)
{
    gguf_take_bpe(t, root);
    export_gguf_put_tokens(keys, t, "gpt2", pre);
    gguf_put_merges(keys, root, t->count);
}

static rapt_code gguf_put_bpe(gguf_keys *keys, const byte_bpe *b, gguf_tokens *t, rapt_error *err)
{
    rapt_code code = gguf_check_bpe(b, t->path, err);
    json_t *root = code ? NULL : hf_to_json(b);
    if (!code && !root)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", t->path);
    if (!code)
        gguf_put_bpe_json(keys, root, t, gguf_pre_of(b));
    json_decref(root);
    return code;
}

/* ---- characters ----------------------------------------------------------------------------------------------- */

/* A SentencePiece model whose pieces are single characters: no two are merged. Spaces are U+2581 there. */
static rapt_code gguf_put_characters(gguf_keys *keys, const rapt_tokenizer *k, gguf_tokens *t, rapt_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t size;
        const char *text = rapt_tokenizer_token(k, (int32_t)i, &size);
        if (!text)
            continue;
        if (size == 0 || *text == '\0' || strcmp(text, SPM_SPACE) == 0)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer has the character %s, which a piece of llama.cpp cannot be",
                             t->path, *text ? "U+2581" : "U+0000");
        const bool space = strcmp(text, " ") == 0;
        gguf_tokens_set(t, (int64_t)i, (gguf_token){space ? SPM_SPACE : text, space ? strlen(SPM_SPACE) : size, TOKEN_NORMAL, 0});
    }
    export_gguf_put_tokens(keys, t, "llama", "default");
    gguf_put_scores(keys, t);
    gguf_keys_bool(keys, "tokenizer.ggml.add_space_prefix", false);
    return RAPT_OK;
}

/* ---- SentencePiece -------------------------------------------------------------------------------------------- */

static const char *gguf_missing_in_spm(const spm *k)
{
    if (k->type != SPM_BPE)
        return "a kind other than BPE";
    if (!k->byte_fallback)
        return "no pieces of bytes";
    if (k->rules.map.count > 0 || k->rules.squeezes || k->rules.suffix || !k->rules.escapes)
        return "a normalization of texts";
    return NULL;
}

/* `added`: tokens in addition to the pieces, or instead of some; NULL: none. */
static rapt_code gguf_put_spm(gguf_keys *keys, const spm *k, const added_tokens *added, gguf_tokens *t, rapt_error *err)
{
    const char *missing = gguf_missing_in_spm(k);
    if (missing)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer is a SentencePiece model with %s, which llama.cpp's has not",
                         t->path, missing);
    for (size_t i = 0; i < k->pieces.size && i < t->count; i++) {
        size_t size;
        const char *text = token_list_at(&k->pieces, (int64_t)i, &size);
        gguf_tokens_set(t, (int64_t)i, (gguf_token){text, text ? size : 0, k->kinds[i], k->scores[i]});
    }
    for (size_t i = 0; added && i < added->count; i++) {
        const added_token *a = &added->list[i];
        const int32_t type = a->special ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
        gguf_tokens_set(t, a->id, (gguf_token){a->content, a->length, type, -1000});
    }
    export_gguf_put_tokens(keys, t, "llama", "default");
    gguf_put_scores(keys, t);
    gguf_keys_bool(keys, "tokenizer.ggml.add_space_prefix", k->rules.dummy_prefix);
    gguf_keys_u32(keys, "tokenizer.ggml.unknown_token_id", (uint32_t)k->unknown);
    return RAPT_OK;
}

/* Whether it is SmolLM's: byte-level BPE that splits off single digits, and splits the text between them with GPT-2's pattern. */
static bool gguf_is_smollm(const json_t *root)
{
    const json_t *list = json_object_get(json_object_get(root, "pre_tokenizer"), "pretokenizers");
    const json_t *digits = json_array_get(list, 0), *bytes = json_array_get(list, 1);
    const json_t *normal = json_object_get(root, "normalizer"), *model = json_object_get(root, "model");
    return json_array_size(list) == 2 && strcmp(hf_type(digits), "Digits") == 0 && strcmp(hf_type(bytes), "ByteLevel") == 0 &&
           json_is_true(json_object_get(digits, "individual_digits")) &&
           json_is_false(json_object_get(bytes, "add_prefix_space")) && !json_is_false(json_object_get(bytes, "use_regex")) &&
           (!normal || json_is_null(normal)) && strcmp(hf_type(model), "BPE") == 0 &&
           !json_is_true(json_object_get(model, "ignore_merges")) && !json_is_true(json_object_get(model, "byte_fallback"));
}

/* Whether pieces and tokens have the same ids, except added tokens. */
static bool gguf_same_tokens(const spm *k, const pipeline *p)
{
    for (size_t i = 0; i < k->pieces.size && i < p->model.vocab.size; i++) {
        size_t size = 0, length = 0;
        const char *piece = token_list_at(&k->pieces, (int64_t)i, &size);
        const char *token = token_list_at(&p->model.vocab, (int64_t)i, &length);
        const bool same = piece && token && size == length && memcmp(piece, token, size) == 0;
        if (!same && !added_tokens_of(&p->added, (int32_t)i))
            return false;
    }
    return true;
}

/* If a tokenizer.json was made from a SentencePiece model that is also in the folder (Llama 2, Gemma, Mistral, Phi-3), writes
 * that model, with the added tokens of the JSON. */
static rapt_code gguf_put_model_file(gguf_keys *keys, const rapt_model *m, gguf_tokens *t, rapt_error *err)
{
    const hub_file *file = gguf_origin_file(m, "tokenizer.model");
    const pipeline *p = pipeline_of(m->language.tokenizer);
    if (!file || p->model.kind != MODEL_BPE)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: llama.cpp has no tokenizer like the model's: a tokenizer.json that is no "
                         "byte-level BPE, and no tokenizer.model beside it", t->path);
    char *copy = malloc(file->size + 1);
    if (copy)
        memcpy(copy, file->data, file->size);
    spm *k = spm_open(copy, file->size, "tokenizer.model", err);
    rapt_code code = RAPT_ERR_FORMAT; /* the failure of spm_open, whose message says why */
    if (k && !gguf_same_tokens(k, p))
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: tokenizer.model has other tokens than tokenizer.json", t->path);
    else if (k)
        code = gguf_put_spm(keys, k, &p->added, t, err);
    spm_free(k);
    return code;
}

static rapt_code gguf_put_pipeline(gguf_keys *keys, const rapt_model *m, gguf_tokens *t, rapt_error *err)
{
    const pipeline *p = pipeline_of(m->language.tokenizer);
    json_t *root = json_loads(p->json, 0, NULL);
    rapt_code code = RAPT_OK;
    if (!root)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", t->path);
    else if (p->before.count > 1 || p->after.count > 1)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer puts several tokens before or after a text", t->path);
    else if (gguf_is_smollm(root))
        gguf_put_bpe_json(keys, root, t, "smollm");
    else
        code = gguf_put_model_file(keys, m, t, err);
    json_decref(root);
    return code;
}

/* ---- special tokens ------------------------------------------------------------------------------------------- */

static json_t *gguf_origin_json(const rapt_model *m, const char *name)
{
    const hub_file *file = gguf_origin_file(m, name);
    return file ? json_loadb(file->data, file->size, 0, NULL) : NULL;
}

/* An id from a file of that folder; -1: there is none, or the model has no row for it. */
static int64_t gguf_origin_id(const rapt_model *m, const char *key)
{
    json_t *config = gguf_origin_json(m, "config.json");
    const json_t *id = json_object_get(config, key);
    const int64_t found = json_is_integer(id) ? json_integer_value(id) : -1;
    json_decref(config);
    return found >= 0 && (uint64_t)found < m->language.net->config.vocab ? found : -1;
}

/* If a key is missing, llama.cpp uses an id of its own, such as 11. So if a model has no token that ends a text, the last token
 * is named; if it has no token before texts, the token that ends them is named. */
static void gguf_put_specials(gguf_keys *keys, const rapt_model *m)
{
    const rapt_language_model *l = &m->language;
    const rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(l->tokenizer);
    const bool bpe = kind == RAPT_TOKENIZER_BYTE_BPE, pipes = kind == RAPT_TOKENIZER_PIPELINE;
    const byte_bpe *b = bpe ? byte_bpe_of(l->tokenizer) : NULL;
    const pipeline *p = pipes ? pipeline_of(l->tokenizer) : NULL;
    const id_row none = {0}, *before = b ? &b->before : p ? &p->before : &none, *after = b ? &b->after : p ? &p->after : &none;
    const int64_t end = l->end_of_text_count ? l->end_of_text[0] : (int64_t)l->net->config.vocab - 1;
    const int64_t named = gguf_origin_id(m, "bos_token_id"), begin = before->count ? before->ids[0] : named >= 0 ? named : end;
    const int64_t padding = gguf_origin_id(m, "pad_token_id");
    gguf_keys_u32(keys, "tokenizer.ggml.bos_token_id", (uint32_t)begin);
    gguf_keys_u32(keys, "tokenizer.ggml.eos_token_id", (uint32_t)(after->count ? after->ids[0] : end));
    if (l->end_of_text_count > 1)
        gguf_keys_u32(keys, "tokenizer.ggml.eot_token_id", (uint32_t)l->end_of_text[1]);
    if (padding >= 0)
        gguf_keys_u32(keys, "tokenizer.ggml.padding_token_id", (uint32_t)padding);
    gguf_keys_bool(keys, "tokenizer.ggml.add_bos_token", before->count > 0);
    gguf_keys_bool(keys, "tokenizer.ggml.add_eos_token", after->count > 0);
}

/* A template in a file of its own comes first. */
static void gguf_put_chat_template(gguf_keys *keys, const rapt_model *m)
{
    const hub_file *file = gguf_origin_file(m, "chat_template.jinja");
    json_t *config = gguf_origin_json(m, "tokenizer_config.json");
    const char *own = m->chat_template ? m->chat_template : json_string_value(json_object_get(config, "chat_template"));
    const char *text = file ? file->data : own;
    if (text)
        gguf_keys_text(keys, "tokenizer.chat_template", text);
    json_decref(config);
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static rapt_code gguf_put_kind(gguf_keys *keys, const rapt_model *m, gguf_tokens *t, rapt_error *err)
{
    const rapt_tokenizer *k = m->language.tokenizer;
    switch (rapt_tokenizer_kind_of(k)) {
    case RAPT_TOKENIZER_BYTE_BPE: return gguf_put_bpe(keys, byte_bpe_of(k), t, err);
    case RAPT_TOKENIZER_CHARACTERS: return gguf_put_characters(keys, k, t, err);
    case RAPT_TOKENIZER_SENTENCEPIECE: return gguf_put_spm(keys, spm_of(k), NULL, t, err);
    case RAPT_TOKENIZER_PIPELINE: return gguf_put_pipeline(keys, m, t, err);
    case RAPT_TOKENIZER_WORDS: break;
    }
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: llama.cpp has no tokenizer like the model's, which is one of words", t->path);
}

rapt_code export_gguf_tokenizer(gguf_keys *keys, const rapt_model *m, const char *path, rapt_error *err)
{
    gguf_tokens tokens;
    rapt_code code = gguf_tokens_begin(&tokens, m->language.net->config.vocab, path, err);
    if (!code)
        code = gguf_put_kind(keys, m, &tokens, err);
    if (!code) {
        gguf_put_specials(keys, m);
        gguf_put_chat_template(keys, m);
    }
    free(tokens.list);
    return code;
}
