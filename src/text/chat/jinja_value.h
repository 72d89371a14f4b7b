/* text/chat/jinja_value.h: the values of templates, which are Python's. Constant once made, but for namespaces, so that none
 * but a namespace can hold itself. */
#ifndef TEXT_CHAT_JINJA_VALUE_H
#define TEXT_CHAT_JINJA_VALUE_H

#include "base/buffer.h"
#include "text/chat/jinja_work.h"

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

/* What Python tells apart of rows of values. */
typedef enum jinja_shape { JINJA_IS_LIST, JINJA_IS_TUPLE, JINJA_IS_RANGE, JINJA_IS_VIEW, JINJA_IS_GENERATOR } jinja_shape;

typedef enum jinja_function { JINJA_RANGE, JINJA_NEW_NAMESPACE, JINJA_NEW_DICT, JINJA_RAISE, JINJA_STRFTIME_NOW } jinja_function;

typedef struct jinja_value {
    jinja_kind kind;
    bool safe; /* a text that went through the filter `safe` */
    union {
        bool truth;
        int64_t integer;
        double number;
        const char *text; /* [size] UTF-8; of an undefined value its name, or NULL */
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

/* In the order in which keys came. */
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
    jinja_value changed; /* a tuple of what loop.changed() was given last, undefined at first */
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
/* The bytes of a buffer, which is freed; `ok` false: out of memory on the way, or stopped at JINJA_MOST_OUTPUT. */
jinja_value jinja_take(jinja_work *w, buffer *b, bool ok);
/* An array of `count` items that are yet to be set; NULL after a failure. */
jinja_list *jinja_list_new(jinja_work *w, jinja_shape shape, size_t count);
jinja_value jinja_row(jinja_list *list); /* undefined for NULL */
jinja_dict *jinja_dict_new(jinja_work *w);
jinja_value jinja_table(jinja_dict *dict);
/* Of an equal key the value is replaced. */
void jinja_dict_put(jinja_work *w, jinja_dict *d, jinja_value key, jinja_value value);
/* NULL: there is none. */
const jinja_value *jinja_dict_find(jinja_work *w, const jinja_dict *d, jinja_value key);

bool jinja_is_row(jinja_value v, jinja_shape shape);
bool jinja_is(jinja_value v, const char *text); /* a text that is equal */
/* Python's name of the type: "str", "NoneType". */
const char *jinja_type(jinja_value v);
bool jinja_truth(jinja_value v);
/* Bool, int or float; and as a double, where that is exact enough to compare (fails beyond 2^53). */
bool jinja_is_number(jinja_value v);
double jinja_as_double(jinja_work *w, jinja_value v);
/* Bool or int. */
bool jinja_as_integer(jinja_value v, int64_t *integer);

bool jinja_equal(jinja_work *w, jinja_value a, jinja_value b);
/* a < b, as Python has it; fails where the types have no order. `op` is for the message. */
bool jinja_less(jinja_work *w, jinja_value a, jinja_value b, const char *op);
bool jinja_contains(jinja_work *w, jinja_value container, jinja_value v);
/* What a loop runs over: characters, items, keys. A generator is empty afterwards. NULL after a failure, which a value that
 * can't be iterated over is. */
const jinja_list *jinja_iterate(jinja_work *w, jinja_value v);
/* "'x' is undefined", where the value is; otherwise nothing. True where it is defined. */
bool jinja_defined(jinja_work *w, jinja_value v);

#endif
