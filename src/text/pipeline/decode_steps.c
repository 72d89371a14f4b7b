/* text/pipeline/decode_steps.c: a step reads one list of tokens and writes another. */
#include "text/pipeline/decode_steps.h"

#include "base/chars.h"
#include "text/hf/byte_letters.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

void decode_steps_free(decode_steps *d)
{
    for (size_t i = 0; i < d->count; i++) {
        text_pattern_free(&d->list[i].pattern);
        free(d->list[i].text);
    }
    free(d->list);
    *d = (decode_steps){0};
}

/* The number of bytes at `text` that could begin a character, although they do not form one; at least 1. */
static size_t maximal_subpart(const char *text, size_t size)
{
    utf8_scan scan = {0};
    size_t at = 0;
    while (at < size && utf8_scan_byte(&scan, text[at]) && scan.begun > 0)
        at++;
    return at > 0 ? at : 1;
}

bool decode_lossy(buffer *out, const char *bytes, size_t size)
{
    bool ok = true;
    for (size_t at = 0; ok && at < size;) {
        size_t valid = utf8_valid_prefix(bytes + at, size - at);
        ok = buffer_append(out, bytes + at, valid);
        at += valid;
        if (ok && at < size) {
            ok = buffer_append(out, REPLACEMENT, 3);
            at += maximal_subpart(bytes + at, size - at);
        }
    }
    return ok;
}

/* Appends a text with `to` for each `from`. */
static bool append_replaced(buffer *out, const char *text, size_t size, const char *from, const char *to)
{
    size_t length = strlen(from);
    for (const char *found; length > 0 && (found = chars_find(text, size, from, length)) != NULL;) {
        size_t before = (size_t)(found - text);
        if (!buffer_append(out, text, before) || !buffer_append(out, to, strlen(to)))
            return false;
        text += before + length;
        size -= before + length;
    }
    return buffer_append(out, text, size);
}

/* ---- all tokens become one ---------------------------------------------------------------------------------- */

static bool append_letters_or_text(buffer *bytes, const char *token, size_t size)
{
    size_t length;
    if (!buffer_reserve(bytes, size))
        return false;
    if (!byte_letters_read(token, size, bytes->data + bytes->size, &length))
        return buffer_append(bytes, token, size);
    bytes->size += length;
    return true;
}

static bool decode_byte_level(const piece_list *in, piece_list *out)
{
    buffer bytes = {0};
    bool ok = buffer_append(&bytes, "", 0);
    for (size_t i = 0; ok && i < in->count; i++)
        ok = append_letters_or_text(&bytes, piece_list_text(in, i), in->list[i].size);
    ok = ok && decode_lossy(&out->text, bytes.data, bytes.size) && piece_list_mark(out, 0, out->text.size, 0, -1);
    buffer_free(&bytes);
    return ok;
}

static bool decode_fused(const piece_list *in, piece_list *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->count; i++)
        ok = buffer_append(&out->text, piece_list_text(in, i), in->list[i].size);
    return ok && piece_list_mark(out, 0, out->text.size, 0, -1);
}

/* ---- tokens of bytes ---------------------------------------------------------------------------------------- */

static int hexadecimal(char digit)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

/* `tokenizers` also reads a sign before the digit. */
int decode_byte_of(const char *token, size_t size)
{
    if (size != 6 || memcmp(token, "<0x", 3) != 0 || token[5] != '>')
        return -1;
    int high = token[3] == '+' ? 0 : hexadecimal(token[3]), low = hexadecimal(token[4]);
    return high >= 0 && low >= 0 ? 16 * high + low : -1;
}

/* A run of bytes becomes one token if it is UTF-8, otherwise a U+FFFD for each byte. */
static bool put_bytes(const buffer *bytes, piece_list *out)
{
    bool ok = true;
    if (bytes->size == 0 || utf8_valid_prefix(bytes->data, bytes->size) == bytes->size)
        return bytes->size == 0 || piece_list_add(out, bytes->data, NULL, bytes->size, 0, -1);
    for (size_t i = 0; ok && i < bytes->size; i++)
        ok = piece_list_add(out, REPLACEMENT, NULL, 3, 0, -1);
    return ok;
}

static bool decode_byte_fallback(const piece_list *in, piece_list *out)
{
    buffer bytes = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < in->count; i++) {
        const char *token = piece_list_text(in, i);
        int byte = decode_byte_of(token, in->list[i].size);
        if (byte >= 0) {
            ok = buffer_append(&bytes, &(char){(char)byte}, 1);
            continue;
        }
        ok = put_bytes(&bytes, out) && piece_list_add(out, token, NULL, in->list[i].size, 0, -1);
        bytes.size = 0;
    }
    ok = ok && put_bytes(&bytes, out);
    buffer_free(&bytes);
    return ok;
}

/* ---- one token at a time ------------------------------------------------------------------------------------ */

static bool unmark(const decode_step *s, buffer *out, const char *token, size_t size, bool first)
{
    return append_replaced(out, token, size, s->mark, first && !s->keeps_first ? "" : " ");
}

