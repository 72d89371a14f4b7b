/* decode/schema/schema_step.h: an output of a schema byte by byte. Every state can be completed: a byte is taken only if an end
 * can still be reached. */
#ifndef DECODE_SCHEMA_SCHEMA_STEP_H
#define DECODE_SCHEMA_SCHEMA_STEP_H

#include "decode/schema/schema_shape.h"

typedef enum run_phase {
    RUN_VALUE,      /* before a value of `want` */
    RUN_SCALAR,     /* in a value of `now` */
    RUN_FIRST_ITEM, /* after [ */
    RUN_FIRST_KEY,  /* after { */
    RUN_NEXT_KEY,   /* after the comma of an object */
    RUN_KEY,        /* in the key of a slot: keys low .. high - 1 of `texts` have its first `chars` bytes */
    RUN_OTHER_KEY,  /* in another key; keys low .. high - 1, if any, have its first `chars` bytes, too */
    RUN_COLON,      /* after another key */
    RUN_AFTER,      /* after a value in an object or array */
    RUN_DONE
} run_phase;

/* An object or array that is open. */
typedef struct schema_frame {
    const schema_shape *shape;
    size_t at; /* items so far; the first slot whose key may come */
} schema_frame;

/* One way to read the output so far. */
typedef struct schema_run {
    const schema_node *want;
    const schema_shape *now;
    schema_digits digits;
    size_t chars;       /* characters of a string that have begun; bytes, where texts are given */
    uint32_t low, high; /* the given texts or keys that begin so; `low` of a pattern: its state */
    uint8_t phase;
    uint8_t gap;        /* spaces since the value, comma and so on: 0 none; GAP_FULL: no more; else 1 + those after a line feed */
    uint8_t letter;     /* of a string: enum json_char */
    uint8_t depth;      /* of frames */
    schema_frame frames[SCHEMA_DEPTH];
} schema_run;

typedef struct schema_state {
    size_t count;
    size_t work; /* what the last schema_step to it took, in units of a run and a byte */
    schema_run runs[SCHEMA_RUNS];
} schema_state;

void schema_state_begin(schema_state *s, const json_schema *of);
/* out->count 0: the byte cannot follow. */
void schema_step(const schema_state *s, uint8_t byte, schema_state *out);
/* Whether the output may end here, and whether it must. */
bool schema_state_complete(const schema_state *s);
bool schema_state_done(const schema_state *s);
/* The state after `size` bytes, one run after the other, so that what one of them takes never depends on the others. At most
 * SCHEMA_RUNS of the ways to read the output are kept, and SCHEMA_PATTERN_RUNS in patterns; a way that is kept can be completed,
 * so what is dropped only narrows what may follow. out->count 0: the bytes cannot follow. `scratch` [2] is overwritten. */
void schema_advance(const schema_state *s, const char *bytes, size_t size, schema_state *scratch, schema_state *out);
bool schema_runs_equal(const schema_run *a, const schema_run *b);
/* Adds `r`, in which a value has just ended. */
void schema_run_close(const schema_run *r, schema_state *out);
/* Adds what follows another key of `r`. */
void schema_run_colon(const schema_run *r, schema_state *out);

#endif
