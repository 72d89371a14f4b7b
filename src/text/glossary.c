/* text/glossary.c: glossaries: reads and checks their terms. glossary_match.c finds them in texts. */
#include "text/glossary_core.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "text/text_in.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks --------------------------------------------------------------------------------------------------------- */

static bool glossary_begins_with_space(const char *text, size_t size)
{
    uint32_t code;
    return utf8_decode(text, size, &code) && utf8_is_space(code);
}

static bool glossary_ends_with_space(const char *text, size_t size)
{
    size_t at = size - 1;
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    return glossary_begins_with_space(text + at, size - at);
}

static bool glossary_has_control(const char *text, size_t size)
{
    uint32_t code;
    for (size_t at = 0; at < size; at += utf8_decode(text + at, size - at, &code))
        if (!utf8_decode(text + at, size - at, &code) || code < 0x20 || (code >= 0x7F && code < 0xA0))
            return true;
    return false;
}

/* Why a text cannot be a source or target; NULL: it can. */
static const char *glossary_fault(rapt_text text)
{
    if (text.size == 0)
        return "is empty";
    if (text.size > RAPT_GLOSSARY_TERM_BYTES)
        return "has more than 1,024 bytes";
    if (glossary_has_control(text.data, text.size))
        return "has a control character";
    return glossary_begins_with_space(text.data, text.size) || glossary_ends_with_space(text.data, text.size)
               ? "begins or ends with white space" : NULL;
}

static rapt_code glossary_check_term(const char *name, size_t line, const rapt_glossary_term *t, rapt_error *err)
{
    const char *source = glossary_fault(t->source), *target = source ? NULL : glossary_fault(t->target);
    if (!source && !target)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%.200s:%zu: the %s %s", name, line, source ? "source" : "target",
                     source ? source : target);
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

static rapt_code glossary_add_line(rapt_glossary *g, const char *name, size_t i, rapt_error *err)
{
    char *line = g->lines.line[i], *tab = memchr(line, '\t', g->lines.length[i]);
    const char *end = line + g->lines.length[i];
    if (!tab && utf8_is_blank(line))
        return RAPT_OK;
    if (!tab || memchr(tab + 1, '\t', (size_t)(end - tab) - 1))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.200s:%zu: a line of a glossary is a source, one tab and a target; this one has "
                         "%s", name, i + 1, tab ? "more tabs" : "no tab");
    if (g->count == RAPT_GLOSSARY_TERMS)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.200s:%zu: a glossary has at most %d terms", name, i + 1, RAPT_GLOSSARY_TERMS);
    rapt_glossary_term *t = &g->terms[g->count];
    *tab = '\0';
    *t = (rapt_glossary_term){{line, (size_t)(tab - line)}, {tab + 1, (size_t)(end - tab) - 1}};
    g->line_of[g->count++] = i + 1;
    return glossary_check_term(name, i + 1, t, err);
}

