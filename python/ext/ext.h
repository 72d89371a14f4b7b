/* ext.h: what all files of the extension share: the state of the module, errors, calls without the interpreter's lock, and
 * memory of the library that Python objects keep alive.
 *
 * The extension is compiled against the limited API of Python 3.11, so that one file runs with every later version. It holds no
 * second implementation: each function turns Python objects into the library's arguments and back. The interface for users, with
 * its documentation, is the package in python/rapt. Objects of this module are handles, which the classes of the package hold.
 *
 * Rules
 *   - a function returns NULL, or -1, with a Python exception set;
 *   - while the library computes, no lock of the interpreter is held (ext_call), so no Python object may be touched;
 *   - what a handle lends to others (arrays, iterators) keeps a reference to its owner, never to the handle.
 */
#ifndef RAPT_PYTHON_EXT_H
#define RAPT_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <pythread.h>

#include <stdatomic.h>

#include "rapt/base.h"
#include "rapt/tensor.h"
#include "rapt/text.h"

/* The types of the module; each has a `PyType_Spec NAME_spec` in the file of its name. */
#define EXT_TYPES(X)                                                                               \
    X(owner)                                                                                       \
    X(array)                                                                                       \
    X(model)                                                                                       \
    X(tokenizer)                                                                                   \
    X(recipe)                                                                                      \
    X(trainer)                                                                                     \
    X(tape)                                                                                        \
    X(optimizer)                                                                                   \
    X(stream)                                                                                      \
    X(explanation)                                                                                 \
    X(engine)                                                                                      \
    X(engine_job)

/* Types that are derived from another one of the module. */
#define EXT_SUBTYPES(X)                                                                            \
    X(tensor, array)                                                                               \
    X(parameter, tensor)

/* Lists of functions of the module, each in a file of its own. */
#define EXT_FUNCTIONS(X)                                                                           \
    X(model)                                                                                       \
    X(model_files)                                                                                 \
    X(array_text)                                                                                  \
    X(tokenizer)                                                                                   \
    X(sine)                                                                                        \
    X(figure)                                                                                      \
    X(metrics)                                                                                     \
    X(recipe)                                                                                      \
    X(train)                                                                                       \
    X(tape)                                                                                        \
    X(tensor)                                                                                      \
    X(mask)                                                                                        \
    X(parameter)                                                                                   \
    X(nn)                                                                                          \
    X(attention)                                                                                   \
    X(optimizer)                                                                                   \
    X(engine)

#define EXT_DECLARE_TYPE(name) extern PyType_Spec name##_spec;
EXT_TYPES(EXT_DECLARE_TYPE)
#undef EXT_DECLARE_TYPE
#define EXT_DECLARE_SUBTYPE(name, base) extern PyType_Spec name##_spec;
EXT_SUBTYPES(EXT_DECLARE_SUBTYPE)
#undef EXT_DECLARE_SUBTYPE
#define EXT_DECLARE_FUNCTIONS(name) extern PyMethodDef name##_functions[];
EXT_FUNCTIONS(EXT_DECLARE_FUNCTIONS)
#undef EXT_DECLARE_FUNCTIONS

typedef struct ext_state {
#define EXT_STATE_TYPE(name) PyTypeObject *name;
    EXT_TYPES(EXT_STATE_TYPE)
#undef EXT_STATE_TYPE
#define EXT_STATE_SUBTYPE(name, base) PyTypeObject *name;
    EXT_SUBTYPES(EXT_STATE_SUBTYPE)
#undef EXT_STATE_SUBTYPE
    PyObject *errors[RAPT_ERR_INTERRUPTED + 1]; /* the exception of each code */
} ext_state;

/* The state of the module to which a handle's type belongs. */
ext_state *ext_state_of(PyObject *handle);

/* A handle of this type: zeroed behind its head. */
PyObject *ext_new(PyTypeObject *type);
/* What ends every deallocation of a handle. */
void ext_free(PyObject *handle);

/* ---- errors ------------------------------------------------------------------------------------------------ */

