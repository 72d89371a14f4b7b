/* text/gguf/gguf_pieces.c: SentencePiece models in GGUF files: "llama", BPE whose pieces have scores instead of merges, or are
 * single characters, and "t5", unigram. For gguf_tokenizer.c. The parts are the same as transformers makes from such models
 * (convert_slow_tokenizer.py), and text/layout from the model's own file. */
#include "text/gguf/gguf_tokenizer.h"

#include "base/quote.h"
#include "text/bpe/base64.h"
#include "text/layout/layout.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_PIECE = 1024 }; /* bytes; the cost of merges grows with their square */

/* The unknown token: the one that the key names, or the first of its kind. */
static rapt_code unknown_of(const gguf_vocab *v, int64_t *id, rapt_error *err)
{
    rapt_code code = gguf_vocab_id(v, "unknown_token_id", id, err);
    for (size_t i = 0; !code && *id < 0 && i < v->count; i++)
        *id = gguf_vocab_kind(v, i) == GGUF_UNKNOWN ? (int64_t)i : -1;
    return code || *id >= 0 ? code : rapt_fail(err, RAPT_ERR_FORMAT, "%s: no token is the unknown one", v->file->path);
}

/* ---- "llama" ---------------------------------------------------------------------------------------------------- */

/* The sources of merges: the pieces that a text can become, and the ids of their parts. */
typedef struct scored_pieces {
    token_list all;   /* without holes */
    json_t *vocab;    /* ids by token */
    json_t *listed;   /* [[piece, score], ...] of `all` */
    bool bytes;       /* there are pieces of bytes */
} scored_pieces;

static void scored_free(scored_pieces *p)
{
    token_list_free(&p->all);
    json_decref(p->vocab);
    json_decref(p->listed);
}

/* Takes a piece, but not a filler: converters put fillers after the last piece, and no text becomes one. */
static rapt_code scored_take(scored_pieces *p, const gguf_vocab *v, size_t id, rapt_error *err)
{
    char *token = gguf_text_copy(&v->tokens[id]);
    const gguf_kind kind = gguf_vocab_kind(v, id);
    rapt_code code = RAPT_OK;
    p->bytes = p->bytes || kind == GGUF_BYTE;
    if (v->tokens[id].size > LONGEST_PIECE)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu has %zu bytes; at most %d", v->file->path, id, v->tokens[id].size,
                         LONGEST_PIECE);
    else if (token && json_object_get(p->vocab, token))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu, \"%s\", is there before", v->file->path, id, quote(token).text);
    else if (!token || json_object_set_new(p->vocab, token, json_integer((json_int_t)id)) != 0)
        code = gguf_vocab_no_memory(v, err);
    if (!code && kind != GGUF_UNUSED &&
        (!token_list_put(&p->all, p->all.size, token, v->tokens[id].size, true) ||
         json_array_append_new(p->listed, json_pack("[s, f]", token, gguf_vocab_score(v, id))) != 0))
        code = gguf_vocab_no_memory(v, err);
    free(token);
    return code;
}

static rapt_code scored_read(scored_pieces *p, const gguf_vocab *v, rapt_error *err)
{
    *p = (scored_pieces){.vocab = json_object(), .listed = json_array()};
    rapt_code code = p->vocab && p->listed ? RAPT_OK : gguf_vocab_no_memory(v, err);
    if (!code && !v->scores)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is no \"tokenizer.ggml.scores\", which such tokenizers have",
                         v->file->path);
    for (size_t i = 0; !code && i < v->count; i++)
        code = scored_take(p, v, i, err);
    return code;
}

static json_t *scored_model(const gguf_vocab *v, const scored_pieces *p, int64_t unknown)
{
    json_t *merges = layout_merges(&p->all, p->listed);
    const gguf_text *name = &v->tokens[unknown];
    return json_pack("{s:s, s:s%, s:b, s:b, s:O, s:o}", "type", "BPE", "unk_token", name->data, name->size, "fuse_unk", 1,
                     "byte_fallback", (int)p->bytes, "vocab", p->vocab, "merges", merges);
}

/* A space becomes a letter, and one is put before a text, and after an added token. */
static json_t *scored_normalizer(bool prefixed)
{
    json_t *spaces = json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", " ", "content", SPM_SPACE);
    return prefixed ? json_pack("{s:s, s:[{s:s, s:s}, o]}", "type", "Sequence", "normalizers", "type", "Prepend", "prepend",
                                SPM_SPACE, spaces)
                    : spaces;
}

static json_t *scored_decoder(bool prefixed)
{
    json_t *list = json_pack("[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]", "type", "Replace", "pattern", "String", SPM_SPACE, "content",
                             " ", "type", "ByteFallback", "type", "Fuse");
    if (list && prefixed)
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0));
    return json_pack("{s:s, s:o}", "type", "Sequence", "decoders", list);
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* Whether a piece has one code point. */
static bool is_character(const gguf_text *text)
{
    uint32_t code;
    return text->size > 0 && utf8_decode(text->data, text->size, &code) == text->size;
}

/* Whether no two pieces can merge and there is no token for unknown characters. Rapt writes a tokenizer of characters so
 * (io/export/export_gguf_tokenizer.c). A missing character is then an error, in rapt and in llama.cpp. */
static bool gguf_is_of_characters(const gguf_vocab *v)
{
    bool all = !gguf_find(v->file, "tokenizer.ggml.unknown_token_id") && !gguf_vocab_flag(v, "add_space_prefix", true);
    for (size_t i = 0; all && i < v->count; i++) {
        const gguf_kind kind = gguf_vocab_kind(v, i);
        all = kind == GGUF_UNUSED || (kind == GGUF_NORMAL && is_character(&v->tokens[i]));
    }
    return all;
}

