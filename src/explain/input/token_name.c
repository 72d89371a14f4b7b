/* explain/input/token_name.c: readable names of tokens. A letter may be spread over several tokens: their bytes are written out,
 * so that they can be told apart, instead of one replacement symbol for all. */
#include "explain/input/token_name.h"

#include "base/quote.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_BOX "\xE2\x90\xA3" /* U+2423, written for a space */

static const char *token_names_letter_of(uint32_t code)
{
    switch (code) {
    case ' ': return OPEN_BOX;
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return NULL;
    }
}

/* Writes the name of the first character of `text`; returns the number of bytes that it covers. */
static size_t name_character(const char *text, size_t size, char out[8])
{
    uint32_t code = 0;
    size_t used = utf8_decode(text, size, &code);
    const char *letter = used ? token_names_letter_of(code) : NULL;
    if (letter)
        snprintf(out, 8, "%s", letter);
    else if (!used || quote_is_unsafe(code)) {
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

char *token_name(const rapt_tokenizer *k, int32_t id)
{
    char number[32];
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    snprintf(number, sizeof number, "id %d", (int)id);
    return bytes ? name_bytes(bytes, size) : name_bytes(number, strlen(number));
}