/* As BERT's tokenizer cleans up, one replacement after the other. */
static bool clean_up(buffer *out, size_t from)
{
    static const char *const pairs[][2] = {
        {" .", "."},     {" ?", "?"},     {" !", "!"},           {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
        {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    buffer other = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof pairs / sizeof *pairs; i++) {
        other.size = 0;
        ok = append_replaced(&other, out->data + from, out->size - from, pairs[i][0], pairs[i][1]);
        out->size = ok ? from : out->size;
        ok = ok && buffer_append(out, other.data, other.size);
    }
    buffer_free(&other);
    return ok;
}

static bool join_word_piece(const decode_step *s, buffer *out, const char *token, size_t size, bool first)
{
    size_t from = out->size, prefix = strlen(s->text);
    bool goes_on = size >= prefix && memcmp(token, s->text, prefix) == 0, ok = true;
    if (!first && goes_on) {
        token += prefix;
        size -= prefix;
    } else if (!first) {
        ok = buffer_append(out, " ", 1);
    }
    return ok && buffer_append(out, token, size) && (!s->cleanup || clean_up(out, from));
}

static bool strip_token(const decode_step *s, buffer *out, const char *token, size_t size)
{
    size_t length = strlen(s->mark);
    for (size_t i = 0; i < s->start && size >= length && memcmp(token, s->mark, length) == 0; i++) {
        token += length;
        size -= length;
    }
    for (size_t i = 0; i < s->stop && size >= length && memcmp(token + size - length, s->mark, length) == 0; i++)
        size -= length;
    return buffer_append(out, token, size);
}

static bool decode_token(const decode_step *s, buffer *out, const char *token, size_t size, bool first, bool last)
{
    switch (s->kind) {
    case DECODE_METASPACE: return unmark(s, out, token, size, first);
    case DECODE_WORD_PIECE: return join_word_piece(s, out, token, size, first);
    case DECODE_SUFFIX: return append_replaced(out, token, size, s->text, last ? "" : " ");
    default: return strip_token(s, out, token, size); /* DECODE_STRIP */
    }
}

static bool decode_each(const decode_step *s, const piece_list *in, piece_list *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->count; i++) {
        size_t from = out->text.size;
        ok = decode_token(s, &out->text, piece_list_text(in, i), in->list[i].size, i == 0, i + 1 == in->count) &&
             piece_list_mark(out, from, out->text.size, 0, -1);
    }
    return ok;
}

static rapt_code replace_in_token(text_matcher *m, const char *token, size_t size, const char *to, buffer *out, size_t limit,
                                  rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0, end; at < size && !code; at = end) {
        bool match = false;
        code = text_matcher_next(m, token, size, at, &end, &match, err);
        if (!code && !(match ? buffer_append(out, to, strlen(to)) : buffer_append(out, token + at, end - at)))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
        if (!code && out->size > limit)
            code = text_growth_fail(limit, err);
    }
    return code;
}

static rapt_code decode_replaced(const decode_step *s, const piece_list *in, piece_list *out, size_t limit, rapt_error *err)
{
    text_matcher m;
    rapt_code code = text_matcher_begin(&m, &s->pattern, err);
    for (size_t i = 0; i < in->count && !code; i++) {
        size_t from = out->text.size;
        code = replace_in_token(&m, piece_list_text(in, i), in->list[i].size, s->text, &out->text, limit, err);
        if (!code && !piece_list_mark(out, from, out->text.size, 0, -1))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
    }
    text_matcher_end(&m);
    return code;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static rapt_code run_decode_step(const decode_step *s, const piece_list *in, piece_list *out, size_t limit, rapt_error *err)
{
    bool ok;
    piece_list_clear(out);
    if (!buffer_append(&out->text, "", 0))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
    switch (s->kind) {
    case DECODE_REPLACE: return decode_replaced(s, in, out, limit, err);
    case DECODE_BYTE_LEVEL: ok = decode_byte_level(in, out); break;
    case DECODE_FUSE: ok = decode_fused(in, out); break;
    case DECODE_BYTE_FALLBACK: ok = decode_byte_fallback(in, out); break;
    default: ok = decode_each(s, in, out);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
}

/* Tokens with a space between them. */
static bool space_tokens(const piece_list *in, piece_list *out)
{
    bool ok = buffer_append(&out->text, "", 0);
    for (size_t i = 0; ok && i < in->count; i++)
        ok = buffer_append(&out->text, " ", i > 0) && buffer_append(&out->text, piece_list_text(in, i), in->list[i].size);
    return ok && piece_list_mark(out, 0, out->text.size, 0, -1);
}

static void exchange_lists(piece_list *a, piece_list *b)
{
    piece_list other = *a;
    *a = *b;
    *b = other;
}

rapt_code decode_steps_run(const decode_steps *d, piece_list *tokens, rapt_error *err)
{
    piece_list other = {0};
    rapt_code code = RAPT_OK;
    const size_t limit = text_growth_limit(tokens->text.size);
    if (d->none) {
        code = space_tokens(tokens, &other) ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
        exchange_lists(tokens, &other);
    }
    for (size_t i = 0; i < d->count && !code; i++) {
        code = run_decode_step(&d->list[i], tokens, &other, limit, err);
        exchange_lists(tokens, &other);
    }
    piece_list_free(&other);
    return code;
}
