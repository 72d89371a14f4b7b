/* decode/translate_text.h: lines that are translated together: as segments that the model takes, and as translations again. For
 * segment_runs.c, translate.c and the engine. */
#ifndef DECODE_TRANSLATE_TEXT_H
#define DECODE_TRANSLATE_TEXT_H

#include "decode/prefixes.h"
#include "decode/source_segments.h"
#include "decode/translate_settings.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct translate_text translate_text;

/* A segment and its translation. */
typedef struct translate_item {
    translate_text *text;
    const source_segment *source;
    search_prefix begin;   /* forced prefix of its translation */
    size_t line;           /* that it is of */
    bool stopped;          /* its line was cancelled before it was translated */
    rapt_translation *out; /* its translation */
} translate_item;

struct translate_text {
    const translate_setup *setup;
    translate_settings settings;
    const char *const *lines; /* [count], which must last */
    size_t count;
    bool (*stop)(void *context, size_t line); /* whether a line is cancelled, from any thread; or NULL */
    void *context;
    source_segments source;
    translate_item *items;    /* [source.count], by line */
    atomic_size_t left;       /* items that are neither translated nor cancelled nor failed */
    atomic_bool *ended;       /* set when none is left; or NULL */
    /* private */
    rapt_translation *segments; /* [source.count] */
    size_t *first;            /* [count + 1]: the first item of each line */
    source_fit *fits;         /* [count] */
    prefixes prefix;          /* the request's own */
    pthread_mutex_t lock;     /* guards the two members below */
    size_t failed;            /* the first item that has failed so far, or SIZE_MAX */
    rapt_error error;         /* its error */
};

/* Encodes x->lines[count]. The caller has set `stop`, `context` and `ended`, and zeroed the rest of *x. request->stop is not
 * read. `prefix` applies to all lines if the request has no options or prefixes; it must last. Errors as in
 * rapt_translator_run_with. The caller frees x in any case. */
rapt_code translate_text_encode(translate_text *x, const translate_setup *setup, const rapt_translator_request *request,
                                const prefixes *prefix, rapt_error *err);
void translate_text_free(translate_text *x);

bool translate_text_is_stopped(const translate_item *item);
/* An item is over: translated, stopped or failed. */
void translate_text_end(translate_item *item);
/* Ends the last `count` items, which no batch has taken, because nobody needs them any more. */
void translate_text_drop(translate_text *x, size_t count);
/* Keeps the error of the first item that fails, whichever thread comes upon it when. */
void translate_text_fail(translate_item *item, const rapt_error *err);
/* Whether an item can still be the first that fails. */
bool translate_text_is_wanted(const translate_item *item);

/* Call it when no item is left. Fills out[count], which rapt_translations_free frees, or returns the error of the first item that
 * failed. */
rapt_code translate_text_write(translate_text *x, rapt_translation *out, rapt_error *err);

#endif
