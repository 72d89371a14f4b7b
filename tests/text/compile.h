/* tests/text/compile.h: a pattern that is right, for the tests of src/text/split/split.c. To be included after cmocka.h. */
#ifndef TESTS_TEXT_COMPILE_H
#define TESTS_TEXT_COMPILE_H

#include "text/split/split.h"

static inline split *compile(const char *pattern)
{
    rapt_error err = {0};
    split *s = split_new(pattern, &err);
    if (!s)
        fail_msg("%s", err.message);
    return s;
}

#endif