/* Adds the classes of exceptions to the module. */
int ext_add_errors(PyObject *module, ext_state *s);
/* A message of the library as a str, in which options of the program are parameters of the package. */
PyObject *ext_message(const char *text);
/* Raises the exception of the library's failure, with its message, unless one is set already; returns NULL. */
PyObject *ext_raise(const ext_state *s, const rapt_error *err);
/* Raises InvalidValueError with a message made by PyErr_Format's rules; returns NULL. */
PyObject *ext_invalid(const char *format, ...);
/* Raises TypeError with "NAME must be EXPECTED, not TYPE"; returns NULL. */
PyObject *ext_wrong_type(const char *name, const char *expected, PyObject *got);

/* ---- calls without the interpreter's lock ---------------------------------------------------------------------- */

/* A call of the library. Between ext_call_begin and ext_call_end the thread does not hold the interpreter's lock.
 *
 *    ext_call c;
 *    ext_call_begin(&c, NULL);
 *    code = rapt_...(..., .stop = ext_call_stop, .context = &c);
 *    ext_call_end(&c);
 *    if (code)
 *        return ext_raise(s, &err); // an exception of a signal handler or callback is set already, and stays
 */
typedef struct ext_call {
    PyThreadState *thread;  /* whose lock was released; NULL: the lock is held */
    const void *place;      /* tells the calling thread from the workers of the library */
    PyObject *should_stop;  /* borrowed: a callable without arguments, asked now and then; NULL: none */
    long long asked;        /* when signals were looked at last, in ns */
    atomic_bool stopped;    /* a signal handler or a callback has raised, or should_stop was true */
} ext_call;

void ext_call_begin(ext_call *c, PyObject *should_stop);
void ext_call_end(ext_call *c);
/* A rapt_stop_fn; its context is the ext_call. Every 20 ms at most the calling thread looks for signals (Ctrl-C). Other threads
 * learn what it has found. */
bool ext_call_stop(void *call);
/* A lock that a thread holds while it computes, maybe with callbacks. */
typedef struct ext_mutex {
    PyThread_type_lock lock;
    _Atomic(const void *) holder; /* the place of the call that holds it, or NULL */
} ext_mutex;
/* Taken within a call. RAPT_ERR_INTERRUPTED: the call was stopped meanwhile; RAPT_ERR_VALUE: this thread holds it already, since
 * a callback of its call has led here. */
rapt_code ext_lock(ext_call *c, ext_mutex *m, rapt_error *err);
void ext_unlock(ext_mutex *m);
/* For callbacks, which the library calls in the thread of the call: takes the lock, and gives it back. With `failed`, an
 * exception is set, and the call is to end: returns RAPT_ERR_INTERRUPTED with `err` set. */
void ext_callback_begin(ext_call *c);
rapt_code ext_callback_end(ext_call *c, bool failed, rapt_error *err);
/* Whether a signal handler, a callback or should_stop has ended the call. */
bool ext_call_was_stopped(const ext_call *c);

/* ---- memory of the library ---------------------------------------------------------------------------------- */

/* An object that frees `memory`, which may be NULL, when the last reference to it goes; `under`, which may be NULL, lives as
 * long. On failure the memory is freed. */
PyObject *owner_new(const ext_state *s, void *memory, void (*free_it)(void *), PyObject *under);
/* The memory of an owner. */
void *owner_memory(PyObject *owner);
/* Whether nobody but the caller has a reference to the owner. */
bool owner_is_sole(PyObject *owner);

/* An array: a view of elements, row-major, that `owner` keeps alive. */
typedef struct array_of {
    void *data;
    int ndim;
    size_t shape[RAPT_MAX_DIMS];
    bool is_int;      /* int32 elements; else float32 */
    bool writable;
    const char *name; /* UTF-8, borrowed during the call; NULL: none */
    const char *axes; /* one word a dimension, with spaces between; NULL: unnamed */
} array_of;
PyObject *array_new(const ext_state *s, const array_of *a, PyObject *owner);
/* An array of float32 with memory of its own, filled by the caller through *data. */
PyObject *array_make(const ext_state *s, int ndim, const size_t *shape, float **data);

