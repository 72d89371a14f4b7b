/* serve/module/marked_texts.c: documents of requests, as lines to translate and as texts again. */
#include "serve/module/marked_texts.h"

#include "serve/module/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Estimates of bytes: for each byte of a document, and for each tag or reference: its tokens, and what is kept of it. */
enum { DOCUMENT_BYTE = 6, DOCUMENT_TAG = 800 };

void marked_texts_free(marked_texts *m)
{
    for (size_t i = 0; i < m->count; i++)
        rapt_markup_free(m->documents[i]);
    free(m->documents);
    free(m->ignore);
    free(m->splitting);
    free(m->non_splitting);
}

/* ---- fields ---------------------------------------------------------------------------------------------------------------- */

void marked_texts_format(marked_texts *m, size_t format)
{
    m->is_on = format > 0;
    m->options = rapt_markup_options_default();
    m->options.kind = format > 1 ? RAPT_MARKUP_XML : RAPT_MARKUP_HTML;
}

/* A list of names as one text; NULL: there are none. */
static char *read_tag_names(const marked_texts *m, fields *f, const char *name, const char *of)
{
    size_t count, size = 1;
    const char **names = fields_texts(f, name, 0, RAPT_MARKUP_NAMES, &count, NULL);
    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    if (names && !m->is_on)
        fields_fail(f, name, "tags are of markup: with %s html or xml only", of);
    char *list = count > 0 ? calloc(1, size) : NULL, *to = list;
    if (count > 0 && !list)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    for (size_t i = 0; i < count && list; i++)
        to += sprintf(to, "%s%s", i ? "," : "", names[i]);
    free(names);
    return list;
}

void marked_texts_fields(marked_texts *m, fields *f, const char *name)
{
    m->options.ignore = m->ignore = read_tag_names(m, f, "ignore_tags", name);
    m->options.splitting = m->splitting = read_tag_names(m, f, "splitting_tags", name);
    m->options.non_splitting = m->non_splitting = read_tag_names(m, f, "non_splitting_tags", name);
    if (m->is_on)
        m->options.outline = fields_flag(f, "outline_detection", true);
    else
        fields_neutral(f, "outline_detection", "[false, \"0\", \"false\"]");
}

/* ---- documents ------------------------------------------------------------------------------------------------------------- */

static size_t document_bytes(const char *text)
{
    size_t size = 0, tags = 0;
    for (; text[size]; size++)
        tags += text[size] == '<' || text[size] == '&';
    return DOCUMENT_BYTE * (size + 1) + DOCUMENT_TAG * tags;
}

void marked_texts_read(marked_texts *m, exchange *x, const char *const *texts, size_t count, size_t *lines, size_t *bytes,
                       request_error *error)
{
    rapt_error why = {0};
    if (!m->is_on)
        return;
    for (size_t i = 0; i < count; i++)
        m->bytes += document_bytes(texts[i]);
    if (!request_asks(x, ADMISSION_MAKING, m->bytes, error, "the tags of %zu document%s", count, count == 1 ? "" : "s"))
        return;
    if (!(m->documents = calloc(count + 1, sizeof *m->documents))) {
        request_fail(error, 503, NULL, "out of memory for the request");
        return;
    }
    m->count = count;
    for (size_t i = 0; i < count; i++) {
        m->documents[i] = rapt_markup_parse(rapt_text_of(texts[i]), &m->options, &why);
        if (!m->documents[i]) {
            request_fail(error, reply_status(why.code), NULL, "text %zu: %s", i, why.message);
            return;
        }
        *lines += rapt_markup_count(m->documents[i]);
        for (size_t line = 0; line < rapt_markup_count(m->documents[i]); line++)
            *bytes += rapt_markup_lines(m->documents[i])[line].size + 1;
    }
}

json_t *marked_texts_write(const marked_texts *m, size_t i, const rapt_translation *lines, size_t n)
{
    char *text;
    size_t size;
    if (rapt_markup_write(m->documents[i], lines, n, &text, &size, NULL) != RAPT_OK)
        return NULL;
    json_t *string = json_stringn(text, size);
    free(text);
    return string;
}

void marked_texts_replay(replay *r, const marked_texts *m)
{
    const char *const names[] = {"--ignore-tags", "--splitting-tags", "--non-splitting-tags"};
    const char *const lists[] = {m->ignore, m->splitting, m->non_splitting};
    if (!m->is_on)
        return;
    replay_words(r, m->options.kind == RAPT_MARKUP_XML ? " --xml" : " --html");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i])
            replay_text(r, names[i], lists[i], strlen(lists[i]));
    if (!m->options.outline)
        replay_words(r, " --no-outline-detection");
}