/* Ids by character: U+2581 is the space. NULL: out of memory, or with `err` set twice the same. */
static json_t *characters_vocab(const gguf_vocab *v, rapt_error *err)
{
    json_t *vocab = json_object();
    bool ok = vocab != NULL;
    for (size_t i = 0; ok && i < v->count; i++) {
        char *text = gguf_text_copy(&v->tokens[i]);
        const char *key = text && strcmp(text, SPM_SPACE) == 0 ? " " : text;
        ok = key && !json_object_get(vocab, key);
        if (key && !ok)
            rapt_fail(err, RAPT_ERR_FORMAT, "%s: token %zu, \"%s\", is there before", v->file->path, i, quote(key).text);
        ok = ok && json_object_set_new(vocab, key, json_integer((json_int_t)i)) == 0;
        free(text);
    }
    if (ok)
        return vocab;
    json_decref(vocab);
    return NULL;
}

static rapt_code characters_parts(const gguf_vocab *v, gguf_parts *p, rapt_error *err)
{
    rapt_error why = {0};
    json_t *vocab = characters_vocab(v, &why);
    if (!vocab)
        return why.code ? rapt_fail(err, why.code, "%s", why.message) : gguf_vocab_no_memory(v, err);
    *p = (gguf_parts){.model = json_pack("{s:s, s:o, s:s}", "type", "WordLevel", "vocab", vocab, "unk_token", "<unk>"),
                      .normalizer = json_null(), .decoder = json_pack("{s:s}", "type", "Fuse"),
                      .pre_tokenizer = json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", "[\\s\\S]",
                                                 "behavior", "Isolated", "invert", 0)};
    return RAPT_OK;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

rapt_code gguf_scored_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err)
{
    (void)whole;
    scored_pieces pieces;
    int64_t unknown = -1;
    const bool prefixed = gguf_vocab_flag(v, "add_space_prefix", true);
    if (gguf_is_of_characters(v))
        return characters_parts(v, p, err);
    rapt_code code = scored_read(&pieces, v, err);
    code = code ? code : unknown_of(v, &unknown, err);
    if (!code)
        *p = (gguf_parts){.model = scored_model(v, &pieces, unknown), .normalizer = scored_normalizer(prefixed),
                          .pre_tokenizer = json_null(), .decoder = scored_decoder(prefixed), .begins = true};
    scored_free(&pieces);
    return code;
}

/* ---- "t5" ------------------------------------------------------------------------------------------------------- */

/* Fillers after the last token are left out: their scores would change the cost of unknown letters. Added tokens have the score
 * of special tokens in tokenizer.json, because they are cut out before. */
static json_t *unigram_vocab(const gguf_vocab *v)
{
    size_t count = v->count;
    json_t *list = json_array();
    bool ok = list != NULL;
    while (count > 0 && gguf_vocab_kind(v, count - 1) == GGUF_UNUSED)
        count--;
    for (size_t i = 0; ok && i < count; i++) {
        const double score = gguf_vocab_is_added(v, i) ? 0 : gguf_vocab_score(v, i);
        ok = json_array_append_new(list, json_pack("[s%, f]", v->tokens[i].data, v->tokens[i].size, score)) == 0;
    }
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* The character map, then spaces at the end go, and several spaces become one. */
static json_t *unigram_normalizer(const gguf_vocab *v)
{
    const gguf_value *map = gguf_find(v->file, "tokenizer.ggml.precompiled_charsmap");
    const bool has_map = map && map->is_array && (map->type == GGUF_I8 || map->type == GGUF_U8) && map->count > 0;
    char *letters = has_map ? malloc(BASE64_CAPACITY(map->count)) : NULL;
    json_t *list = json_array();
    bool ok = list && (!has_map || letters);
    if (ok && has_map) {
        base64_encode(map->data, map->count, letters);
        ok = json_array_append_new(list, json_pack("{s:s, s:s%}", "type", "Precompiled", "precompiled_charsmap", letters,
                                                   BASE64_CAPACITY(map->count))) == 0;
    }
    if (ok && gguf_vocab_flag(v, "remove_extra_whitespaces", true))
        ok = json_array_append_new(list, json_pack("{s:s, s:b, s:b}", "type", "Strip", "strip_left", 0, "strip_right", 1)) == 0 &&
             json_array_append_new(list, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", " {2,}",
                                                   "content", SPM_SPACE)) == 0;
    free(letters);
    json_t *all = ok ? json_pack("{s:s, s:O}", "type", "Sequence", "normalizers", list) : NULL;
    json_decref(list);
    return all;
}

static json_t *unigram_spaces(const gguf_vocab *v)
{
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", SPM_SPACE, "prepend_scheme",
                     gguf_vocab_flag(v, "add_space_prefix", true) ? "always" : "never", "split", 1);
}

rapt_code gguf_unigram_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err)
{
    (void)whole;
    int64_t unknown = -1;
    rapt_code code = unknown_of(v, &unknown, err);
    if (!code && !v->scores)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is no \"tokenizer.ggml.scores\", which such tokenizers have",
                         v->file->path);
    if (!code)
        *p = (gguf_parts){.model = json_pack("{s:s, s:I, s:o, s:b}", "type", "Unigram", "unk_id", (json_int_t)unknown, "vocab",
                                             unigram_vocab(v), "byte_fallback", 0),
                          .normalizer = unigram_normalizer(v), .pre_tokenizer = unigram_spaces(v), .decoder = unigram_spaces(v),
                          .ends = true};
    return code;
}
