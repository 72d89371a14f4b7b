/* text/prose/capitalize.c: capitals for translations. */
#include "text/prose/capitalize.h"

#include "text/prose/sentences.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct capitals {
    const char *text;
    size_t size, at; /* the copied part is before `at` */
    char *to;
} capitals;

static void capitalize_copy(capitals *c, size_t until)
{
    memcpy(c->to, c->text + c->at, until - c->at);
    c->to += until - c->at;
    c->at = until;
}

/* Raises the first letter from c->at on, after quotation marks and similar signs. If a digit comes first, nothing is raised: the
 * letter after it does not begin the sentence. */
static void raise_first(capitals *c, size_t end)
{
    uint32_t code = 0;
    for (size_t at = c->at, used; at < end && (used = utf8_decode(c->text + at, end - at, &code)) > 0; at += used) {
        if (!utf8_is_letter(code) && !utf8_is_number(code))
            continue;
        capitalize_copy(c, at);
        c->to += utf8_put(unicode_upper(code), c->to);
        c->at += used;
        return;
    }
}

char *capitalize(const char *text)
{
    capitals c = {.text = text, .size = strlen(text)};
    char *out = c.to = malloc(2 * c.size + 1); /* no capital is longer than 4 bytes for 2 */
    while (out && c.at < c.size) {
        size_t end = sentences_end(text, c.size, c.at, CUT_SMALL);
        raise_first(&c, end);
        capitalize_copy(&c, end);
    }
    if (out)
        *c.to = '\0';
    return out;
}
