/* decode/schema/schema_pattern.h: regular expressions as automata. For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_PATTERN_H
#define DECODE_SCHEMA_SCHEMA_PATTERN_H

#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"

/* The automata of a schema's patterns, each made once. Starts as {.work}; `list` is the owner's to free. */
typedef struct pattern_list {
    schema_work *work;
    struct made_pattern {
        const char *pattern;
        const schema_dfa *dfa;
    } *list; /* [count] */
    size_t count, capacity, states; /* states: sum over the list */
} pattern_list;

/* `at` is the schema that has the pattern, which stays as long as the list. NULL with `err` set: RAPT_ERR_VALUE: not supported,
 * or too large; RAPT_ERR_MEMORY. */
const schema_dfa *pattern_list_find(pattern_list *l, const char *pattern, const json_t *at, rapt_error *err);

#endif
