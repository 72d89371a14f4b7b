/* decode/translate_text.h: lines that are translated together: as segments that the model takes, and as translations again. For
 * translate_batch.c, translate.c and the engine. */
#ifndef DECODE_TRANSLATE_TEXT_H
#define DECODE_TRANSLATE_TEXT_H

#include "decode/prefixes.h"
#include "decode/source_segments.h"
#include "decode/translate_settings.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct translate_text translate_text;

/* A segment and what is to become of it. */
typedef struct translate_item {
    translate_text *text;
    const source_segment *source;
    search_prefix begin;   /* what its translation begins with */
    size_t line;           /* that it is of */
    bool stopped;          /* its line was cancelled before it was translated */
    rapt_translation *out; /* its translation */
} translate_item;

struct translate_text {
    const translate_setup *setup;
    translate_settings settings;
    const char *const *lines; /* [count], which last */
    size_t count;
    bool (*stop)(void *context, size_t line); /* whether a line is cancelled, from any thread; or NULL */
    void *context;
    source_segments source;
    translate_item *items;    /* [source.count], by line */
    atomic_size_t left;       /* items that have neither been translated, nor stopped or failed */
    atomic_bool *ended;       /* set when none is left; or NULL */
    /* private */
    rapt_translation *segments; /* [source.count] */
    size_t *first;            /* [count + 1]: of each line, its first item */
    source_fit *fits;         /* [count] */
    prefixes prefix;          /* the request's own */
    pthread_mutex_t lock;     /* of the two below */
    size_t failed;            /* the first item that has failed so far, or SIZE_MAX */
    rapt_error error;         /* its error */
};

/* Encodes x->lines[count]; the rest of *x is zeroed, but for `stop`, `context` and `ended`. request->stop does not count.
 * `prefix` is that of all lines where the request has no options or prefixes; it lasts. Errors as of rapt_translator_run_with. To
 * be freed in any case. */
rapt_code translate_text_encode(translate_text *x, const translate_setup *setup, const rapt_translator_request *request,
                                const prefixes *prefix, rapt_error *err);
void translate_text_free(translate_text *x);

bool translate_text_is_stopped(const translate_item *item);
/* An item is over: translated, stopped or failed. */
void translate_text_end(translate_item *item);
/* Items that no batch has taken, the last `count` ones, are over: nobody wants them. */
void translate_text_drop(translate_text *x, size_t count);
/* Keeps the error of the first item that fails, whichever thread comes upon it when. */
void translate_text_fail(translate_item *item, const rapt_error *err);
/* Whether an item can still be the first that fails. */
bool translate_text_is_wanted(const translate_item *item);

/* When no item is left: out[count], which rapt_translations_free frees, or the error of the first item that failed. */
rapt_code translate_text_write(translate_text *x, rapt_translation *out, rapt_error *err);

#endif
