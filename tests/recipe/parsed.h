/* tests/recipe/parsed.h: a recipe from a text, for the tests of recipes. To be included after cmocka.h. */
#ifndef TESTS_TRAIN_PARSED_H
#define TESTS_TRAIN_PARSED_H

#include "recipe/recipe_read.h"

#include <string.h>

static inline rapt_recipe parsed(const char *text)
{
    rapt_recipe r;
    rapt_error err = {0};
    recipe_parse("r.yaml", text, strlen(text), false, &r, &err);
    assert_string_equal(err.message, "");
    return r;
}

#endif
