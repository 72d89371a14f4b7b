/* decode/schema/schema_facts.h: what the keywords of some schemas, all of which hold, say about a value: for schema_build.c,
 * which makes shapes of it. */
#ifndef DECODE_SCHEMA_SCHEMA_FACTS_H
#define DECODE_SCHEMA_SCHEMA_FACTS_H

#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"

/* The types of a value; a number is an integer or a fraction. */
enum {
    TYPE_NULL = 1, TYPE_BOOLEAN = 2, TYPE_INTEGER = 4, TYPE_FRACTION = 8, TYPE_STRING = 16, TYPE_ARRAY = 32, TYPE_OBJECT = 64,
    TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION, TYPE_ALL = 127
};

enum { FACTS_SCHEMAS = 16, FACTS_LISTS = 4 };

typedef struct schema_facts {
    unsigned types;              /* allowed by "type" */
    unsigned named;              /* types that keywords without "type" are about */
    bool typed;                  /* there is a "type" */
    const json_t *values[FACTS_LISTS]; /* [value_count] lists of "enum", each of which has the value */
    size_t value_count;
    size_t min_length, max_length;
    const char *pattern;         /* or NULL */
    const json_t *pattern_of;    /* the schema that has it */
    double low, high;
    bool above, below;           /* the bounds themselves do not count */
    int64_t multiple;            /* 0: none */
    const json_t *number_of;     /* the last schema with a bound */
    size_t min_items, max_items;
    const json_t *objects[FACTS_SCHEMAS], *arrays[FACTS_SCHEMAS]; /* schemas with keywords of objects, of arrays */
    size_t object_count, array_count;
} schema_facts;

/* Called for each alternative of a value. */
typedef rapt_code schema_facts_fn(void *context, const schema_facts *facts, rapt_error *err);
/* Whether the alternatives of "oneOf" exclude each other. RAPT_OK, or an error. */
typedef rapt_code schema_exclusive_fn(void *context, const json_t *schema, const json_t *list, rapt_error *err);

typedef struct schema_reader {
    schema_work *work;
    schema_facts_fn *each;
    schema_exclusive_fn *exclusive;
    void *context;
} schema_reader;

/* Calls `each` with the facts of every alternative of a value that obeys all of list[count]. RAPT_ERR_VALUE names the place of a
 * keyword that is not supported. */
rapt_code schema_facts_read(schema_reader *r, const json_t *const *list, size_t count, rapt_error *err);

/* The schema that a "$ref" names; NULL with `err` set. */
const json_t *schema_pointer(schema_work *w, const json_t *at, const char *ref, rapt_error *err);

#endif
