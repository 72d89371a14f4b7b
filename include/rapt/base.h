/* rapt/base.h: errors and version; what every other header stands on. Needs libc only.
 *
 * Conventions of all rapt headers
 *   - a function that can fail for a reason outside the program (files, text, memory) takes a `rapt_error *err` last and returns
 *     a rapt_code, or a pointer that is NULL after a failure. The message names the cause (path, line or byte, reason). `err` may
 *     be NULL everywhere: the return value alone tells whether the call failed. An `err` that already holds a failure keeps it;
 *   - options are structs. Those with a size come from a `..._default` function (rapt/defaults.h); others are zeroed at first;
 *   - a text that a model, a tokenizer or a metric reads has a size, and may hold zero bytes: U+0000 is a character like any
 *     other, which tokenizers of words alone refuse. Names, paths, options and messages of a chat are strings, and so are the
 *     texts of rapt_translate, rapt_generate and rapt_tokenizer_encode, and the lines of rapt_tokenizer_train_words;
 *   - a callback is a function type `rapt_..._fn`. Its first parameter is the `void *context` that was passed along with it;
 *   - `..._count` is the number of things that a container holds, `..._batches` the number of batches;
 *   - tape operations return a tensor even when they fail: the error stays in the tape until it is asked for (rapt/tape.h);
 *   - the library never prints and never exits.
 */
#ifndef RAPT_BASE_H
#define RAPT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_VERSION_MAJOR 0
#define RAPT_VERSION_MINOR 4
#define RAPT_VERSION_PATCH 0
#define RAPT_VERSION "0.4.0-dev" /* a release has no suffix. The build reads all four lines */

/* Stands before each public prototype: the library is compiled with -fvisibility=hidden and exports only what is marked so. */
#if defined(__GNUC__)
#define RAPT_API __attribute__((visibility("default")))
#else
#define RAPT_API
#endif

/* The number type of tensors. A build with RAPT_DOUBLE exists for the gradient check only. */
#ifdef RAPT_DOUBLE
typedef double rapt_real;
#else
typedef float rapt_real;
#endif

#if defined(__GNUC__)
#define RAPT_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define RAPT_PRINTF(format_index, first_arg)
#endif

/* Every reason why a call can fail, with the word that `rapt_code_name` returns. */
#define RAPT_CODES(X)                                                                              \
    X(RAPT_OK, "ok")                                                                               \
    X(RAPT_ERR_MEMORY, "out of memory")                                                             \
    X(RAPT_ERR_IO, "input/output error")                                                               \
    X(RAPT_ERR_FORMAT, "malformed input")                                                              \
    X(RAPT_ERR_SHAPE, "shapes do not fit")                                                             \
    X(RAPT_ERR_VALUE, "value out of range")                                                            \
    X(RAPT_ERR_NOT_FOUND, "not found")                                                                 \
    X(RAPT_ERR_NOT_FINITE, "not a finite number")                                                      \
    X(RAPT_ERR_INTERRUPTED, "interrupted")

typedef enum rapt_code {
#define RAPT_CODE_ENUM(name, text) name,
    RAPT_CODES(RAPT_CODE_ENUM)
#undef RAPT_CODE_ENUM
} rapt_code;

/* What a model is for. RAPT_TASK_ANY, for options only, is one of the others. */
#define RAPT_TASKS(X)                                                                              \
    X(RAPT_TASK_TRANSLATION)                                                                       \
    X(RAPT_TASK_LANGUAGE_MODEL)                                                                    \
    X(RAPT_TASK_ENCODER)                                                                           \
    X(RAPT_TASK_CROSS_ENCODER)                                                                     \
    X(RAPT_TASK_ANY)

typedef enum rapt_task {
#define RAPT_TASK_ENUM(name) name,
    RAPT_TASKS(RAPT_TASK_ENUM)
#undef RAPT_TASK_ENUM
} rapt_task;

/* The first cause of a failure. Owned by the caller; start from `rapt_error err = {0};`. */
typedef struct rapt_error {
    rapt_code code;
    char message[512];
} rapt_error;

/* Records a failure unless `err` already holds one (the first cause is kept) or is NULL. Returns
 * `code`, so that `return rapt_fail(err, RAPT_ERR_IO, ...)` reads well. */
RAPT_API rapt_code rapt_fail(rapt_error *err, rapt_code code, const char *format, ...) RAPT_PRINTF(3, 4);

/* How a caller cancels a call that may take long: the call asks this function now and then whether it should end. Once the
 * function has returned true, it must keep returning true, and the call ends with RAPT_ERR_INTERRUPTED. The function reads what a
 * signal handler or another thread has set (a volatile sig_atomic_t, an atomic). It must be quick and call nothing of rapt;
 * several threads may ask at once. */
typedef bool rapt_stop_fn(void *context);

/* Bytes of a text, which may hold zero bytes; borrowed. `data` may be NULL if `size` is 0. */
typedef struct rapt_text {
    const char *data;
    size_t size;
} rapt_text;

/* The text of a string, which ends at its first zero byte. NULL: the text whose `data` is NULL. */
static inline rapt_text rapt_text_of(const char *string)
{
    rapt_text text = {string, 0};
    if (string)
        text.size = strlen(string);
    return text;
}

/* The short English text of a code; never NULL. */
RAPT_API const char *rapt_code_name(rapt_code code);

/* The version of the library that runs, as "major.minor.patch". */
RAPT_API const char *rapt_version(void);

#ifdef __cplusplus
}
#endif

#endif
