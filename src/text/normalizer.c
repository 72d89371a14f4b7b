/* text/normalizer.c: a step maps stretches of valid UTF-8, one at a time, into a buffer, which the next step reads. For
 * byte-level BPE. */
#include "text/normalizer.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/rng.h"
#include "text/sources.h"
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

/* A text with the places of its bytes, or NULL, and what a step makes of it. */
typedef struct stretch {
    const char *text;
    const rapt_span *from;
    size_t size;
} stretch;

typedef struct normal_out {
    buffer text, from;
} normal_out;

/* Appends bytes `at` .. at + size - 1 of a stretch. */
static bool add_bytes(normal_out *out, const stretch *in, size_t at, size_t size)
{
    return sources_copy(&out->text, &out->from, in->text + at, sources_at(in->from, at), size);
}

static bool add_mapped(normal_out *out, const stretch *in, size_t (*map)(uint32_t code, char *out))
{
    char mapped[4];
    uint32_t code;
    bool ok = true;
    for (size_t at = 0, used; ok && (used = utf8_decode(in->text + at, in->size - at, &code)) > 0; at += used)
        ok = sources_put(&out->text, &out->from, mapped, map(code, mapped), sources_at(in->from, at));
    return ok;
}

/* As in `tokenizers`, what replaces a text has the place of its last character. */
static bool add_replaced(normal_out *out, const stretch *in, const normalizer_step *s)
{
    size_t from = strlen(s->from), to = strlen(s->to), done = 0;
    for (const char *found; (found = chars_find(in->text + done, in->size - done, s->from, from)) != NULL;) {
        size_t at = (size_t)(found - in->text);
        if (!add_bytes(out, in, done, at - done) ||
            !sources_put(&out->text, &out->from, s->to, to, sources_at(in->from, at + from - 1)))
            return false;
        done = at + from;
    }
    return add_bytes(out, in, done, in->size - done);
}

/* The last of several spaces stays. */
static bool add_squeezed(normal_out *out, const stretch *in)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->size; i++)
        ok = (in->text[i] == ' ' && i + 1 < in->size && in->text[i + 1] == ' ') || add_bytes(out, in, i, 1);
    return ok;
}

static bool add_form(normal_out *out, const stretch *in, unicode_form form)
{
    return unicode_append_form_from(&out->text, &out->from, in->text, in->from, in->size, form);
}

static bool add_stretch(normal_out *out, const stretch *in, const normalizer_step *s)
{
    switch (s->kind) {
    case NORMALIZER_NFC: return add_form(out, in, UNICODE_NFC);
    case NORMALIZER_NFKC: return add_form(out, in, UNICODE_NFKC);
    case NORMALIZER_NMT: return add_mapped(out, in, nmt);
    case NORMALIZER_LOWERCASE: return add_mapped(out, in, normalizer_lower);
    case NORMALIZER_REPLACE: return add_replaced(out, in, s);
    case NORMALIZER_SQUEEZE: return add_squeezed(out, in);
    case NORMALIZER_STRIP: break; /* done for the text, not for stretches */
    }
    return add_bytes(out, in, 0, in->size);
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

/* As Unicode has it, without the four separators that Python counts. */
static bool is_white(uint32_t code)
{
    return utf8_is_space(code) && (code < 0x1C || code > 0x1F);
}

static bool add_stripped(normal_out *out, const stretch *in)
{
    size_t size = in->size, from = size, end = size;
    for (size_t at = 0, used; at < size; at += used) {
        uint32_t code;
        used = utf8_decode(in->text + at, size - at, &code);
        bool white = used > 0 && is_white(code);
        used = used ? used : 1;
        if (white)
            continue;
        from = from < size ? from : at;
        end = at + used;
    }
    return add_bytes(out, in, from, end - from);
}

static bool run_step(normal_out *out, const stretch *in, const normalizer_step *s)
{
    out->text.size = out->from.size = 0;
    bool ok = buffer_append(&out->text, "", 0);
    if (s->kind == NORMALIZER_STRIP)
        return ok && add_stripped(out, in);
    for (size_t at = 0; at < in->size && ok;) {
        const size_t valid = utf8_valid_prefix(in->text + at, in->size - at), rest = at + valid < in->size;
        const stretch part = {in->text + at, sources_at(in->from, at), valid};
        ok = (valid == 0 || add_stretch(out, &part, s)) && add_bytes(out, in, at + valid, rest);
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

/* All steps over *in, which becomes the result in one of `parts`. */
static bool run_steps(const normalizer *n, stretch *in, normal_out parts[2])
{
    bool ok = true;
    for (size_t i = 0; ok && i < n->count; i++) {
        normal_out *out = &parts[i % 2];
        ok = run_step(out, in, &n->steps[i]);
        *in = (stretch){out->text.data, sources_of(&out->from), out->text.size};
    }
    return ok;
}

static void free_parts(normal_out parts[2])
{
    for (int i = 0; i < 2; i++) {
        buffer_free(&parts[i].text);
        buffer_free(&parts[i].from);
    }
}

rapt_code normalizer_apply(const normalizer *n, const char *text, size_t size,
                           rapt_code (*take)(void *context, const char *text, size_t size), void *context, rapt_error *err)
{
    normal_out parts[2] = {{{0}, {0}}, {{0}, {0}}};
    stretch normal = {text, NULL, size};
    if (!normalizer_changes(n, text, size))
        return take(context, text, size);
    rapt_code code = run_steps(n, &normal, parts) ? take(context, normal.text, normal.size)
                                                  : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
    free_parts(parts);
    return code;
}

rapt_code normalizer_places(const normalizer *n, const char *text, size_t size, size_t begin, buffer *from, rapt_error *err)
{
    normal_out parts[2] = {{{0}, {0}}, {{0}, {0}}};
    buffer own = {0};
    stretch normal = {text, NULL, size};
    from->size = 0;
    bool ok = sources_begin(&own, text, size, begin);
    normal.from = sources_of(&own);
    if (ok && normalizer_changes(n, text, size))
        ok = run_steps(n, &normal, parts);
    ok = ok && (!normal.from || buffer_append(from, normal.from, normal.size * sizeof *normal.from));
    free_parts(parts);
    buffer_free(&own);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize a text");
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
    *s = (normalizer_step){.kind = kind, .from = from ? chars_copy(from) : NULL, .to = to ? chars_copy(to) : NULL};
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
