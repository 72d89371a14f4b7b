/* tests/decode/markup_case.h: translations of lines that a test writes down, for the tests of markup. It checks nothing but
 * that its own steps succeed. */
#ifndef TESTS_DECODE_MARKUP_CASE_H
#define TESTS_DECODE_MARKUP_CASE_H

#include "rapt/markup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_TOKENS = 4096 };

typedef struct case_tokens {
    rapt_span span[CASE_TOKENS];
    size_t count;
} case_tokens;

static inline bool case_is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Words, and each other character by itself. */
static inline void case_cut(rapt_text text, case_tokens *out)
{
    out->count = 0;
    for (size_t i = 0; i < text.size;) {
        size_t end = i + 1;
        while (case_is_word(text.data[i]) && end < text.size && case_is_word(text.data[end]))
            end++;
        if (text.data[i] != ' ')
            out->span[out->count++] = (rapt_span){i, end};
        i = end;
        assert_true(out->count < CASE_TOKENS);
    }
}

/* A translation of one hypothesis, whose target token i attends to source token from[i] alone; SIZE_MAX: to <eos>. The arrays are
 * copied. */
static inline rapt_translation case_translation(const char *text, const case_tokens *source, const case_tokens *target,
                                                const size_t *from)
{
    const size_t n = target->count, width = source->count + 1;
    rapt_translation t = {.count = 1, .hypotheses = calloc(1, sizeof(rapt_hypothesis)), .source_count = source->count};
    rapt_hypothesis *h = t.hypotheses;
    t.source = calloc(source->count + 1, sizeof *t.source);
    t.source_spans = malloc((source->count + 1) * sizeof *t.source_spans);
    memcpy(t.source_spans, source->span, source->count * sizeof *t.source_spans);
    *h = (rapt_hypothesis){.text = malloc(strlen(text) + 1), .token_count = n, .tokens = calloc(n + 1, sizeof(int32_t)),
                           .log_probs = calloc(n + 1, sizeof(double)), .spans = malloc((n + 1) * sizeof(rapt_span))};
    strcpy(h->text, text);
    memcpy(h->spans, target->span, n * sizeof *h->spans);
    h->alignment = (rapt_alignment){n, source->count, malloc((n + 1) * sizeof(rapt_alignment_row)),
                                    calloc(n * width + 1, sizeof(rapt_real))};
    for (size_t i = 0; i < n; i++) {
        rapt_real *row = h->alignment.weights + i * width;
        h->alignment.rows[i] = (rapt_alignment_row){0, source->count, row};
        row[from[i] == SIZE_MAX ? source->count : from[i]] = 1;
    }
    return t;
}

/* The line itself as its translation. */
static inline rapt_translation case_copy(rapt_text line)
{
    static case_tokens tokens;
    static size_t from[CASE_TOKENS];
    char *text = calloc(1, line.size + 1);
    memcpy(text, line.data, line.size);
    case_cut(line, &tokens);
    for (size_t i = 0; i < tokens.count; i++)
        from[i] = i;
    const rapt_translation t = case_translation(text, &tokens, &tokens, from);
    free(text);
    return t;
}

/* A translation written as "le=0 chat=2 noir=1 +.=3": words with the number of the source token that they attend to, or none for
 * <eos>; 2/1: less to token 1, too; + joins without a space. */
static inline rapt_translation case_written(rapt_text line, const char *spec)
{
    static case_tokens source, target;
    static size_t from[CASE_TOKENS], less[CASE_TOKENS];
    char text[4096] = "", word[64];
    int used;
    case_cut(line, &source);
    target.count = 0;
    for (; sscanf(spec, " %63s%n", word, &used) == 1; spec += used) {
        char *number = strrchr(word, '=');
        const bool joins = word[0] == '+' && word[1];
        const char *second = number && number > word ? strchr(number, '/') : NULL;
        from[target.count] = number && number > word ? (size_t)atoi(number + 1) : SIZE_MAX;
        less[target.count] = second ? (size_t)atoi(second + 1) : SIZE_MAX;
        if (number && number > word)
            *number = '\0';
        if (*text && !joins)
            strcat(text, " ");
        const size_t begin = strlen(text);
        strcat(text, word + joins);
        target.span[target.count++] = (rapt_span){begin, strlen(text)};
    }
    const rapt_translation t = case_translation(text, &source, &target, from);
    for (size_t i = 0; i < target.count; i++)
        if (less[i] != SIZE_MAX)
            t.hypotheses->alignment.weights[i * (source.count + 1) + less[i]] = (rapt_real)0.4;
    return t;
}

/* The document with translations, to be freed. */
static inline char *case_write(const rapt_markup *m, const rapt_translation *t)
{
    rapt_error err = {0};
    char *text;
    size_t size;
    if (rapt_markup_write(m, t, 0, &text, &size, &err))
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), size);
    return text;
}

static inline rapt_markup *case_parse(const char *document, const rapt_markup_options *o)
{
    rapt_error err = {0};
    rapt_markup *m = rapt_markup_parse(rapt_text_of(document), o, &err);
    if (!m)
        fail_msg("%s: %s", document, err.message);
    return m;
}

/* The document with each line as its own translation. */
static inline char *case_identity(const char *document, const rapt_markup_options *o)
{
    rapt_markup *m = case_parse(document, o);
    const size_t count = rapt_markup_count(m);
    rapt_translation *t = calloc(count + 1, sizeof *t);
    for (size_t i = 0; i < count; i++)
        t[i] = case_copy(rapt_markup_lines(m)[i]);
    char *text = case_write(m, t);
    rapt_translations_free(t, count);
    free(t);
    rapt_markup_free(m);
    return text;
}

#endif
