/* io/weights/pickle.h: reads a pickle of protocol 2 as plain values. Python's pickletools.py describes the format: a program for
 * a stack machine, whose instructions build values, look up names of Python, and call them.
 *
 * Nothing is called here: a name is looked up in the caller's list, and the caller builds the value. Names that are not in the
 * list are refused. For torch_file.c. */
#ifndef IO_PICKLE_H
#define IO_PICKLE_H

#include "rapt/base.h"

#define PICKLE_MAX ((size_t)16 << 20) /* max bytes of a pickle; a model with 10,000 tensors has 2 MB */

typedef enum pickle_kind {
    PICKLE_MARK, /* the beginning of a sequence on the stack; not a value */
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,
    PICKLE_NAME,   /* a name of the caller's list */
    PICKLE_HANDLE, /* a handle of something that the caller has built */
} pickle_kind;

typedef struct pickle_items pickle_items;

typedef struct pickle_value {
    pickle_kind kind;
    uint32_t size; /* bytes of a text; for a name or handle, free for the caller, like `integer` */
    union {
        int64_t integer; /* also of a bool */
        double real;
        const char *text; /* UTF-8 without NULs, within the pickle */
        pickle_items *items;
    };
} pickle_value;

/* The items of a tuple, list or dict; for a dict key, value, key, value, ... in the order in which they were set, including
 * repeated keys. */
struct pickle_items {
    pickle_value *values;
    size_t count, capacity;
};

typedef struct pickle pickle;

/* The caller's functions. One that fails must set `err`, with "PATH: ..." for the path of pickle_read. */
typedef struct pickle_caller {
    void *context;
    /* Looks up `name`, such as "collections.OrderedDict": *out becomes a PICKLE_NAME; false: it is not in the caller's list. */
    bool (*find_name)(void *context, const char *name, pickle_value *out);
    /* Builds the value of a PICKLE_NAME with arguments. */
    rapt_code (*call)(void *context, const pickle_value *name, const pickle_items *arguments, pickle_value *out, rapt_error *err);
    /* Looks up a persistent id. */
    rapt_code (*look_up)(void *context, const pickle_value *id, pickle_value *out, rapt_error *err);
} pickle_caller;

/* Reads the pickle at *at, up to PICKLE_MAX bytes, and sets *at to its end; *out then owns all values, and *result is the value
 * of the pickle. `bytes` and `caller` are borrowed until pickle_free. RAPT_ERR_FORMAT: "PATH: byte N of the pickle: reason",
 * where N counts from `bytes`; RAPT_ERR_MEMORY. Memory grows only with the size of the pickle. After a failure *out is NULL. */
rapt_code pickle_read(const char *path, const char *bytes, size_t size, size_t *at, const pickle_caller *caller, pickle **out,
                      pickle_value *result, rapt_error *err);
void pickle_free(pickle *p); /* NULL is fine */

/* "an integer", "a dict": for messages. */
const char *pickle_kind_name(pickle_kind kind);

#endif
