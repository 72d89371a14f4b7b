/* decode/schema/schema_work.h: what reading a schema may cost: steps, charged before they are done, and memory of the result. A
 * step takes some nanoseconds, so that reading ends within a fraction of a second whatever a schema says. */
#ifndef DECODE_SCHEMA_SCHEMA_WORK_H
#define DECODE_SCHEMA_SCHEMA_WORK_H

#include "base/arena.h"
#include "rapt/base.h"

#include <jansson.h>

enum { SCHEMA_STEPS = 1 << 24 };

/* Steps of what costs more than one: an object of the C library is made, a text is written, facts are copied. */
enum { STEPS_KEY = 64, STEPS_TEXT = 32, STEPS_FOLD = 32, STEPS_KEYWORD = 8 };
enum { STEPS_COMPARED = 64 }; /* bytes that are compared in one step */

typedef struct schema_work {
    const json_t *root; /* the schema, for messages */
    arena *memory;      /* of the result */
    size_t max_memory;  /* in bytes */
    size_t left;        /* steps */
} schema_work;

/* False: there are not as many left; then none is. */
bool schema_pay(schema_work *w, size_t steps);
/* schema_pay with a message that names `at`, a part of the schema: RAPT_OK or RAPT_ERR_VALUE. */
rapt_code schema_charge(schema_work *w, const json_t *at, size_t steps, rapt_error *err);
/* An array in the result's memory. NULL with `err` set: RAPT_ERR_VALUE: more than max_memory in all; RAPT_ERR_MEMORY. */
void *schema_alloc(schema_work *w, size_t count, size_t size, rapt_error *err);
/* RAPT_ERR_MEMORY with its message. */
rapt_code schema_no_memory(rapt_error *err);

/* RAPT_ERR_VALUE: `at`, a part of the schema, is named as a JSON pointer before the message. */
RAPT_PRINTF(4, 5)
rapt_code schema_refuse(const schema_work *w, const json_t *at, rapt_error *err, const char *format, ...);

#endif
