/* text/words/words_prepare.c: one pass over the bytes; the characters that matter are ASCII or two known sequences. For the words
 * tokenizer. It is not Unicode normalization. */
#include "text/words/words_prepare.h"

#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a no-break space at p; 0: there is none. */
static size_t no_break_space(const char *p)
{
    if (strncmp(p, "\xC2\xA0", 2) == 0)
        return 2;
    return strncmp(p, "\xE2\x80\xAF", 3) == 0 ? 3 : 0;
}

/* Bytes of white space at the beginning of a text; 0: there is none. */
static size_t words_prepare_space(const char *text, size_t size)
{
    if (size > 0 && *text != '\0' && strchr(WORDS_SPACES, *text))
        return 1;
    const size_t length = size > 0 && (unsigned char)*text == 0xC2 ? 2 : 3;
    return length <= size && no_break_space(text) == length ? length : 0;
}

size_t words_prepare_blank(const char *text, size_t size)
{
    size_t at = 0;
    for (size_t used; (used = words_prepare_space(text + at, size - at)) > 0;)
        at += used;
    return at;
}

/* As set_apart does it: , . ! ? begin a word. */
size_t words_prepare_word(const char *text, size_t size)
{
    size_t at = size > 0;
    while (at < size && !words_prepare_space(text + at, size - at) && !strchr(",.!?", text[at]))
        at++;
    return at;
}

static char *set_apart(const char *text)
{
    char *out = malloc(2 * strlen(text) + 1), *to = out;
    for (const char *p = text; out && *p;) {
        size_t space = no_break_space(p);
        if (strchr(",.!?", *p) && to > out && to[-1] != ' ')
            *to++ = ' ';
        *to++ = space ? ' ' : *p;
        p += space ? space : 1;
    }
    if (out)
        *to = '\0';
    return out;
}

char *words_prepare_sentence(const char *text, bool lowercase)
{
    size_t size;
    char *apart = set_apart(text);
    if (!apart || !lowercase)
        return apart;
    char *lower = utf8_lowercase(apart, strlen(apart), &size);
    free(apart);
    return lower;
}
