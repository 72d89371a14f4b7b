/* text/glossary_match.c: finds the terms of a glossary in a text, as rapt/glossary.h says. */
#include "text/glossary_core.h"

#include "text/prose/word_boundary.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

/* ---- terms ------------------------------------------------------------------------------------------------------------ */

/* A text that begins with other bytes: head[head_size], then the rest of text. */
typedef struct glossary_text {
    rapt_text text;
    size_t at, head_size, replaced; /* the head stands for `replaced` bytes at `at` */
    char head[4];
} glossary_text;

static int glossary_byte(const glossary_text *t, size_t i)
{
    if (i < t->head_size)
        return (unsigned char)t->head[i];
    const size_t at = t->at + t->replaced + i - t->head_size;
    return at < t->text.size ? (unsigned char)t->text.data[at] : -1;
}

/* The first of sorted[from .. end - 1] whose byte i is `byte` or more; all of them have i bytes in common. A source that has no
 * byte i comes first. */
static size_t glossary_narrow(const rapt_glossary *g, size_t from, size_t end, size_t i, int byte)
{
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        const rapt_text source = g->sorted[middle]->source;
        if (i < source.size && (unsigned char)source.data[i] >= byte)
            end = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* The longest term that the text begins with and ends at a boundary of; NULL: none. Reads no more of the text than the sources
 * have bytes. */
static const rapt_glossary_term *glossary_longest(const rapt_glossary *g, const glossary_text *t, size_t *end)
{
    const rapt_glossary_term *longest = NULL;
    size_t from = 0, to = g->count;
    for (size_t i = 0; from < to; i++) {
        const size_t place = t->at + (i < t->head_size ? 0 : t->replaced + i - t->head_size);
        if (g->sorted[from]->source.size == i && i >= t->head_size && word_boundary_is(t->text, place)) {
            longest = g->sorted[from];
            *end = place;
        }
        const int byte = glossary_byte(t, i);
        if (byte < 0)
            break;
        from = glossary_narrow(g, from, to, i, byte);
        to = glossary_narrow(g, from, to, i, byte + 1);
    }
    return longest;
}

/* The longest term at a place; of two that are as long, the one that has the text's letter case. */
static bool glossary_find_at(const rapt_glossary *g, rapt_text text, size_t at, glossary_match *m)
{
    uint32_t code;
    glossary_text t = {.text = text, .at = at};
    size_t end = 0;
    *m = (glossary_match){.term = glossary_longest(g, &t, &end), .from = at};
    m->end = m->term ? end : at;
    t.replaced = utf8_decode(text.data + at, text.size - at, &code);
    if (t.replaced && unicode_lower(code) != code) {
        t.head_size = utf8_put(unicode_lower(code), t.head);
        const rapt_glossary_term *other = glossary_longest(g, &t, &end);
        if (other && end > m->end)
            *m = (glossary_match){other, at, end, true};
    }
    return m->term != NULL;
}

bool glossary_find(const rapt_glossary *g, rapt_text text, size_t from, glossary_match *m)
{
    uint32_t code;
    while (from < text.size) {
        if (word_boundary_is(text, from) && glossary_find_at(g, text, from, m))
            return true;
        const size_t size = utf8_decode(text.data + from, text.size - from, &code);
        from += size ? size : 1;
    }
    return false;
}
