/* text/pipeline/normal_charsmap.c: Precompiled, SentencePiece's character map as the package `tokenizers` applies it: to each
 * grapheme (UAX #29) of less than 6 bytes, otherwise to each character. The shortest text in the map that is found there is
 * replaced, and the replacement takes the place of the whole grapheme. SentencePiece itself takes the longest, regardless of
 * graphemes.
 *
 * The map, little-endian: u32 bytes of a double array (double_array.h); the array; then replacements in UTF-8, each ended by a
 * NUL. For normal_steps.c. */
#include "base/chars.h"
#include "text/pipeline/normal_steps.h"

#include "text/double_array.h"
#include "text/pipeline/char_classes.h"
#include "text/utf8.h"

#include <string.h>

enum { SHORT_GRAPHEME = 6, UNIT = DOUBLE_ARRAY_UNIT };

bool normal_charsmap_is_sound(const char *map, size_t size)
{
    if (size < UNIT || double_array_u32(map) > size - UNIT || double_array_u32(map) < UNIT)
        return false;
    size_t texts = UNIT + double_array_u32(map) / UNIT * UNIT;
    return utf8_valid_prefix(map + texts, size - texts) == size - texts;
}

/* The replacement of the shortest text in the map with which text[0 .. size) begins, and its size in bytes; NULL: there is
 * none. */
static const char *replacement_of(const normal_step *s, const char *text, size_t size, size_t *length)
{
    const char *units = s->text + UNIT, *texts = units + double_array_u32(s->text) / UNIT * UNIT;
    const size_t count = double_array_u32(s->text) / UNIT, text_size = s->length - (size_t)(texts - s->text);
    size_t at = double_array_offset(double_array_at(units, 0));
    uint32_t unit;
    for (size_t i = 0; i < size && text[i] != '\0' && double_array_step(units, count, &at, text[i], &unit); i++) {
        if (!(unit & DOUBLE_ARRAY_VALUE_BELOW))
            continue;
        size_t from = double_array_at(units, at) & ~DOUBLE_ARRAY_VALUE;
        if (from >= text_size || ((unsigned char)texts[from] & 0xC0) == 0x80)
            return NULL;
        *length = chars_length(texts + from, text_size - from);
        return texts + from;
    }
    return NULL;
}

/* Bytes of the grapheme at `at`; for a long one, whose end does not matter, at least SHORT_GRAPHEME. */
static size_t grapheme_size(const uint8_t *classes, const char *text, size_t size, size_t at)
{
    uint32_t first, code;
    size_t end = at + utf8_decode(text + at, size - at, &first), used;
    if (first == '\r' && end < size && text[end] == '\n')
        return 2;
    if (classes[first] & CHAR_ALONE)
        return end - at;
    while (char_is_prepended(first) && (used = utf8_decode(text + end, size - end, &code)) > 0 &&
           !(classes[code] & CHAR_ALONE)) {
        first = code;
        end += used;
    }
    while ((used = utf8_decode(text + end, size - end, &code)) > 0 && classes[code] & CHAR_ATTACHED)
        end += used;
    return end - at;
}

/* Appends the replacement of text[0 .. size). Its characters come from the text's, one from one, and those that are more from the
 * last. */
static bool append_replacement(normal_text *out, const char *to, size_t length, const char *text, const rapt_span *from,
                               size_t size)
{
    uint32_t code;
    bool ok = from || buffer_append(&out->text, to, length);
    for (size_t i = 0, at = 0, put, used; ok && from && i < length; i += put) {
        put = utf8_decode(to + i, length - i, &code);
        ok = put > 0 && sources_put(&out->text, &out->from, to + i, put, from + at);
        used = utf8_decode(text + at, size - at, &code);
        at += at + used < size ? used : 0;
    }
    return ok;
}

static bool append_characters(normal_text *out, const normal_step *s, const char *text, const rapt_span *from, size_t size)
{
    bool ok = true;
    uint32_t code;
    for (size_t at = 0, used; ok && at < size; at += used) {
        size_t length = used = utf8_decode(text + at, size - at, &code);
        const char *to = replacement_of(s, text + at, used, &length);
        ok = append_replacement(out, to ? to : text + at, to ? length : used, text + at, sources_at(from, at), used);
    }
    return ok;
}

bool normal_charsmap(normal_text *out, const uint8_t *classes, const normal_step *s, const normal_text *in)
{
    const char *text = in->text.data;
    const rapt_span *from = sources_of(&in->from);
    const size_t size = in->text.size;
    bool ok = true;
    for (size_t at = 0, used, length; ok && at < size; at += used) {
        used = grapheme_size(classes, text, size, at);
        const char *to = used < SHORT_GRAPHEME ? replacement_of(s, text + at, used, &length) : NULL;
        ok = to ? append_replacement(out, to, length, text + at, sources_at(from, at), used)
                : append_characters(out, s, text + at, sources_at(from, at), used);
    }
    return ok;
}
