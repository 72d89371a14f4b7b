/* text/spm/spm_decode.c: ids to text, as SentencePieceProcessor::Decode does. For rapt_tokenizer_decode: control pieces have no
 * text, <unk> has the model's text for it, pieces of bytes become characters again, and the space that was put before the text is
 * removed. */
#include "text/spm/spm.h"

#include "text/utf8.h"

#include <stdlib.h>

typedef struct decoding {
    const spm *k;
    buffer text, bytes; /* bytes: bytes of consecutive pieces that are not yet characters */
    bool at_start; /* a space would be the text's first */
} decoding;

/* Each byte that is not part of a character becomes U+FFFD. */
static bool flush_bytes(decoding *d)
{
    bool ok = true;
    uint32_t code;
    for (size_t at = 0, used; ok && at < d->bytes.size; at += used ? used : 1) {
        used = utf8_decode(d->bytes.data + at, d->bytes.size - at, &code);
        ok = used ? buffer_append(&d->text, d->bytes.data + at, used) : buffer_append(&d->text, "\xEF\xBF\xBD", 3);
    }
    d->bytes.size = 0;
    return ok;
}

/* Appends a piece, without its space at the beginning of the text: only for the first piece, or, if spaces are squeezed, for each
 * piece until there is text. */
static bool append_piece(decoding *d, int32_t id, const char *piece, size_t size)
{
    const spm_rules *r = &d->k->rules;
    const size_t space = strlen(SPM_SPACE);
    if (d->at_start && (r->dummy_prefix || r->squeezes) && size >= space && memcmp(piece, SPM_SPACE, space) == 0) {
        piece += space;
        size -= space;
        d->at_start = r->squeezes;
    }
    if (d->k->kinds[id] == SPM_UNKNOWN)
        return buffer_append(&d->text, d->k->unknown_text, d->k->unknown_size);
    return spm_append_text(&d->text, piece, size);
}

static bool append_id(decoding *d, int32_t id)
{
    size_t size;
    const char *piece = token_list_at(&d->k->pieces, id, &size);
    if (!piece)
        return true;
    if (d->k->kinds[id] == SPM_BYTE)
        return buffer_append(&d->bytes, token_list_at(&d->k->tokens, id, NULL), 1);
    if (!flush_bytes(d))
        return false;
    d->at_start = d->at_start && d->text.size == 0;
    return d->k->kinds[id] == SPM_CONTROL || append_piece(d, id, piece, size);
}

/* Applies the rules for decoded text. */
static bool denormalize(const spm *k, buffer *text)
{
    static const piece_trie none = {0};
    buffer out = {0};
    if (!k->has_back)
        return true;
    bool ok = spm_normalize(&k->back, &none, text->data, text->size, &out, NULL);
    buffer_free(text);
    *text = out;
    return ok;
}

char *spm_decode(const rapt_tokenizer *base, const int32_t *ids, size_t count, size_t *size)
{
    decoding d = {.k = spm_of(base), .at_start = true};
    bool ok = buffer_append(&d.text, "", 0);
    for (size_t i = 0; ok && i < count; i++)
        ok = append_id(&d, ids[i]);
    ok = ok && flush_bytes(&d) && denormalize(d.k, &d.text);
    buffer_free(&d.bytes);
    if (ok && size)
        *size = d.text.size;
    if (!ok)
        buffer_free(&d.text);
    return d.text.data;
}
