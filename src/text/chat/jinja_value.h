/* text/chat/jinja_value.h: the values of templates, as in Python, and the memory and limits with which they are made. Values are
 * constant when they are made, except namespaces, so that only a namespace can contain itself. */
#ifndef TEXT_CHAT_JINJA_VALUE_H
#define TEXT_CHAT_JINJA_VALUE_H

#include "rapt/base.h"

#include "base/arena.h"
#include "base/buffer.h"

/* ---- jinja_work.c: memory, limits and the first failure of reading or running a template. All memory is freed together. A
 * failure stays: later calls have no effect, so that callers need to check it only in loops. */

enum {
    JINJA_MOST_NESTED = 100,       /* parentheses, statements and values in each other */
    JINJA_MOST_DEPTH = 400,        /* nodes and macros that are evaluated within each other */
    JINJA_MOST_STEPS = 20 << 20,   /* nodes evaluated, values compared, 64 bytes of text copied */
    JINJA_MOST_MEMORY = 256 << 20, /* bytes */
    JINJA_MOST_OUTPUT = 64 << 20,
    JINJA_STOP_STEPS = 16 << 10    /* from one question whether to stop to the next */
};

typedef struct jinja_work {
    const char *name; /* the template's name, for messages */
    unsigned line;    /* the line of the present node */
    rapt_code code;   /* code of the first failure */
    rapt_error *err;  /* NULL is fine */
    arena memory;
    char *at;         /* free bytes of the last block */
    size_t left, bytes, steps, depth;
    size_t most_memory;
    rapt_stop_fn *stop; /* or NULL */
    void *context;
    size_t asked;       /* steps when `stop` was last called */
} jinja_work;

void jinja_work_begin(jinja_work *w, const char *name, rapt_error *err);
/* Sets the limit of memory, if `memory` is not 0 and less than JINJA_MOST_MEMORY, and `stop`, or NULL. */
void jinja_work_bound(jinja_work *w, size_t memory, rapt_stop_fn *stop, void *context);
void jinja_work_end(jinja_work *w);

/* "NAME:LINE: ...", RAPT_ERR_FORMAT: the first failure counts. */
void jinja_fail(jinja_work *w, const char *format, ...) RAPT_PRINTF(2, 3);

/* Fails with RAPT_ERR_MEMORY, for memory that is not allocated here. */
void jinja_no_memory(jinja_work *w);

/* Memory with undefined contents, aligned for any value; NULL after a failure, such as too much memory. */
void *jinja_alloc(jinja_work *w, size_t count, size_t size);

/* Counts steps; false after too many steps, or after a failure. */
bool jinja_step(jinja_work *w, size_t steps);

/* Goes one level deeper; false if that is too deep, or after a failure. Call jinja_leave in any case. */
bool jinja_enter(jinja_work *w);
void jinja_leave(jinja_work *w);

/* ---- jinja_value.c: values */

typedef enum jinja_kind {
    JINJA_UNDEFINED,
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_TEXT,
    JINJA_LIST,
    JINJA_DICT,
    JINJA_NAMESPACE,
    JINJA_MACRO,
    JINJA_METHOD,
    JINJA_FUNCTION,
    JINJA_LOOP
} jinja_kind;

/* Kinds of sequences that Python tells apart. */
typedef enum jinja_shape { JINJA_IS_LIST, JINJA_IS_TUPLE, JINJA_IS_RANGE, JINJA_IS_VIEW, JINJA_IS_GENERATOR } jinja_shape;

typedef enum jinja_function { JINJA_RANGE, JINJA_NEW_NAMESPACE, JINJA_NEW_DICT, JINJA_RAISE, JINJA_STRFTIME_NOW } jinja_function;

typedef struct jinja_value {
    jinja_kind kind;
    bool safe; /* a text that went through the filter `safe` */
    union {
        bool truth;
        int64_t integer;
        double number;
        const char *text; /* [size] UTF-8; the name of an undefined value, or NULL */
        struct jinja_list *list;
        struct jinja_dict *dict; /* also of a namespace */
        const struct jinja_macro *macro;
        const struct jinja_method *method;
        struct jinja_loop *loop;
        jinja_function function;
    };
    size_t size;
} jinja_value;

