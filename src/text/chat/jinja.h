/* text/chat/jinja.h: templates in the part of Jinja (jinja.palletsprojects.com) that chat templates use, in the environment that
 * transformers gives them: a sandbox whose values are constant, trim_blocks and lstrip_blocks, break and continue, `generation`
 * blocks, raise_exception, strftime_now, and a tojson of its own. What is not implemented is refused by its name, most of it when
 * the template is read. docs/chat.md lists what there is. */
#ifndef TEXT_CHAT_JINJA_H
#define TEXT_CHAT_JINJA_H

#include "rapt/base.h"

#include <jansson.h>

typedef struct jinja_template jinja_template;

/* Reads a template; `name` stands for its path in messages. NULL with `err` set: "NAME:LINE: REASON". */
jinja_template *jinja_template_new(const char *name, const char *text, size_t size, rapt_error *err);
void jinja_template_free(jinja_template *t); /* NULL is fine */

/* What a template may take, and what it takes for the present. Zeroed: JINJA_MOST_MEMORY, until its steps are up, now. */
typedef struct jinja_bounds {
    int64_t now;        /* the time of strftime_now, in seconds since 1970; 0: the present */
    size_t memory;      /* bytes; 0: JINJA_MOST_MEMORY */
    rapt_stop_fn *stop; /* asked every JINJA_STOP_STEPS steps: true ends it with RAPT_ERR_INTERRUPTED; or NULL */
    void *context;
} jinja_bounds;

/* Its text with the members of an object as variables. `bounds` may be NULL. *text is to be freed, and ends with a NUL; NULL
 * after a failure. */
rapt_code jinja_template_render(const jinja_template *t, const json_t *variables, const jinja_bounds *bounds, char **text,
                                size_t *size, rapt_error *err);

#endif
