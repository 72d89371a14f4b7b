/* text/chat/jinja_work.h: memory, limits and the first failure of reading or running a template. All memory is freed together. A
 * failure stays: later calls have no effect, so that callers need to check it only in loops. */
#ifndef TEXT_CHAT_JINJA_WORK_H
#define TEXT_CHAT_JINJA_WORK_H

#include "base/arena.h"
#include "rapt/base.h"

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

#endif
