/* text/spm/marian.c: Marian's tokenizer. For rapt_tokenizer_load; marian_file.c reads files. If the translator has several
 * targets, a text begins with a language code, ">>deu<<", which is cut off before the pieces. M2M100's tokenizer puts the token
 * of a language before a text instead. */
#include "text/spm/marian.h"

#include "base/chars.h"
#include "base/quote.h"
#include "base/rng.h"
#include "text/encode_run.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAX_IDS = 1 << 24 };
static const char UNKNOWN[] = "<unk>", END[] = "</s>", PADDING[] = "<pad>", BEGIN[] = "<s>", CODE_BEGIN[] = ">>",
                  CODE_END[] = "<<";

static const tokenizer_ops MARIAN_OPS;

static const marian *marian_of(const rapt_tokenizer *k)
{
    return (const marian *)k;
}

static void marian_frame(const rapt_tokenizer *k, size_t *before, size_t *after)
{
    (void)k;
    *before = 0;
    *after = 1;
}

static void marian_free(rapt_tokenizer *k)
{
    marian *m = (marian *)k;
    spm_free(m->pieces);
    token_list_free(&m->vocab);
    token_list_free(&m->tokens);
    free(m->ids);
    free(m);
}

/* ---- what it is --------------------------------------------------------------------------------------------- */

static size_t marian_size(const rapt_tokenizer *k)
{
    return marian_of(k)->vocab.size;
}

static const char *marian_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return token_list_at(&marian_of(k)->tokens, id, size);
}

/* Whether all of a text is a language code. */
static bool is_code(const char *text, size_t size)
{
    return size > 4 && memcmp(text, CODE_BEGIN, 2) == 0 && memcmp(text + size - 2, CODE_END, 2) == 0;
}

static bool is_special(const marian *m, const char *text)
{
    return strcmp(text, UNKNOWN) == 0 || strcmp(text, END) == 0 || strcmp(text, PADDING) == 0 ||
           (m->source >= 0 && strcmp(text, BEGIN) == 0);
}

static bool is_language(const marian *m, int64_t id)
{
    return id >= (int64_t)(m->vocab.size - m->languages);
}

static int32_t marian_special(const rapt_tokenizer *k, const char *text)
{
    const marian *m = marian_of(k);
    const size_t size = strlen(text);
    const int32_t id = token_list_find(&m->vocab, text, size);
    return is_special(m, text) || is_language(m, id) || (m->source < 0 && is_code(text, size)) ? id : -1;
}

static uint64_t marian_hash(const rapt_tokenizer *k)
{
    const marian *m = marian_of(k);
    uint64_t h = rng_mix(rng_hash_text("marian"), XXH3_64bits(m->pieces->file, m->pieces->file_size));
    for (size_t i = 0, size = 0; i < m->vocab.size; i++) {
        const char *piece = token_list_at(&m->vocab, (int64_t)i, &size);
        h = rng_mix(h, piece ? XXH3_64bits(piece, size) : 0);
    }
    if (m->source >= 0)
        h = rng_mix(rng_mix(h, (uint64_t)m->source), m->languages);
    return h;
}

/* ---- encoding ----------------------------------------------------------------------------------------------- */

typedef struct marian_encoding {
    const marian *m;
    spm_sender sender;
} marian_encoding;

static int32_t find_vocab_piece(const marian *m, const char *piece, size_t size)
{
    const int32_t id = token_list_find(&m->vocab, piece, size);
    return id >= 0 ? id : m->unknown;
}

/* Sets *first to the next place with the text of a token, and *length to its size, if the place is before *first and the
 * vocabulary has the token. */
static void find_earlier(const marian *m, const char *text, size_t size, const char *token, size_t own, size_t *first,
                         size_t *length)
{
    const char *at = chars_find(text, size, token, own);
    if (!at || (size_t)(at - text) >= *first || token_list_find(&m->vocab, token, own) < 0)
        return;
    *first = (size_t)(at - text);
    *length = own;
}

/* The first text of a special token or of one of M2M100's languages, and its size; `size` if there is none. No two overlap. */
static size_t find_marian_special(const marian *m, const char *text, size_t size, size_t *length)
{
    static const char *const names[] = {UNKNOWN, END, PADDING, BEGIN};
    const size_t count = m->source < 0 ? 3 : 4;
    size_t first = size, own = 0;
    for (size_t i = 0; i < count; i++)
        find_earlier(m, text, size, names[i], strlen(names[i]), &first, length);
    for (size_t i = m->vocab.size - m->languages; i < m->vocab.size; i++) {
        const char *language = token_list_at(&m->vocab, (int64_t)i, &own);
        find_earlier(m, text, size, language, own, &first, length);
    }
    return first;
}

