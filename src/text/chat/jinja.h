/* text/chat/jinja.h: templates in the part of Jinja (jinja.palletsprojects.com) that chat templates use, in the environment that
 * transformers gives them: a sandbox whose values are constant, trim_blocks and lstrip_blocks, break and continue, `generation`
 * blocks, raise_exception, strftime_now, and a special tojson. Features that are not implemented are refused by name, most of
 * them when the template is read. docs/chat.md lists the implemented ones. */
#ifndef TEXT_CHAT_JINJA_H
#define TEXT_CHAT_JINJA_H

#include "rapt/base.h"

#include <jansson.h>

typedef struct jinja_template jinja_template;

/* Reads a template; `name` stands for its path in messages. NULL with `err` set: "NAME:LINE: REASON". */
jinja_template *jinja_template_new(const char *name, const char *text, size_t size, rapt_error *err);
void jinja_template_free(jinja_template *t); /* NULL is fine */

/* Bounds of a template's memory and steps, and the time that it sees. Zeroed: JINJA_MOST_MEMORY, all steps, the present time. */
typedef struct jinja_bounds {
    int64_t now;        /* the time of strftime_now, in seconds since 1970; 0: the present */
    size_t memory;      /* bytes; 0: JINJA_MOST_MEMORY */
    rapt_stop_fn *stop; /* asked every JINJA_STOP_STEPS steps: true ends it with RAPT_ERR_INTERRUPTED; or NULL */
    void *context;
} jinja_bounds;

/* Renders the template with the members of an object as variables. `bounds` may be NULL. The caller frees *text, which ends with
 * a NUL; NULL after a failure. */
rapt_code jinja_template_render(const jinja_template *t, const json_t *variables, const jinja_bounds *bounds, char **text,
                                size_t *size, rapt_error *err);

#endif
