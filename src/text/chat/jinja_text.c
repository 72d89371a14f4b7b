/* text/chat/jinja_text.c: methods of Python's str. */
#include "text/chat/jinja_text.h"

#include "base/chars.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

static jinja_value text_part(jinja_value text, size_t from, size_t to)
{
    return jinja_borrow(text.text + from, to - from);
}

static uint32_t text_code(jinja_value text, size_t at, size_t *used)
{
    uint32_t code = 0;
    *used = utf8_decode(text.text + at, text.size - at, &code);
    return code;
}

/* Where the code point that ends at `end` begins. */
static size_t text_code_before(jinja_value text, size_t end)
{
    do
        end--;
    while (end > 0 && ((unsigned char)text.text[end] & 0xC0) == 0x80);
    return end;
}

size_t jinja_text_length(jinja_value text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.text[i] & 0xC0) != 0x80;
    return count;
}

jinja_value jinja_text_at(jinja_value text, int64_t at)
{
    int64_t count = (int64_t)jinja_text_length(text);
    size_t from = 0, used;
    at += at < 0 ? count : 0;
    if (at < 0 || at >= count)
        return JINJA_NOTHING;
    for (int64_t i = 0; i < at; i++) {
        text_code(text, from, &used);
        from += used;
    }
    text_code(text, from, &used);
    return text_part(text, from, from + used);
}

/* ---- searched --------------------------------------------------------------------------------------------------- */

size_t jinja_text_find(jinja_value text, jinja_value part, bool last)
{
    if (part.size > text.size)
        return SIZE_MAX;
    if (part.size == 0)
        return last ? text.size : 0;
    if (!last) {
        const char *found = chars_find(text.text, text.size, part.text, part.size);
        return found ? (size_t)(found - text.text) : SIZE_MAX;
    }
    for (size_t at = text.size - part.size + 1; at-- > 0;)
        if (memcmp(text.text + at, part.text, part.size) == 0)
            return at;
    return SIZE_MAX;
}

bool jinja_text_starts(jinja_value text, jinja_value part)
{
    return part.size <= text.size && (part.size == 0 || memcmp(text.text, part.text, part.size) == 0);
}

bool jinja_text_ends(jinja_value text, jinja_value part)
{
    return part.size <= text.size && (part.size == 0 || memcmp(text.text + text.size - part.size, part.text, part.size) == 0);
}

static bool is_stripped(jinja_value text, size_t at, jinja_value set)
{
    size_t used;
    uint32_t code = text_code(text, at, &used);
    if (set.kind != JINJA_TEXT)
        return utf8_is_space(code);
    for (size_t i = 0, length; i < set.size; i += length)
        if (text_code(set, i, &length) == code)
            return true;
    return false;
}

jinja_value jinja_text_strip(jinja_value text, jinja_value set, bool left, bool right)
{
    size_t from = 0, to = text.size, used;
    for (; left && from < to && is_stripped(text, from, set); from += used)
        text_code(text, from, &used);
    while (right && to > from && is_stripped(text, text_code_before(text, to), set))
        to = text_code_before(text, to);
    return text_part(text, from, to);
}

/* ---- changed ---------------------------------------------------------------------------------------------------- */

