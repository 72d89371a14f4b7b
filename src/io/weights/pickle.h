/* io/weights/pickle.h: what a pickle of protocol 2 describes, as plain values. Python's pickletools.py describes the format: a
 * program for a machine with a stack, whose instructions build values, look up names of Python, and call them.
 *
 * Here nothing can be called: a name is looked up in the caller's list, and what it builds is the caller's, too. Anything that is
 * not in the list is refused by name. For torch_file.c. */
#ifndef IO_PICKLE_H
#define IO_PICKLE_H

#include "rapt/base.h"

#define PICKLE_MAX ((size_t)16 << 20) /* bytes of a pickle; that of a model with 10,000 tensors has 2 MB */

typedef enum pickle_kind {
    PICKLE_MARK, /* where a sequence on the stack begins; no value */
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,
    PICKLE_NAME,   /* of the caller's list */
    PICKLE_HANDLE, /* of something that the caller has built */
} pickle_kind;

typedef struct pickle_items pickle_items;

typedef struct pickle_value {
    pickle_kind kind;
    uint32_t size; /* of a text, in bytes; of a name or handle: what the caller likes, as `integer` */
    union {
        int64_t integer; /* also of a bool */
        double real;
        const char *text; /* UTF-8 without NULs, within the pickle */
        pickle_items *items;
    };
} pickle_value;

/* Of a tuple, list or dict; of a dict key, value, key, value, ... in the order in which they were set, repeated keys included. */
struct pickle_items {
    pickle_value *values;
    size_t count, capacity;
};

typedef struct pickle pickle;

/* The caller's functions. Where one fails it has set `err`, with "PATH: ..." for the path that pickle_read was given. */
typedef struct pickle_caller {
    void *context;
    /* What `name`, such as "collections.OrderedDict", stands for: a PICKLE_NAME; false: it is none of the caller's list. */
    bool (*find_name)(void *context, const char *name, pickle_value *out);
    /* What a PICKLE_NAME builds of arguments. */
    rapt_code (*call)(void *context, const pickle_value *name, const pickle_items *arguments, pickle_value *out, rapt_error *err);
    /* What a persistent id stands for. */
    rapt_code (*look_up)(void *context, const pickle_value *id, pickle_value *out, rapt_error *err);
} pickle_caller;

/* Reads the pickle at *at, up to PICKLE_MAX bytes of it, and sets *at behind its end; *out then owns all values, and *result is
 * what the pickle describes. `bytes` and `caller` are borrowed until pickle_free. RAPT_ERR_FORMAT: "PATH: byte N of the pickle:
 * reason", where N counts from `bytes`; RAPT_ERR_MEMORY. Memory grows with the size of the pickle only. After a failure *out is
 * NULL. */
rapt_code pickle_read(const char *path, const char *bytes, size_t size, size_t *at, const pickle_caller *caller, pickle **out,
                      pickle_value *result, rapt_error *err);
void pickle_free(pickle *p); /* NULL is fine */

/* "an integer", "a dict": for messages. */
const char *pickle_kind_name(pickle_kind kind);

#endif
