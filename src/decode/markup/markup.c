/* decode/markup/markup.c: documents of HTML and XML: rapt_markup_parse. markup_match.c pairs their tags, markup_segments.c cuts
 * them into lines. */
#include "decode/markup/markup_core.h"

#include "base/sized.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

SIZED_ENDS_WITH(rapt_markup_options, reserved);

void rapt_markup_options_init(rapt_markup_options *o, size_t size)
{
    sized_init(o, size, &(rapt_markup_options){.size = sizeof *o, .outline = true}, sizeof *o);
}

static rapt_code markup_take_options(const rapt_markup_options *given, rapt_markup_options *o, rapt_error *err)
{
    *o = rapt_markup_options_default();
    const rapt_code code = sized_take(o, given, o->reserved, sizeof o->reserved, "markup_options", err);
    return !code && (unsigned)o->kind > RAPT_MARKUP_XML
               ? rapt_fail(err, RAPT_ERR_VALUE, "markup: there is no kind number %d", (int)o->kind) : code;
}

static rapt_code markup_read(rapt_markup *m, rapt_text document, const rapt_markup_options *o, rapt_error *err)
{
    markup_tokens tokens = {0};
    if (document.size > RAPT_MARKUP_BYTES)
        return rapt_fail(err, RAPT_ERR_VALUE, "the document has %zu bytes, more than %d", document.size, RAPT_MARKUP_BYTES);
    const size_t valid = utf8_valid_prefix(document.size > 0 ? document.data : "", document.size);
    if (valid < document.size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "byte %zu of the document is not UTF-8", valid);
    if (!(m->text = malloc(document.size + 1)) || !buffer_reserve(&m->plain, 1) ||
        !ARRAY_RESERVE(&m->items, &m->item_capacity, 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a document of %zu bytes", document.size);
    if (document.size > 0)
        memcpy(m->text, document.data, document.size);
    m->size = document.size;
    m->xml = o->kind == RAPT_MARKUP_XML;
    rapt_code code = markup_match(m, o, &tokens, err);
    code = code ? code : markup_cut(m, &tokens, err);
    free(tokens.list);
    return code;
}

rapt_markup *rapt_markup_parse(rapt_text document, const rapt_markup_options *options, rapt_error *err)
{
    rapt_markup_options o;
    rapt_markup *m = NULL;
    if (markup_take_options(options, &o, err) != RAPT_OK)
        return NULL;
    if (!(m = calloc(1, sizeof *m)))
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a document of %zu bytes", document.size);
    else if (markup_read(m, document, &o, err) != RAPT_OK) {
        rapt_markup_free(m);
        m = NULL;
    }
    return m;
}

void rapt_markup_free(rapt_markup *m)
{
    if (!m)
        return;
    free(m->text);
    free(m->segments);
    free(m->lines);
    free(m->items);
    buffer_free(&m->plain);
    free(m);
}

size_t rapt_markup_count(const rapt_markup *m)
{
    return m->count;
}

const rapt_text *rapt_markup_lines(const rapt_markup *m)
{
    return m->lines;
}

size_t rapt_markup_begin(const rapt_markup *m, size_t line)
{
    return m->segments[line].head;
}