/* Letters whose upper or title case is more than one code point (SpecialCasing.txt of Unicode). */
static bool has_long_upper(uint32_t code)
{
    static const uint16_t ranges[][2] = {{0xDF, 0xDF}, {0x149, 0x149}, {0x1F0, 0x1F0}, {0x390, 0x390}, {0x3B0, 0x3B0},
                                         {0x587, 0x587}, {0x1E96, 0x1E9A}, {0x1F50, 0x1F56}, {0x1F80, 0x1FAF}, {0x1FB2, 0x1FB4},
                                         {0x1FB6, 0x1FB7}, {0x1FBC, 0x1FBC}, {0x1FC2, 0x1FC4}, {0x1FC6, 0x1FC7}, {0x1FCC, 0x1FCC},
                                         {0x1FD2, 0x1FD3}, {0x1FD6, 0x1FD7}, {0x1FE2, 0x1FE4}, {0x1FE6, 0x1FE7}, {0x1FF2, 0x1FF4},
                                         {0x1FF6, 0x1FF7}, {0x1FFC, 0x1FFC}, {0xFB00, 0xFB06}, {0xFB13, 0xFB17}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static bool text_is_cased(uint32_t code)
{
    unicode_category c = unicode_category_of(code);
    return c == UNICODE_LU || c == UNICODE_LL || c == UNICODE_LT || unicode_upper(code) != code || unicode_lower(code) != code;
}

/* Whether lower case depends on neighbors (capital sigma) or has two code points (I with a dot). */
static bool has_odd_lower(uint32_t code)
{
    return code == 0x3A3 || code == 0x130;
}

static uint32_t text_cased(jinja_work *w, uint32_t code, bool upper, jinja_case to)
{
    if (upper ? has_long_upper(code) : has_odd_lower(code))
        jinja_fail(w, "the other case of U+%04X is not implemented", (unsigned)code);
    return !upper ? unicode_lower(code) : to == JINJA_UPPER ? unicode_upper(code) : unicode_title(code);
}

static jinja_value text_lower(jinja_work *w, jinja_value text)
{
    buffer b = {0};
    b.data = utf8_lowercase(text.size > 0 ? text.text : "", text.size, &b.size);
    return jinja_take(w, &b, b.data != NULL);
}

jinja_value jinja_text_case(jinja_work *w, jinja_value text, jinja_case to)
{
    buffer b = {0};
    bool begins = true, ok = true;
    if (to == JINJA_LOWER)
        return text_lower(w, text);
    for (size_t at = 0, used; at < text.size && ok && jinja_step(w, 1); at += used) {
        char bytes[4];
        uint32_t code = text_code(text, at, &used);
        bool upper = to == JINJA_UPPER || begins;
        ok = buffer_append(&b, bytes, utf8_put(text_cased(w, code, upper, to), bytes));
        begins = to == JINJA_TITLE && !text_is_cased(code);
    }
    return jinja_take(w, &b, ok);
}

/* An empty `from` is found between all characters, and at both ends. */
static bool replace_between(jinja_value text, jinja_value to, int64_t most, buffer *b)
{
    bool ok = true;
    for (size_t at = 0, used = 0; at <= text.size && ok; at += used ? used : 1) {
        if (most != 0) {
            ok = buffer_append(b, to.text, to.size);
            most -= most > 0;
        }
        used = 0;
        if (at < text.size)
            text_code(text, at, &used);
        ok = ok && buffer_append(b, text.text + at, used) && b->size < JINJA_MOST_OUTPUT;
    }
    return ok;
}

jinja_value jinja_text_replace(jinja_work *w, jinja_value text, jinja_value from, jinja_value to, int64_t most)
{
    buffer b = {0};
    bool ok = true;
    size_t at = 0;
    if (!jinja_step(w, text.size / 16))
        return JINJA_NOTHING;
    if (from.size == 0) {
        ok = replace_between(text, to, most, &b);
        at = text.size;
    }
    while (at < text.size && ok) {
        const char *found = most != 0 ? chars_find(text.text + at, text.size - at, from.text, from.size) : NULL;
        size_t end = found ? (size_t)(found - text.text) : text.size;
        ok = buffer_append(&b, text.text + at, end - at) && (!found || buffer_append(&b, to.text, to.size)) &&
             b.size < JINJA_MOST_OUTPUT;
        at = found ? end + from.size : end;
        most -= most > 0;
    }
    return jinja_take(w, &b, ok);
}

/* ---- split and joined ------------------------------------------------------------------------------------------- */

/* Collects parts of a text as they are found. */
typedef struct text_parts {
    jinja_work *w;
    jinja_value *list; /* malloc'd */
    size_t count, capacity;
} text_parts;

static void parts_put(text_parts *p, jinja_value part)
{
    if (!jinja_step(p->w, 1))
        return;
    if (ARRAY_RESERVE(&p->list, &p->capacity, p->count + 1))
        p->list[p->count++] = part;
    else
        jinja_no_memory(p->w);
}

static jinja_value parts_finish(text_parts *p, bool reversed)
{
    jinja_list *list = jinja_list_new(p->w, JINJA_IS_LIST, p->count);
    for (size_t i = 0; list && i < p->count; i++)
        list->items[reversed ? p->count - 1 - i : i] = p->list[i];
    free(p->list);
    return jinja_row(list);
}

static void split_left(text_parts *p, jinja_value text, jinja_value mark, int64_t most)
{
    for (size_t found; most != 0 && !p->w->code && (found = jinja_text_find(text, mark, false)) != SIZE_MAX; most--) {
        parts_put(p, text_part(text, 0, found));
        text = text_part(text, found + mark.size, text.size);
    }
    parts_put(p, text);
}

static void split_right(text_parts *p, jinja_value text, jinja_value mark, int64_t most)
{
    for (size_t found; most != 0 && !p->w->code && (found = jinja_text_find(text, mark, true)) != SIZE_MAX; most--) {
        parts_put(p, text_part(text, found + mark.size, text.size));
        text = text_part(text, 0, found);
    }
    parts_put(p, text);
}

/* Splits at white space; after the last cut the rest keeps the white space at its end. */
static void split_words(text_parts *p, jinja_value text, int64_t most)
{
    for (text = jinja_text_strip(text, JINJA_NOTHING, true, false); text.size > 0 && !p->w->code; most--) {
        size_t end = 0, used;
        for (; end < text.size && !is_stripped(text, end, JINJA_NOTHING); end += used)
            text_code(text, end, &used);
        end = most == 0 ? text.size : end;
        parts_put(p, text_part(text, 0, end));
        text = jinja_text_strip(text_part(text, end, text.size), JINJA_NOTHING, true, false);
    }
}

static void split_words_right(text_parts *p, jinja_value text, int64_t most)
{
    for (text = jinja_text_strip(text, JINJA_NOTHING, false, true); text.size > 0 && !p->w->code; most--) {
        size_t from = text.size;
        while (from > 0 && !is_stripped(text, text_code_before(text, from), JINJA_NOTHING))
            from = text_code_before(text, from);
        from = most == 0 ? 0 : from;
        parts_put(p, text_part(text, from, text.size));
        text = jinja_text_strip(text_part(text, 0, from), JINJA_NOTHING, false, true);
    }
}

jinja_value jinja_text_split(jinja_work *w, jinja_value text, jinja_value mark, int64_t most, bool from_right)
{
    text_parts p = {.w = w};
    most = most < 0 ? -1 : most;
    if (!jinja_step(w, text.size / 16))
        return JINJA_NOTHING;
    if (mark.kind == JINJA_TEXT)
        (from_right ? split_right : split_left)(&p, text, mark, most);
    else
        (from_right ? split_words_right : split_words)(&p, text, most);
    return parts_finish(&p, from_right);
}

/* Line ends as str.splitlines has them, \r\n being one. */
static bool ends_line(uint32_t code)
{
    return (code >= '\n' && code <= '\r') || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

jinja_value jinja_text_lines(jinja_work *w, jinja_value text)
{
    text_parts p = {.w = w};
    size_t from = 0;
    for (size_t at = 0, used; at < text.size && !w->code; at += used) {
        uint32_t code = text_code(text, at, &used);
        if (!ends_line(code))
            continue;
        parts_put(&p, text_part(text, from, at));
        used += code == '\r' && at + 1 < text.size && text.text[at + 1] == '\n';
        from = at + used;
    }
    if (from < text.size)
        parts_put(&p, text_part(text, from, text.size));
    return parts_finish(&p, false);
}

jinja_value jinja_text_join(jinja_work *w, jinja_value mark, const jinja_list *texts)
{
    buffer b = {0};
    bool ok = true;
    for (size_t i = 0; i < texts->count && ok && jinja_step(w, 1); i++) {
        jinja_value text = texts->items[i];
        if (text.kind != JINJA_TEXT)
            jinja_fail(w, "sequence item %zu: expected str instance, %s found", i, jinja_type(text));
        ok = w->code || ((i == 0 || buffer_append(&b, mark.text, mark.size)) && buffer_append(&b, text.text, text.size) &&
                         b.size < JINJA_MOST_OUTPUT);
    }
    return jinja_take(w, &b, ok);
}
