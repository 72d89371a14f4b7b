/* decode/schema/schema_shape.h: a schema as an automaton: values as nodes, whose alternatives are shapes. Made by schema_build.c,
 * run by schema_step.c. Nobody changes it in between, but for tables of tokens. */
#ifndef DECODE_SCHEMA_SCHEMA_SHAPE_H
#define DECODE_SCHEMA_SCHEMA_SHAPE_H

#include "base/arena.h"
#include "rapt/base.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCHEMA_DEPTH = 32,          /* objects and arrays within each other in an output */
    SCHEMA_NEVER = 1 << 20,     /* height of a value that nothing satisfies */
    SCHEMA_DIGITS = 16,         /* of a number without bounds, before and after the point each */
    SCHEMA_MAX_BYTES = 1 << 18, /* of a schema's text */
    SCHEMA_MEMORY = 64 << 20,   /* of the automaton, in bytes */
    SCHEMA_MAX_NODES = 4096,
    SCHEMA_RUNS = 64,           /* alternatives of one value: anyOf and the like, multiplied; ways to read an output at once */
    SCHEMA_PATTERN_RUNS = 8,    /* of them, in strings with a pattern */
    SCHEMA_MAX_STATES = 8192,   /* of all patterns together */
    SCHEMA_TABLES = 8 << 20     /* bytes of what is kept of a vocabulary's tokens for patterns */
};
#define SCHEMA_INTEGER 9007199254740991 /* 2^53 - 1: integers lie between this and its negative, as in I-JSON (RFC 7493) */

typedef struct schema_node schema_node;

/* A text that is given: `bytes` is its JSON. */
typedef struct schema_text {
    const char *bytes;
    size_t size;
} schema_text;

/* A deterministic automaton of the bytes of a string in JSON, from its first byte after the quotation mark to the last before
 * the other one. From each state an end can be reached. */
typedef struct schema_dfa {
    uint8_t classes[256];
    uint16_t *next;   /* [states, class_count]; SCHEMA_DFA_BAD: none */
    bool *accepts;    /* [states] */
    size_t states, class_count;
    _Atomic(struct schema_rows *) rows; /* schema_rows.h: one for each vocabulary, made when needed */
} schema_dfa;

#define SCHEMA_DFA_BAD UINT16_MAX

/* A key of an object; `text` is its JSON after the first quotation mark, with the colon. */
typedef struct schema_slot {
    schema_text text;
    const schema_node *value;
    bool required;
} schema_slot;

typedef enum schema_kind {
    SCHEMA_CHOICE,  /* one of some texts */
    SCHEMA_STRING,  /* by its length in characters */
    SCHEMA_PATTERN, /* a string of an automaton */
    SCHEMA_FIXED,   /* a number with bounds: an integer divided by a power of ten */
    SCHEMA_NUMBER,
    SCHEMA_ARRAY,
    SCHEMA_OBJECT
} schema_kind;

typedef struct schema_shape {
    schema_kind kind;
    int height;              /* depth of its shallowest value: 0 for scalars */
    schema_text *texts;      /* SCHEMA_CHOICE: [count], in order of their bytes, no two equal; SCHEMA_OBJECT: the slots' */
    size_t count;
    size_t min, max;         /* SCHEMA_STRING: characters; SCHEMA_ARRAY: items */
    const schema_dfa *dfa;
    int64_t low, high, step; /* SCHEMA_FIXED: bounds of the integer, which is a multiple of step */
    int decimals;            /* SCHEMA_FIXED: the power of ten */
    const schema_node **items; /* SCHEMA_ARRAY: [count] the first ones */
    const schema_node *rest; /* the other items, or the values of other keys; NULL: there are none */
    schema_slot *slots;      /* SCHEMA_OBJECT: [count] in the order of the output */
    uint16_t *order;         /* SCHEMA_OBJECT: [count] the slot of each of `texts` */
    uint16_t *needed;        /* SCHEMA_OBJECT: [count + 1] the first slot from here on that is required; count: none */
} schema_shape;

struct schema_node {
    int height;            /* the smallest of its shapes'; SCHEMA_NEVER: it has none */
    unsigned beyond;       /* types (schema_facts.h) of which the schema may allow values that no shape has */
    schema_shape *shapes;  /* [count] */
    size_t count;
};

/* What is kept of tokens: the one thing that changes once a schema is read. */
typedef struct schema_tables {
    size_t most;        /* bytes: SCHEMA_TABLES; 0: there are no patterns */
    atomic_size_t left; /* of them */
    _Atomic(struct schema_rows *) all;
} schema_tables;

typedef struct json_schema {
    arena memory;
    schema_tables tables;
    const schema_node *root;
    schema_node **nodes; /* [node_count] all of them */
    size_t node_count;
} json_schema;

/* schema_build.c: reads a schema whose automaton may take `max_memory` bytes. RAPT_ERR_VALUE: it is no JSON, has a keyword that
 * is not supported, is too large, or nothing satisfies it; RAPT_ERR_MEMORY. *s must be freed in any case. */
rapt_code schema_build(json_schema *s, const char *text, size_t size, size_t max_memory, rapt_error *err);
void schema_free(json_schema *s);

/* schema_number.c: the state of a number that is written digit by digit. Zeroed: nothing yet. */
typedef struct schema_digits {
    uint64_t value;   /* without sign and point */
    uint8_t phase;    /* SCHEMA_FIXED: enum there; SCHEMA_NUMBER: likewise */
    uint8_t count;    /* digits of the part */
    bool negative;
} schema_digits;

/* False: the byte cannot follow. */
bool schema_digits_next(const schema_shape *s, schema_digits *d, uint8_t byte);
bool schema_digits_end(const schema_shape *s, const schema_digits *d);
/* Whether a number of the shape exists. */
bool schema_digits_exist(const schema_shape *s);

#endif
