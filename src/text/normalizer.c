/* text/normalizer.c: a step maps stretches of valid UTF-8, one at a time, into a buffer, which the next step reads. For
 * byte-level BPE. */
#define _GNU_SOURCE /* memmem */
#include "text/normalizer.h"

#include "base/buffer.h"
#include "base/rng.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_LEAD = 0xCC }; /* first byte of U+0300; all characters before U+0300 are already composed, and do not compose with
                               each other */
enum { CAPITAL_I_DOT = 0x130 };

/* ---- what a step makes of a stretch ------------------------------------------------------------------------- */

static bool is_dropped(uint32_t code)
{
    return (code >= 0x01 && code <= 0x08) || code == 0x0B || (code >= 0x0E && code <= 0x1F) || code == 0x7F || code == 0x8F ||
           code == 0x9F;
}

static bool separates(uint32_t code)
{
    static const uint32_t single[] = {0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (code == single[i])
            return true;
    return code >= 0x200B && code <= 0x200F;
}

static size_t nmt(uint32_t code, char *out)
{
    return is_dropped(code) ? 0 : utf8_put(separates(code) ? ' ' : code, out);
}

/* Unlike utf8_lowercase, it does not treat the end of a Greek word specially. */
static size_t normalizer_lower(uint32_t code, char *out)
{
    if (code == CAPITAL_I_DOT) {
        memcpy(out, "i\xCC\x87", 3);
        return 3;
    }
    return utf8_put(unicode_lower(code), out);
}

static bool add_mapped(buffer *out, const char *text, size_t size, size_t (*map)(uint32_t code, char *out))
{
    char mapped[4];
    uint32_t code;
    bool ok = true;
    for (size_t at = 0, used; ok && (used = utf8_decode(text + at, size - at, &code)) > 0; at += used)
        ok = buffer_append(out, mapped, map(code, mapped));
    return ok;
}

static bool add_replaced(buffer *out, const char *text, size_t size, const normalizer_step *s)
{
    size_t from = strlen(s->from), to = strlen(s->to);
    for (const char *found; (found = memmem(text, size, s->from, from)) != NULL;) {
        size_t before = (size_t)(found - text);
        if (!buffer_append(out, text, before) || !buffer_append(out, s->to, to))
            return false;
        text += before + from;
        size -= before + from;
    }
    return buffer_append(out, text, size);
}

static bool add_squeezed(buffer *out, const char *text, size_t size)
{
    bool ok = true;
    for (size_t i = 0; ok && i < size; i++)
        ok = (text[i] == ' ' && i > 0 && text[i - 1] == ' ') || buffer_append(out, text + i, 1);
    return ok;
}

static bool add_stretch(buffer *out, const char *text, size_t size, const normalizer_step *s)
{
    switch (s->kind) {
    case NORMALIZER_NFC: return unicode_append_form(out, text, size, UNICODE_NFC);
    case NORMALIZER_NFKC: return unicode_append_form(out, text, size, UNICODE_NFKC);
    case NORMALIZER_NMT: return add_mapped(out, text, size, nmt);
    case NORMALIZER_LOWERCASE: return add_mapped(out, text, size, normalizer_lower);
    case NORMALIZER_REPLACE: return add_replaced(out, text, size, s);
    case NORMALIZER_SQUEEZE: return add_squeezed(out, text, size);
    case NORMALIZER_STRIP: break; /* done for the text, not for stretches */
    }
    return buffer_append(out, text, size);
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

/* As Unicode has it, without the four separators that Python counts. */
static bool is_white(uint32_t code)
{
    return utf8_is_space(code) && (code < 0x1C || code > 0x1F);
}

static bool add_stripped(buffer *out, const char *text, size_t size)
{
    size_t from = size, end = size;
    for (size_t at = 0, used; at < size; at += used) {
        uint32_t code;
        used = utf8_decode(text + at, size - at, &code);
        bool white = used > 0 && is_white(code);
        used = used ? used : 1;
        if (white)
            continue;
        from = from < size ? from : at;
        end = at + used;
    }
    return buffer_append(out, text + from, end - from);
}

static bool run_step(buffer *out, const char *text, size_t size, const normalizer_step *s)
{
    out->size = 0;
    bool ok = buffer_append(out, "", 0);
    if (s->kind == NORMALIZER_STRIP)
        return ok && add_stripped(out, text, size);
    for (size_t at = 0; at < size && ok;) {
        size_t valid = utf8_valid_prefix(text + at, size - at), rest = at + valid < size;
        ok = (valid == 0 || add_stretch(out, text + at, valid, s)) && buffer_append(out, text + at + valid, rest);
        at += valid + rest;
    }
    return ok;
}

/* Most texts are already composed. */
bool normalizer_changes(const normalizer *n, const char *text, size_t size)
{
    if (size == 0)
        return false;
    for (size_t i = 0; i < n->count; i++)
        if (n->steps[i].kind != NORMALIZER_NFC)
            return true;
    for (size_t i = 0; i < size && n->count > 0; i++)
        if ((unsigned char)text[i] >= FIRST_LEAD)
            return true;
    return false;
}

rapt_code normalizer_apply(const normalizer *n, const char *text, size_t size,
                           rapt_code (*take)(void *context, const char *text, size_t size), void *context, rapt_error *err)
{
    buffer parts[2] = {{0}};
    bool ok = true;
    if (!normalizer_changes(n, text, size))
        return take(context, text, size);
    for (size_t i = 0; ok && i < n->count; i++) {
        buffer *out = &parts[i % 2];
        ok = run_step(out, text, size, &n->steps[i]);
        text = out->data;
        size = out->size;
    }
    rapt_code code = ok ? take(context, text, size) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
    free(parts[0].data);
    free(parts[1].data);
    return code;
}

static rapt_code normalizer_take_line(void *context, const char *text, size_t size)
{
    return buffer_append(context, text, size) ? RAPT_OK : RAPT_ERR_MEMORY;
}

rapt_code normalizer_apply_lines(const normalizer *n, const char *text, size_t size, char **out, size_t *out_size,
                                 rapt_error *err)
{
    buffer all = {0};
    bool ok = buffer_append(&all, "", 0);
    for (size_t at = 0; ok && at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        ok = normalizer_apply(n, text + at, length, normalizer_take_line, &all, NULL) == RAPT_OK &&
             buffer_append(&all, "\n", end != NULL);
        at += length + (end != NULL);
    }
    *out = ok ? all.data : NULL;
    *out_size = ok ? all.size : 0;
    if (ok)
        return RAPT_OK;
    free(all.data);
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
}

/* ---- making one --------------------------------------------------------------------------------------------- */

rapt_code normalizer_add(normalizer *n, normalizer_kind kind, const char *from, const char *to, rapt_error *err)
{
    if (!ARRAY_RESERVE(&n->steps, &n->capacity, n->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a normalizer");
    normalizer_step *s = &n->steps[n->count++];
    *s = (normalizer_step){.kind = kind, .from = from ? strdup(from) : NULL, .to = to ? strdup(to) : NULL};
    bool ok = (s->from || !from) && (s->to || !to);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a normalizer");
}

/* Replaces typographic punctuation by a keyboard's. It comes before NFKC, which makes two characters of the acute accent.
 * Guillemets stay: French uses them. */
static rapt_code add_marks(normalizer *n, rapt_error *err)
{
    static const char *const marks[][2] = {
        {"\xC2\xB4", "'"},      {"\xE2\x80\x98", "'"},  {"\xE2\x80\x99", "'"},  {"\xE2\x80\x9A", "'"},  {"\xE2\x80\x9B", "'"},
        {"\xE2\x80\x9C", "\""}, {"\xE2\x80\x9D", "\""}, {"\xE2\x80\x9E", "\""}, {"\xE2\x80\x9F", "\""}, {"\xE2\x80\x90", "-"},
        {"\xE2\x80\x91", "-"},  {"\xE2\x80\x92", "-"},  {"\xE2\x80\x93", "-"},  {"\xE2\x80\x94", "-"},  {"\xE2\x80\x95", "-"},
        {"\xE2\x88\x92", "-"},  {"\xCA\xBC", "'"},      {"\xEF\xB9\x98", "-"},  {"\xEF\xB8\xB1", "-"},  {"\xEF\xB8\xB2", "-"},
    };
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !code; i++)
        code = normalizer_add(n, NORMALIZER_REPLACE, marks[i][0], marks[i][1], err);
    return code;
}

static rapt_code add_plain(normalizer *n, rapt_error *err)
{
    static const normalizer_kind kinds[] = {NORMALIZER_NMT, NORMALIZER_NFKC, NORMALIZER_SQUEEZE, NORMALIZER_STRIP};
    rapt_code code = add_marks(n, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !code; i++)
        code = normalizer_add(n, kinds[i], NULL, NULL, err);
    return code;
}

rapt_code normalizer_add_all(normalizer *n, rapt_normalization which, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (which == RAPT_NORMALIZATION_NFC)
        code = normalizer_add(n, NORMALIZER_NFC, NULL, NULL, err);
    if (which == RAPT_NORMALIZATION_PLAIN || which == RAPT_NORMALIZATION_PLAIN_LOWERCASE)
        code = add_plain(n, err);
    if (which == RAPT_NORMALIZATION_PLAIN_LOWERCASE && !code)
        code = normalizer_add(n, NORMALIZER_LOWERCASE, NULL, NULL, err);
    return code;
}

void normalizer_free(normalizer *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->steps[i].from);
        free(n->steps[i].to);
    }
    free(n->steps);
    *n = (normalizer){0};
}

bool normalizer_lowercases(const normalizer *n)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->steps[i].kind == NORMALIZER_LOWERCASE)
            return true;
    return false;
}

uint64_t normalizer_hash(const normalizer *n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n->count; i++) {
        const normalizer_step *s = &n->steps[i];
        h = s->kind == NORMALIZER_NFC && i == 0 ? NORMALIZER_NFC : rng_mix(h, s->kind); /* NFC alone must hash to 1 */
        if (s->kind == NORMALIZER_REPLACE)
            h = rng_mix(rng_mix(h, rng_hash_text(s->from)), rng_hash_text(s->to));
    }
    return h;
}