/* A piece that is unknown to one side's model can be a piece of the other side's. */
static rapt_code marian_take_piece(void *context, const spm_piece *piece, rapt_error *err)
{
    marian_encoding *e = context;
    const bool known = piece->id >= 0 && piece->id != e->m->pieces->unknown;
    const int32_t id = known ? e->m->ids[piece->id] : find_vocab_piece(e->m, piece->text, piece->size);
    return spm_send_id(&e->sender, id, piece->place, err);
}

/* Bytes of the language code at the beginning of the text; 0: none. */
static size_t code_size(const char *text, size_t size)
{
    if (size < 2 || memcmp(text, CODE_BEGIN, 2) != 0)
        return 0;
    for (size_t at = 2; at + 2 <= size; at++)
        if (memcmp(text + at, CODE_END, 2) == 0)
            return at + 2;
    return 0;
}

/* An id that belongs to bytes begin .. end - 1 of the text, or of none of them: 0, 0. */
static rapt_code send_special(marian_encoding *e, int32_t id, size_t begin, size_t end, rapt_error *err)
{
    e->sender.begin = 0;
    return spm_send_id(&e->sender, id, (rapt_span){begin, end}, err);
}

/* Encodes a text without special tokens, or the part between two of them, which may also begin with a language code. */
static rapt_code marian_encode_part(marian_encoding *e, const char *text, size_t size, size_t at, rapt_error *err)
{
    const size_t begin = e->m->source < 0 ? code_size(text + at, size) : 0;
    rapt_code code = RAPT_OK;
    if (begin)
        code = send_special(e, find_vocab_piece(e->m, text + at, begin), at, at + begin, err);
    e->sender.begin = at + begin;
    return code ? code
                : spm_cut(e->m->pieces, text + at + begin, size - begin, e->sender.placed != NULL, marian_take_piece, e, err);
}

static rapt_code marian_encode_all(marian_encoding *e, const char *text, size_t size, bool specials, rapt_error *err)
{
    const marian *m = e->m;
    rapt_code code = specials && m->source >= 0 ? send_special(e, m->source, 0, 0, err) : RAPT_OK;
    for (size_t from = 0, end, length = 0; from < size && !code; from = end + length) {
        end = from + (specials ? find_marian_special(m, text + from, size - from, &length) : size - from);
        length = end < size ? length : 0;
        if (end > from)
            code = marian_encode_part(e, text, end - from, from, err);
        if (!code && end < size)
            code = send_special(e, find_vocab_piece(m, text + end, length), end, end + length, err);
    }
    return !code && specials ? send_special(e, m->end, 0, 0, err) : code;
}

static rapt_code marian_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                                  void *context, rapt_error *err)
{
    marian_encoding e = {.m = marian_of(k), .sender = {.sink = sink, .context = context}};
    rapt_code code = marian_encode_all(&e, text, size, specials, err);
    return code ? code : spm_send_rest(&e.sender, err);
}

static rapt_code marian_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                                       rapt_error *err)
{
    marian_encoding e = {.m = marian_of(k), .sender = {.placed = out}};
    return marian_encode_all(&e, text, size, specials, err);
}

/* ---- decoding ----------------------------------------------------------------------------------------------- */

/* Removes white space from both ends of a text of UTF-8. */
static void trim_text(buffer *text)
{
    uint32_t code = 0;
    size_t begin = 0, end = 0;
    for (size_t at = 0, used; at < text->size; at += used) {
        used = utf8_decode(text->data + at, text->size - at, &code);
        const bool space = used > 0 && utf8_is_space(code);
        used = used ? used : 1;
        if (space && end == 0)
            begin = at + used;
        else if (!space)
            end = at + used;
    }
    end = end > begin ? end : begin;
    memmove(text->data, text->data + begin, end - begin);
    text->size = end - begin;
    text->data[text->size] = '\0';
}

/* The text of a token. M2M100 decodes by sentencepiece, which keeps the spaces of unknown pieces. */
static const char *shown_token(const marian *m, int32_t id, size_t *size)
{
    const char *piece = token_list_at(&m->vocab, id, size);
    return piece && m->source >= 0 && token_list_find(&m->pieces->pieces, piece, *size) < 0 ? piece
                                                                                            : token_list_at(&m->tokens, id, size);
}

/* The pieces one after the other, without special tokens: as with skip_special_tokens. */
static char *marian_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    const marian *m = marian_of(k);
    buffer text = {0};
    bool ok = buffer_append(&text, "", 0);
    for (size_t i = 0; ok && i < count; i++) {
        size_t length = 0;
        const char *token = shown_token(m, ids[i], &length);
        if (token && !is_special(m, token) && !is_language(m, ids[i]) &&
            token_list_find(&m->pieces->reserved, token, length) < 0)
            ok = buffer_append(&text, token, length);
    }
    if (!ok) {
        buffer_free(&text);
        return NULL;
    }
    trim_text(&text);
    if (size)
        *size = text.size;
    return text.data;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

