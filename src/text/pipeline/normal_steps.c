/* text/pipeline/normal_steps.c: a step reads one text and writes another; most look at one character at a time. */
#include "text/pipeline/normal_steps.h"

#include "text/hf/byte_letters.h"
#include "text/pipeline/char_classes.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { MAPPED = 16 }; /* bytes that one character can become */

void normal_steps_free(normal_steps *n)
{
    for (size_t i = 0; i < n->count; i++) {
        text_pattern_free(&n->list[i].pattern);
        free(n->list[i].text);
    }
    free(n->list);
    *n = (normal_steps){0};
}

/* ---- one character at a time -------------------------------------------------------------------------------- */

static bool nmt_drops(uint32_t code)
{
    return (code >= 0x01 && code <= 0x08) || code == 0x0B || (code >= 0x0E && code <= 0x1F) || code == 0x7F || code == 0x8F ||
           code == 0x9F;
}

static bool nmt_separates(uint32_t code)
{
    static const uint32_t single[] = {0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (code == single[i])
            return true;
    return code >= 0x200B && code <= 0x200F;
}

static size_t bert_clean(uint32_t code, unsigned class, char *out)
{
    bool line = code == '\t' || code == '\n' || code == '\r';
    if (code == 0 || code == 0xFFFD || (!line && class & CHAR_CONTROL))
        return 0;
    return utf8_put(line || char_is_white(code) ? ' ' : code, out);
}

static size_t spaces_about(uint32_t code, char *out)
{
    if (!char_is_chinese(code))
        return utf8_put(code, out);
    out[0] = ' ';
    size_t size = 1 + utf8_put(code, out + 1);
    out[size] = ' ';
    return size + 1;
}

/* The places of a text from byte `at` on; NULL: nobody asked. */
static const rapt_span *normal_from(const normal_text *in, size_t at)
{
    return sources_at(sources_of(&in->from), at);
}

/* Bytes of `out` that the character becomes. */
static size_t map_character(normal_kind kind, uint32_t code, unsigned class, char out[MAPPED])
{
    char bytes[4];
    switch (kind) {
    case NORMAL_LOWERCASE: return char_lower(code, out);
    case NORMAL_NMT: return nmt_drops(code) ? 0 : utf8_put(nmt_separates(code) ? ' ' : code, out);
    case NORMAL_STRIP_ACCENTS: return class & CHAR_COMBINING ? 0 : utf8_put(code, out);
    case NORMAL_BERT_ACCENTS: return class & CHAR_NONSPACING ? 0 : utf8_put(code, out);
    case NORMAL_BERT_CLEAN: return bert_clean(code, class, out);
    case NORMAL_BERT_CHINESE: return spaces_about(code, out);
    default: return byte_letters_write(bytes, utf8_put(code, bytes), out); /* NORMAL_BYTE_LEVEL */
    }
}

static bool map_text(const normal_step *s, const uint8_t *classes, const normal_text *in, normal_text *out)
{
    const char *text = in->text.data;
    char mapped[MAPPED];
    uint32_t code;
    bool ok = true;
    for (size_t at = 0, used; ok && (used = utf8_decode(text + at, in->text.size - at, &code)) > 0; at += used) {
        const size_t size = map_character(s->kind, code, classes[code], mapped);
        ok = sources_put(&out->text, &out->from, mapped, size, normal_from(in, at));
        if (at < in->first_bytes)
            out->first_bytes = out->text.size;
    }
    return ok;
}

/* ---- whole texts -------------------------------------------------------------------------------------------- */

static bool form_text(unicode_form form, const normal_text *in, normal_text *out)
{
    bool ok = unicode_append_form(&out->text, in->text.data, in->first_bytes, form);
    out->first_bytes = out->text.size;
    out->text.size = 0;
    return ok && unicode_append_form_from(&out->text, &out->from, in->text.data, normal_from(in, 0), in->text.size, form);
}

/* If the first characters are removed, the next ones count as first. */
static bool map_precompiled(const normal_step *s, const uint8_t *classes, const normal_text *in, normal_text *out)
{
    uint32_t code;
    bool ok = normal_charsmap(out, classes, s, in);
    out->first_bytes = ok && in->first_bytes > 0 ? utf8_decode(out->text.data, out->text.size, &code) : 0;
    return ok;
}

static rapt_code replace_text(const normal_step *s, const normal_text *in, normal_text *out, size_t limit, rapt_error *err)
{
    text_matcher m;
    rapt_code code = text_matcher_begin(&m, &s->pattern, err);
    for (size_t at = 0, end; at < in->text.size && !code; at = end) {
        bool match = false, ok;
        code = text_matcher_next(&m, in->text.data, in->text.size, at, &end, &match, err);
        if (code)
            break;
        size_t first = at < in->first_bytes ? out->text.size + (in->first_bytes < end ? in->first_bytes : end) - at : 0;
        ok = match ? sources_put(&out->text, &out->from, s->text, strlen(s->text), normal_from(in, end - 1))
                   : sources_copy(&out->text, &out->from, in->text.data + at, normal_from(in, at), end - at);
        if (at < in->first_bytes) /* a match counts by its last byte */
            out->first_bytes = !match ? first : end <= in->first_bytes ? out->text.size : out->first_bytes;
        code = !ok ? rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text")
                   : out->text.size > limit ? text_growth_fail(limit, err) : RAPT_OK;
    }
    text_matcher_end(&m);
    return code;
}

static bool prepend_text(const normal_step *s, const normal_text *in, normal_text *out)
{
    size_t more = in->text.size > 0 ? strlen(s->text) : 0;
    out->first_bytes = in->first_bytes > 0 ? in->first_bytes + more : 0;
    return sources_put(&out->text, &out->from, s->text, more, normal_from(in, 0)) &&
           sources_copy(&out->text, &out->from, in->text.data, normal_from(in, 0), in->text.size);
}

static bool strip_text(const normal_step *s, const normal_text *in, normal_text *out)
{
    const char *text = in->text.data;
    size_t size = in->text.size, begin = 0, end = 0, used;
    uint32_t code;
    while (s->left && (used = utf8_decode(text + begin, size - begin, &code)) > 0 && char_is_white(code))
        begin += used;
    for (size_t at = begin; (used = utf8_decode(text + at, size - at, &code)) > 0; at += used)
        if (!s->right || !char_is_white(code))
            end = at + used;
    end = end > begin ? end : begin;
    size_t first = in->first_bytes < end ? in->first_bytes : end;
    out->first_bytes = first > begin ? first - begin : 0;
    return sources_copy(&out->text, &out->from, text + begin, normal_from(in, begin), end - begin);
}

static rapt_code run_normal_step(const normal_step *s, const uint8_t *classes, const normal_text *in, normal_text *out,
                                 size_t limit, rapt_error *err)
{
    bool ok;
    out->text.size = out->from.size = out->first_bytes = 0;
    switch (s->kind) {
    case NORMAL_NFC: ok = form_text(UNICODE_NFC, in, out); break;
    case NORMAL_NFD: ok = form_text(UNICODE_NFD, in, out); break;
    case NORMAL_NFKC: ok = form_text(UNICODE_NFKC, in, out); break;
    case NORMAL_NFKD: ok = form_text(UNICODE_NFKD, in, out); break;
    case NORMAL_PRECOMPILED: ok = map_precompiled(s, classes, in, out); break;
    case NORMAL_REPLACE: return replace_text(s, in, out, limit, err);
    case NORMAL_PREPEND: ok = prepend_text(s, in, out); break;
    case NORMAL_STRIP: ok = strip_text(s, in, out); break;
    default: ok = map_text(s, classes, in, out);
    }
    if (ok)
        return out->text.size > limit ? text_growth_fail(limit, err) : RAPT_OK;
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
}

rapt_code normal_steps_run(const normal_steps *n, const uint8_t *classes, const char *text, const rapt_span *from, size_t size,
                           size_t first_bytes, normal_text *out, rapt_error *err)
{
    normal_text other = {0};
    out->text.size = out->from.size = 0;
    out->first_bytes = first_bytes;
    bool ok = sources_copy(&out->text, &out->from, text, from, size) && buffer_append(&other.text, "", 0);
    rapt_code code = ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
    for (size_t i = 0; i < n->count && !code; i++) {
        code = run_normal_step(&n->list[i], classes, out, &other, text_growth_limit(size), err);
        normal_text done = other;
        other = *out;
        *out = done;
    }
    normal_text_free(&other);
    return code;
}
