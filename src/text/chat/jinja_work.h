/* text/chat/jinja_work.h: memory, limits and the first failure of reading or running a template. All of it is given back at once.
 * Failures stick: what follows one does nothing of consequence, so that callers check where they loop. */
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
    const char *name; /* of the template, for messages */
    unsigned line;    /* of the node at work */
    rapt_code code;   /* of the first failure */
    rapt_error *err;  /* NULL is fine */
    arena memory;
    char *at;         /* free bytes of the last block */
    size_t left, bytes, steps, depth;
    size_t most_memory;
    rapt_stop_fn *stop; /* or NULL */
    void *context;
    size_t asked;       /* steps at which it was asked last */
} jinja_work;

void jinja_work_begin(jinja_work *w, const char *name, rapt_error *err);
/* Less memory than JINJA_MOST_MEMORY, where it is not 0, and who is asked whether to stop, or NULL. */
void jinja_work_bound(jinja_work *w, size_t memory, rapt_stop_fn *stop, void *context);
void jinja_work_end(jinja_work *w);

/* "NAME:LINE: ...", RAPT_ERR_FORMAT: the first failure counts. */
void jinja_fail(jinja_work *w, const char *format, ...) RAPT_PRINTF(2, 3);

/* RAPT_ERR_MEMORY, for what is not allocated here. */
void jinja_no_memory(jinja_work *w);

/* Contents undefined, aligned for any value; NULL after a failure, which too much memory is. */
void *jinja_alloc(jinja_work *w, size_t count, size_t size);

/* Counts work; false, once too much was done, or after a failure. */
bool jinja_step(jinja_work *w, size_t steps);

/* One level deeper, false where that is too deep or after a failure. jinja_leave follows in any case. */
bool jinja_enter(jinja_work *w);
void jinja_leave(jinja_work *w);

#endif
