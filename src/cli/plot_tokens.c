/* cli/plot_tokens.c: texts as tokens that a model knows, and what tokens are called in a picture. For the parts of
 * `rapt plot` that look into models. Not a tokenizer. */
#include "cli/plot.h"

#include "cli/known_words.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- encoding ---------------------------------------------------------------------------------------------- */

static rapt_code check_known(const rapt_tokenizer *k, size_t vocab, const char *what, const char *text,
                             const plot_tokens *t, rapt_error *err)
{
    if (t->count == 0)
        return rapt_fail(err, RAPT_VALUE, "%s is empty", what);
    for (size_t i = 0; i < t->count; i++) {
        if (t->ids[i] < 0 || (size_t)t->ids[i] >= vocab)
            return rapt_fail(err, RAPT_VALUE, "%s: token %zu is %d; the model knows %zu", what, i, (int)t->ids[i], vocab);
    }
    return known_words_check(k, what, text, t->ids, t->count, err);
}

rapt_code plot_encode(const rapt_tokenizer *k, size_t vocab, const char *what, const char *text, bool specials,
                      plot_tokens *t, rapt_error *err)
{
    rapt_error why = {0};
    *t = (plot_tokens){0};
    if (rapt_tokenizer_encode_bytes(k, text, strlen(text), specials, &t->ids, &t->count, &why))
        return rapt_fail(err, why.code, "%s: %s", what, why.message);
    rapt_code code = check_known(k, vocab, what, text, t, err);
    int32_t *longer = code ? NULL : realloc(t->ids, (t->count + 1) * sizeof *longer);
    if (longer)
        t->ids = longer;
    else
        plot_tokens_free(t);
    return longer || code ? code : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for its tokens", what);
}

void plot_tokens_free(plot_tokens *t)
{
    for (size_t i = 0; t->names && i < t->count; i++)
        free(t->names[i]);
    free(t->names);
    free(t->ids);
    *t = (plot_tokens){0};
}

/* ---- names ------------------------------------------------------------------------------------------------- */

#define OPEN_BOX "\xE2\x90\xA3" /* U+2423, which stands for a space */

static const char *letter_of(uint32_t code)
{
    switch (code) {
    case ' ': return OPEN_BOX;
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return NULL;
    }
}

static bool is_control(uint32_t code)
{
    return code < ' ' || (code >= 0x7F && code < 0xA0);
}

/* Writes what stands for the first character of `text`; returns the bytes that are done with. */
static size_t name_character(const char *text, size_t size, char out[8])
{
    uint32_t code = 0;
    size_t used = utf8_decode(text, size, &code);
    const char *letter = used ? letter_of(code) : NULL;
    if (letter)
        snprintf(out, 8, "%s", letter);
    else if (!used || is_control(code)) {
        snprintf(out, 8, "\\x%02x", (unsigned)(unsigned char)*text);
        used = 1;
    } else
        snprintf(out, 8, "%.*s", (int)used, text);
    return used;
}

/* A byte becomes four at most. */
static char *name_bytes(const char *bytes, size_t size)
{
    char *name = malloc(4 * size + 8), *to = name;
    for (size_t at = 0; name && at < size; to += strlen(to))
        at += name_character(bytes + at, size - at, to);
    if (name)
        *to = '\0';
    return name;
}

/* Holes in a vocabulary have an id only. */
static char *name_token(const rapt_tokenizer *k, int32_t id)
{
    char number[32];
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    snprintf(number, sizeof number, "id %d", (int)id);
    return bytes ? name_bytes(bytes, size) : name_bytes(number, strlen(number));
}

rapt_code plot_name_tokens(const rapt_tokenizer *k, plot_tokens *t, rapt_error *err)
{
    t->names = calloc(t->count + 1, sizeof *t->names);
    for (size_t i = 0; i < t->count; i++)
        if (!t->names || !(t->names[i] = name_token(k, t->ids[i])))
            return rapt_fail(err, RAPT_NO_MEMORY, "no memory for the names of %zu tokens", t->count);
    return RAPT_OK;
}
