/* tests/fuzz/fuzz_markup.c: any bytes as a document of HTML or XML, whose lines are translated by their own words in another
 * order. For libFuzzer: tests/fuzz/run.sh. Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "rapt/markup.h"

enum { MOST = 64 };

/* Up to MOST pieces of a line between spaces, last first; each attends to itself, or, if `odd`, to the next. */
static rapt_translation reversed(rapt_text line, bool odd)
{
    rapt_translation t = {.count = 1, .hypotheses = calloc(1, sizeof *t.hypotheses)};
    rapt_hypothesis *h = t.hypotheses;
    require(h != NULL);
    h->text = calloc(1, line.size + 2);
    t.source = calloc(MOST + 1, sizeof *t.source);
    h->tokens = calloc(MOST + 1, sizeof *h->tokens);
    t.source_spans = calloc(MOST + 1, sizeof *t.source_spans);
    h->spans = calloc(MOST + 1, sizeof *h->spans);
    h->alignment.rows = calloc(MOST + 1, sizeof *h->alignment.rows);
    h->alignment.weights = calloc(MOST * (MOST + 1) + 1, sizeof *h->alignment.weights);
    require(h->text && t.source && h->tokens && t.source_spans && h->spans && h->alignment.rows && h->alignment.weights);
    size_t n = 0, size = 0;
    for (size_t at = 0; at < line.size && n < MOST; at++) {
        const size_t begin = at;
        while (at < line.size && line.data[at] != ' ' && line.data[at])
            at++;
        t.source_spans[n++] = (rapt_span){begin, at};
    }
    for (size_t i = 0; i < n; i++) {
        const rapt_span word = t.source_spans[n - 1 - i];
        h->spans[i] = (rapt_span){size, size + word.end - word.begin};
        memcpy(h->text + size, line.data + word.begin, word.end - word.begin);
        size += word.end - word.begin + 1;
        h->text[size - 1] = ' ';
        h->alignment.rows[i] = (rapt_alignment_row){0, n, h->alignment.weights + i * (n + 1)};
        h->alignment.weights[i * (n + 1) + (n - 1 - i + (odd && i % 3 == 0)) % n] = 1;
    }
    h->text[size > 0 ? size - 1 : 0] = '\0';
    t.source_count = h->token_count = h->alignment.targets = h->alignment.sources = n;
    return t;
}

/* How often `<` is in a text. What is text is written as a reference, so tags alone have it. */
static size_t opening(const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '<';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    rapt_markup_options o = rapt_markup_options_default();
    const uint8_t flags = size > 0 ? input[0] : 0;
    o.kind = flags & 1 ? RAPT_MARKUP_XML : RAPT_MARKUP_HTML;
    o.outline = !(flags & 2);
    o.ignore = flags & 4 ? "i,x" : NULL;
    o.splitting = flags & 8 ? "b" : NULL;
    const rapt_text document = {(const char *)input + (size > 0), size - (size > 0)};
    rapt_markup *m = rapt_markup_parse(document, &o, &err);
    require_outcome(m != NULL, &err);
    if (!m)
        return 0;
    const size_t count = rapt_markup_count(m);
    rapt_translation *t = calloc(count + 1, sizeof *t);
    require(t != NULL);
    for (size_t i = 0; i < count; i++) {
        const rapt_text line = rapt_markup_lines(m)[i];
        require(line.size > 0 && line.data[0] != ' ' && line.data[line.size - 1] != ' ' && !line.data[line.size]);
        t[i] = reversed(line, flags & 16);
    }
    char *text;
    size_t written;
    require(rapt_markup_write(m, t, 0, &text, &written, &err) == RAPT_OK);
    require(text[written] == '\0' && opening(text, written) <= opening(document.data, document.size));
    if (count == 0)
        require(written == document.size && memcmp(text, document.data, written) == 0);
    free(text);
    rapt_translations_free(t, count);
    free(t);
    rapt_markup_free(m);
    return 0;
}