static int glossary_compare(rapt_text a, rapt_text b)
{
    const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* By source, then by line. */
static int glossary_by_source(const void *a, const void *b)
{
    const rapt_glossary_term *x = *(const rapt_glossary_term *const *)a, *y = *(const rapt_glossary_term *const *)b;
    const int order = glossary_compare(x->source, y->source);
    return order ? order : (x > y) - (x < y);
}

/* Names the first line that has the source of an earlier one. */
static rapt_code glossary_sort(rapt_glossary *g, const char *name, rapt_error *err)
{
    const rapt_glossary_term *twice = NULL, *first = NULL;
    for (size_t i = 0; i < g->count; i++)
        g->sorted[i] = &g->terms[i];
    if (g->count > 0)
        qsort(g->sorted, g->count, sizeof *g->sorted, glossary_by_source);
    for (size_t i = 1; i < g->count; i++)
        if (glossary_compare(g->sorted[i - 1]->source, g->sorted[i]->source) == 0 && (!twice || g->sorted[i] < twice)) {
            first = g->sorted[i - 1];
            twice = g->sorted[i];
        }
    return twice ? rapt_fail(err, RAPT_ERR_FORMAT, "%.200s:%zu: line %zu has the source \"%s\" already", name,
                             g->line_of[twice - g->terms], g->line_of[first - g->terms],
                             quote_bytes(twice->source.data, twice->source.size).text) : RAPT_OK;
}

static rapt_code glossary_read_lines(rapt_glossary *g, const char *name, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    const size_t most = g->lines.count < RAPT_GLOSSARY_TERMS ? g->lines.count : RAPT_GLOSSARY_TERMS;
    g->terms = calloc(most + 1, sizeof *g->terms);
    g->sorted = calloc(most + 1, sizeof *g->sorted);
    g->line_of = calloc(most + 1, sizeof *g->line_of);
    if (!g->terms || !g->sorted || !g->line_of)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%.200s: out of memory for a glossary of %zu lines", name, g->lines.count);
    for (size_t i = 0; i < g->lines.count && !code; i++)
        code = glossary_add_line(g, name, i, err);
    if (!code && g->count == 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%.200s: a glossary without a term", name);
    return code ? code : glossary_sort(g, name, err);
}

/* ---- glossaries ------------------------------------------------------------------------------------------------------ */

/* Takes over `data`, as lines_split does. */
static rapt_glossary *glossary_from(const char *name, char *data, size_t size, rapt_error *err)
{
    rapt_glossary *g = calloc(1, sizeof *g);
    if (!g) {
        free(data);
        rapt_fail(err, RAPT_ERR_MEMORY, "%.200s: out of memory for a glossary", name);
        return NULL;
    }
    rapt_code code = lines_split(name, data, size, &g->lines, err);
    code = code ? code : glossary_read_lines(g, name, err);
    if (!code)
        return g;
    rapt_glossary_free(g);
    return NULL;
}

rapt_glossary *rapt_glossary_parse(const char *name, rapt_text text, rapt_error *err)
{
    if (text.size > RAPT_GLOSSARY_BYTES) {
        rapt_fail(err, RAPT_ERR_VALUE, "%.200s: %zu bytes; a glossary has at most %d", name, text.size, RAPT_GLOSSARY_BYTES);
        return NULL;
    }
    char *data = malloc(text.size + 1);
    if (!data) {
        rapt_fail(err, RAPT_ERR_MEMORY, "%.200s: out of memory for a glossary", name);
        return NULL;
    }
    if (text.size > 0)
        memcpy(data, text.data, text.size);
    return glossary_from(name, data, text.size, err);
}

rapt_glossary *rapt_glossary_load(const char *path, rapt_error *err)
{
    char *data;
    size_t size;
    return text_in_read(path, RAPT_GLOSSARY_BYTES, &data, &size, err) ? NULL : glossary_from(path, data, size, err);
}

rapt_glossary *rapt_glossary_new(const char *name, const rapt_glossary_term *terms, size_t count, rapt_error *err)
{
    buffer b = {0};
    rapt_code code = RAPT_OK;
    rapt_glossary *g = NULL;
    for (size_t i = 0; i < count && !code; i++) {
        const rapt_glossary_term *t = &terms[i];
        code = glossary_check_term(name, i + 1, t, err);
        if (!code && (!buffer_append(&b, t->source.data, t->source.size) || !buffer_append(&b, "\t", 1) ||
                      !buffer_append(&b, t->target.data, t->target.size) || !buffer_append(&b, "\n", 1)))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%.200s: out of memory for %zu terms", name, count);
    }
    if (!code)
        g = rapt_glossary_parse(name, (rapt_text){b.data, b.size}, err);
    buffer_free(&b);
    return g;
}

void rapt_glossary_free(rapt_glossary *g)
{
    if (!g)
        return;
    lines_free(&g->lines);
    free(g->terms);
    free(g->sorted);
    free(g->line_of);
    free(g);
}

size_t rapt_glossary_count(const rapt_glossary *g)
{
    return g->count;
}

rapt_glossary_term rapt_glossary_get(const rapt_glossary *g, size_t i)
{
    return g->terms[i];
}
