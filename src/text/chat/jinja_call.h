/* text/chat/jinja_call.h: the arguments of calls, filters and tests. */
#ifndef TEXT_CHAT_JINJA_CALL_H
#define TEXT_CHAT_JINJA_CALL_H

#include "text/chat/jinja_value.h"

enum { JINJA_MOST_ARGUMENTS = 32, JINJA_MOST_PARAMETERS = 5 };

typedef struct jinja_arguments {
    jinja_value values[JINJA_MOST_ARGUMENTS]; /* those without names come first */
    jinja_value names[JINJA_MOST_ARGUMENTS];  /* not texts for those */
    size_t count, named;                      /* all of them, and how many have names */
} jinja_arguments;

/* Puts arguments into values[0 ..] by place or name; values without an argument stay unchanged. `parameters`: names with a space
 * between them, at most JINJA_MOST_PARAMETERS; the first `required` of them must be given. False after a failure, whose message
 * names `what`. */
bool jinja_bind(jinja_work *w, const char *what, const jinja_arguments *a, const char *parameters, size_t required,
                jinja_value *values);
/* Fails if there is any argument. */
bool jinja_bind_none(jinja_work *w, const char *what, const jinja_arguments *a);

/* Fails if an argument is of another kind. */
bool jinja_want_text(jinja_work *w, const char *what, jinja_value v);
bool jinja_want_integer(jinja_work *w, const char *what, jinja_value v, int64_t *integer);

#endif