typedef struct jinja_list {
    jinja_shape shape;
    jinja_value *items; /* [count] */
    size_t count;
} jinja_list;

/* Keys are in the order in which they were added. */
typedef struct jinja_dict {
    jinja_value *keys, *values; /* [count] */
    size_t count, capacity;
    uint32_t *slots; /* [2 capacity]: an open hash table of keys that are texts, place + 1 or 0; NULL for a small dict */
} jinja_dict;

/* A method that was looked up: "text".strip */
typedef struct jinja_method {
    jinja_value self;
    const char *name;
} jinja_method;

typedef struct jinja_loop {
    const jinja_list *items;
    size_t index; /* from 0 */
    jinja_value changed; /* a tuple of the last arguments of loop.changed(), undefined at first */
} jinja_loop;

#define JINJA_NOTHING ((jinja_value){.kind = JINJA_UNDEFINED})
#define JINJA_NULL ((jinja_value){.kind = JINJA_NONE})

static inline jinja_value jinja_bool(bool truth)
{
    return (jinja_value){.kind = JINJA_BOOL, .truth = truth};
}

static inline jinja_value jinja_int(int64_t integer)
{
    return (jinja_value){.kind = JINJA_INT, .integer = integer};
}

static inline jinja_value jinja_float(double number)
{
    return (jinja_value){.kind = JINJA_FLOAT, .number = number};
}

/* A text that lives as long as the work does. */
static inline jinja_value jinja_borrow(const char *text, size_t size)
{
    return (jinja_value){.kind = JINJA_TEXT, .text = text, .size = size};
}

jinja_value jinja_word(const char *text); /* jinja_borrow of a string */
jinja_value jinja_copy(jinja_work *w, const char *text, size_t size);
/* A text from the bytes of a buffer, which it frees; `ok` false: writing it ran out of memory, or ended at JINJA_MOST_OUTPUT. */
jinja_value jinja_take(jinja_work *w, buffer *b, bool ok);
/* An array of `count` items that are yet to be set; NULL after a failure. */
jinja_list *jinja_list_new(jinja_work *w, jinja_shape shape, size_t count);
jinja_value jinja_row(jinja_list *list); /* undefined for NULL */
jinja_dict *jinja_dict_new(jinja_work *w);
jinja_value jinja_table(jinja_dict *dict);
/* An equal key gets the new value. */
void jinja_dict_put(jinja_work *w, jinja_dict *d, jinja_value key, jinja_value value);
/* The value of a key; NULL: there is none. */
const jinja_value *jinja_dict_find(jinja_work *w, const jinja_dict *d, jinja_value key);

bool jinja_is_row(jinja_value v, jinja_shape shape);
bool jinja_is(jinja_value v, const char *text); /* a text that is equal */
/* Python's name of the type: "str", "NoneType". */
const char *jinja_type(jinja_value v);
bool jinja_truth(jinja_value v);
/* Whether it is a bool, int or float; and the number as a double, which fails beyond 2^53, because comparisons would be wrong. */
bool jinja_is_number(jinja_value v);
double jinja_as_double(jinja_work *w, jinja_value v);
/* The number of a bool or int; false: of another kind. */
bool jinja_as_integer(jinja_value v, int64_t *integer);

bool jinja_equal(jinja_work *w, jinja_value a, jinja_value b);
/* a < b as in Python; fails if the types have no order. `op` is for the message. */
bool jinja_less(jinja_work *w, jinja_value a, jinja_value b, const char *op);
bool jinja_contains(jinja_work *w, jinja_value container, jinja_value v);
/* The values for a loop: characters, items, keys. A generator is empty afterwards. NULL after a failure; a value that can't be
 * iterated over is one. */
const jinja_list *jinja_iterate(jinja_work *w, jinja_value v);
/* Whether the value is defined; if not, fails with "'x' is undefined". */
bool jinja_defined(jinja_work *w, jinja_value v);

#endif