/* As spm_tokenizer.c has it for the model alone, with the pieces by id; null for those that are not there. */
static json_t *marian_to_json(const rapt_tokenizer *k)
{
    const marian *m = marian_of(k);
    json_t *root = m->pieces->base.ops->to_json(&m->pieces->base), *list = json_array();
    bool ok = root && list;
    for (size_t i = 0, size = 0; ok && i < m->vocab.size; i++) {
        const char *piece = token_list_at(&m->vocab, (int64_t)i, &size);
        ok = json_array_append_new(list, piece ? json_stringn(piece, size) : json_null()) == 0;
    }
    ok = ok && json_object_set_new(root, "type", json_string(m->source < 0 ? "marian" : "m2m100")) == 0 &&
         json_object_set(root, "tokens", list) == 0;
    if (ok && m->source >= 0)
        ok = json_object_set_new(root, "source", json_string(token_list_at(&m->vocab, m->source, NULL))) == 0 &&
             json_object_set_new(root, "languages", json_integer((json_int_t)m->languages)) == 0;
    json_decref(list);
    if (ok)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- making one --------------------------------------------------------------------------------------------- */

static bool put_piece_and_token(marian *m, size_t id, const char *piece)
{
    buffer text = {0};
    const size_t size = strlen(piece);
    bool ok = token_list_put(&m->vocab, id, piece, size, size > 0) && spm_append_text(&text, piece, size) &&
              token_list_put(&m->tokens, id, text.data, text.size, false);
    buffer_free(&text);
    return ok;
}

static rapt_code take_vocab_entry(marian *m, const char *piece, const json_t *id, rapt_error *err)
{
    const json_int_t at = json_integer_value(id);
    if (!json_is_integer(id) || at < 0 || at >= MAX_IDS)
        return rapt_fail(err, RAPT_ERR_FORMAT, "token \"%s\" has no sensible id", quote(piece).text);
    if (token_list_at(&m->vocab, at, NULL))
        return rapt_fail(err, RAPT_ERR_FORMAT, "token \"%s\": id %lld is another token's", quote(piece).text, (long long)at);
    return put_piece_and_token(m, (size_t)at, piece) ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
}

/* Our ids of the model's pieces. */
static rapt_code find_ids(marian *m, rapt_error *err)
{
    const token_list *pieces = &m->pieces->pieces;
    m->unknown = token_list_find(&m->vocab, UNKNOWN, strlen(UNKNOWN));
    m->end = token_list_find(&m->vocab, END, strlen(END));
    if (m->unknown < 0 || m->end < 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "there is no %s", m->unknown < 0 ? UNKNOWN : END);
    m->ids = malloc((pieces->size + 1) * sizeof *m->ids);
    if (!m->ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for ids");
    for (size_t i = 0, size = 0; i < pieces->size; i++) {
        const char *piece = token_list_at(pieces, (int64_t)i, &size);
        m->ids[i] = find_vocab_piece(m, piece, size);
    }
    return RAPT_OK;
}

static rapt_code set_languages(marian *m, const char *source, size_t languages, rapt_error *err)
{
    m->languages = languages <= m->vocab.size ? languages : 0;
    m->source = token_list_find(&m->vocab, source, strlen(source));
    if (m->source >= 0 && is_language(m, m->source))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "there is no language \"%s\", which goes before a text", quote(source).text);
}

rapt_tokenizer *marian_new(spm *pieces, const json_t *vocab, const char *source, size_t languages, rapt_error *err)
{
    marian *m = calloc(1, sizeof *m);
    const char *piece;
    json_t *id;
    if (!m) {
        spm_free(pieces);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokenizer");
        return NULL;
    }
    m->base.ops = &MARIAN_OPS;
    m->pieces = pieces;
    m->source = -1;
    rapt_code code = RAPT_OK;
    json_object_foreach((json_t *)vocab, piece, id)
    {
        if ((code = take_vocab_entry(m, piece, id, err)))
            break;
    }
    code = code ? code : find_ids(m, err);
    if (!code && source)
        code = set_languages(m, source, languages, err);
    if (!code)
        return &m->base;
    marian_free(&m->base);
    return NULL;
}

static const tokenizer_ops MARIAN_OPS = {
    RAPT_TOKENIZER_SENTENCEPIECE, marian_free, marian_size, marian_token, marian_special, marian_hash, marian_encode_to,
    encode_run_whole, marian_decode, marian_to_json, .frame = marian_frame,
    .encode_offsets = marian_encode_offsets};
