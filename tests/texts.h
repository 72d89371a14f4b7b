/* tests/texts.h: strings of a test as texts with sizes, in the block that calls. */
#ifndef TESTS_TEXTS_H
#define TESTS_TEXTS_H

#include "rapt/base.h"

#include <stdlib.h>

enum { TEXTS_MOST = 4096 };

/* A pointer to the text of a string. */
#define TEXT(string) (&(rapt_text){(string), strlen(string)})
/* The texts of `count` strings, at most TEXTS_MOST; NULL strings have none. */
#define TEXTS_OF(strings, count) texts_fill((rapt_text[TEXTS_MOST]){{0}}, strings, count)

static inline const rapt_text *texts_fill(rapt_text *to, const char *const *strings, size_t count)
{
    if (count > TEXTS_MOST)
        abort();
    for (size_t i = 0; i < count; i++)
        to[i] = rapt_text_of(strings[i]);
    return to;
}

#endif
