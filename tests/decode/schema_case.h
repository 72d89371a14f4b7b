/* tests/decode/schema_case.h: schemas for tests, which are written with ' for ". Not for schemas of files. */
#ifndef TESTS_DECODE_SCHEMA_CASE_H
#define TESTS_DECODE_SCHEMA_CASE_H

#include "decode/schema/constraint.h"

#include <stdlib.h>
#include <string.h>

/* The text as it is meant; to be freed. */
static inline char *schema_text_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    strcpy(copy, text);
    for (char *at = copy; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    return copy;
}

static inline rapt_code schema_case(json_schema *s, const char *text, rapt_error *err)
{
    char *meant = schema_text_of(text);
    rapt_code code = schema_build(s, meant, strlen(meant), SCHEMA_MEMORY, err);
    free(meant);
    return code;
}

static inline rapt_constraint *schema_constraint(const char *text)
{
    rapt_error err = {0};
    char *meant = schema_text_of(text);
    rapt_constraint *c = rapt_constraint_json_schema(meant, strlen(meant), &err);
    free(meant);
    if (!c)
        fail_msg("%s: %s", text, err.message);
    return c;
}

#endif