/* ---- values from Python ------------------------------------------------------------------------------------ */

/* The UTF-8 of a str, borrowed from it; NULL with an exception set if it is none, is not valid Unicode, or holds a zero. */
const char *ext_text(PyObject *text, const char *name);
/* The same with its size, in bytes; zeros may be among them. False: an exception is set. */
bool ext_sized(PyObject *text, const char *name, rapt_text *sized);
/* Texts of a list or tuple of str, in both shapes. The arrays [count] are allocated, `sequence` keeps the texts alive;
 * ext_texts_free frees all. */
typedef struct ext_texts {
    const char **texts;
    rapt_text *sized;
    size_t count;
    PyObject *sequence;
} ext_texts;
/* As ext_text does, and as ext_sized does. */
int ext_texts_read(PyObject *list, const char *name, ext_texts *out);
int ext_sized_read(PyObject *list, const char *name, ext_texts *out);
void ext_texts_free(ext_texts *t);
/* A str's UTF-8 or the bytes of a buffer, with their size. */
typedef struct ext_bytes {
    const char *data;
    size_t size;
    PyObject *text; /* a str, or a copy as bytes, or NULL */
    Py_buffer view;
} ext_bytes;
int ext_bytes_read(PyObject *data, const char *name, bool may_be_text, ext_bytes *out);
void ext_bytes_free(ext_bytes *b);
/* Numbers, also of NumPy: what has an __index__ is an int, what has a __float__ is a float too, and NumPy's bool is a bool, never
 * a number. */
bool ext_is_bool(PyObject *value);
/* `value` NULL: of an attribute that is deleted, which is refused. */
int ext_bool_read(PyObject *value, const char *name, bool *out);
/* The int of a number: a new reference. */
PyObject *ext_integer(PyObject *value, const char *name);
/* OverflowError: an int that is too large. */
int ext_double_read(PyObject *value, const char *name, double *out);
/* An int that is an int32. */
int ext_id_read(PyObject *number, const char *name, int32_t *id);
/* Ids of a buffer or an iterable of int; ext_ids_free frees them. */
typedef struct ext_ids {
    int32_t *ids;
    size_t count;
} ext_ids;
int ext_ids_read(PyObject *list, const char *name, ext_ids *out);
void ext_ids_free(ext_ids *i);
/* A str of the library's text. */
PyObject *ext_string(const char *text);
/* Lists of int and of float. */
PyObject *ext_ids_list(const int32_t *ids, size_t count);
PyObject *ext_doubles_list(const double *values, size_t count);
/* The path of a str, bytes or os.PathLike, as the system writes it: a new reference to bytes. */
PyObject *ext_path(PyObject *path, const char **text);

/* What a member of the library's options takes. */
typedef enum option_kind {
    OPTION_SIZE,   /* size_t, 0 or more */
    OPTION_INT,    /* int */
    OPTION_SEED,   /* uint64_t */
    OPTION_DOUBLE,
    OPTION_BOOL,
    OPTION_TRISTATE, /* int: 0, 1, or untouched if None */
    OPTION_TEXT,   /* const char *, borrowed from the str */
    OPTION_SIZED,  /* rapt_text, borrowed likewise, in which zeros may be */
    OPTION_NAME,   /* an enumerator, by its place in `names` */
    OPTION_TYPE,   /* rapt_type, by rapt_type_parse */
    OPTION_ROWS    /* a struct with the members of other `rows` */
} option_kind;

typedef struct option_row {
    const char *name; /* of OPTION_ROWS: of the struct, which no key is */
    option_kind kind;
    size_t offset;
    const char *const *names; /* OPTION_NAME: ends with NULL */
    const struct option_row *rows; /* OPTION_ROWS */
} option_row;

/* Writes the values of a dict to a struct of options, by a table that ends with a name of NULL. None leaves a member as it is,
 * and its key is not looked at. TypeError: a key that the table lacks, or a value of another type; ValueError: a name that there
 * is not, a number that the member cannot hold. What the library thinks of the number, it says itself. */
int options_read(PyObject *values, const option_row *table, void *options);

#endif
