/* decode/translate_text.h: lines that are translated together: as segments that the model takes, and as translations again. For
 * segment_runs.c, translate_lane.c, translate.c and the engine. */
#ifndef DECODE_TRANSLATE_TEXT_H
#define DECODE_TRANSLATE_TEXT_H

#include "base/queue.h"
#include "base/thread.h"
#include "decode/prefixes.h"
#include "decode/source_segments.h"
#include "decode/terms.h"
#include "decode/translate_settings.h"

#include <stdatomic.h>

typedef struct translate_text translate_text;

/* A segment and its translation. */
typedef struct translate_item {
    translate_text *text;
    const source_segment *source;
    search_prefix begin;   /* forced prefix of its translation */
    size_t line;           /* that it is of */
    uint64_t row;          /* which random numbers it draws by */
    bool stopped;          /* its line was cancelled before it was translated */
    rapt_translation *out; /* its translation */
    segment_terms terms;
} translate_item;

struct translate_text {
    queue_link link;          /* of the lane that translates it */
    const translate_setup *setup;
    translate_settings settings;
    size_t beam;              /* the widest of its segments: terms may need more than settings.search.beam */
    const rapt_text *lines;   /* [count], which must last; an element is not read if the line has tokens */
    const rapt_source_tokens *tokens; /* [count] the request's, or NULL */
    size_t count;
    size_t first_line;        /* the request's */
    bool (*stop)(void *context, size_t line); /* whether a line is cancelled, from any thread; or NULL */
    bool (*stop_all)(void *context); /* whether all lines are: asked first; or NULL */
    void *context;
    source_segments source;
    translate_item *items;    /* [source.count], by line */
    translate_item **order;   /* [source.count] by length, in which they begin, so that segments of a batch end together */
    size_t next;              /* the first of them that has not begun */
    atomic_size_t left;       /* items that are neither translated nor cancelled nor failed */
    atomic_bool *ended;       /* set when none is left; the lane's, which translate_lane_add sets */
    /* private */
    rapt_translation *segments; /* [source.count] */
    size_t *first;            /* [count + 1]: the first item of each line */
    source_fit *fits;         /* [count] */
    prefixes prefix;          /* the request's own */
    thread_mutex lock;        /* guards the two members below */
    size_t failed;            /* the first item that has failed so far, or SIZE_MAX */
    rapt_error error;         /* its error */
};

/* Encodes x->lines[count]. The caller has set `stop`, `stop_all` and `context`, and zeroed the rest of *x.
 * request->stop is not read. `prefix` applies to all lines if the request has no options or prefixes; it must last. Errors as in
 * rapt_translator_run. The caller frees x in any case. */
rapt_code translate_text_encode(translate_text *x, const translate_setup *setup, const rapt_translator_request *request,
                                const prefixes *prefix, rapt_error *err);
void translate_text_free(translate_text *x);

bool translate_text_is_stopped(const translate_item *item);
/* An item is over: translated, stopped or failed. */
void translate_text_end(translate_item *item);
/* Items that have not begun; that are in progress. */
size_t translate_text_waiting(const translate_text *x);
size_t translate_text_running(const translate_text *x);
/* Ends the items that have not begun if all lines are cancelled, and the next ones if nobody needs them after a failure. */
void translate_text_check(translate_text *x);
/* Keeps the error of the first item that fails, whichever thread comes upon it when. */
void translate_text_fail(translate_item *item, const rapt_error *err);
/* Whether an item can still be the first that fails. */
bool translate_text_is_wanted(const translate_item *item);

/* Call it when no item is left. Fills out[count], which rapt_translations_free frees, or returns the error of the first item that
 * failed. */
rapt_code translate_text_write(translate_text *x, rapt_translation *out, rapt_error *err);

#endif
