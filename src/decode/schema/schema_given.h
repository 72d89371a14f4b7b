/* decode/schema/schema_given.h: values that a schema lists, by "enum" and "const", as their JSON. Each list is written once,
 * however many alternatives have it. For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_GIVEN_H
#define DECODE_SCHEMA_SCHEMA_GIVEN_H

#include "decode/schema/schema_facts.h"

/* A value of a list. */
typedef struct given_value {
    schema_text text;
    const json_t *value;
} given_value;

/* A list, in order of the texts. */
typedef struct given_list {
    const json_t *list;
    given_value *values; /* [count] */
    size_t count;
} given_list;

/* Starts as {.work}. */
typedef struct given_lists {
    schema_work *work;
    given_list *lists; /* [count] */
    size_t count, capacity;
    schema_text *texts; /* [text_count] of the value whose shapes are being made */
    size_t text_count, text_capacity;
} given_lists;

void given_lists_free(given_lists *g);

/* Adds the values that "enum" and "const" leave to `texts`. `pattern`: there is a pattern or format. RAPT_ERR_VALUE: they stand
 * beside keywords against which they are not checked, or cost too much. RAPT_ERR_MEMORY. */
rapt_code given_add_values(given_lists *g, const schema_facts *f, bool pattern, rapt_error *err);
/* Adds null, true and false, as far as `types` has them. */
rapt_code given_add_words(given_lists *g, unsigned types, rapt_error *err);
/* Makes one shape of `texts`, which is empty then; out->count 0: there is none. */
rapt_code given_take(given_lists *g, schema_shape *out, rapt_error *err);

/* By bytes, as qsort has it. */
int schema_text_order(const schema_text *p, const schema_text *q);
/* The JSON of a value of a schema_document_read, with the keys of objects in order, so that equal values have equal texts. With
 * `after`, it is a text, without the first quotation mark and with `after` behind it. Errors as in schema_alloc; `out->bytes` is
 * NULL then. */
rapt_code schema_json(schema_work *w, const json_t *value, const char *after, schema_text *out, rapt_error *err);

#endif
