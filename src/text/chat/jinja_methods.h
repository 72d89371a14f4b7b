/* text/chat/jinja_methods.h: methods of Python's str and dict, and of loops. */
#ifndef TEXT_CHAT_JINJA_METHODS_H
#define TEXT_CHAT_JINJA_METHODS_H

#include "text/chat/jinja_call.h"

/* The name of a method of the value; NULL: none. Fails for a method that Python has and that is not implemented. */
const char *jinja_method_find(jinja_work *w, jinja_value self, jinja_value name);
jinja_value jinja_method_call(jinja_work *w, const jinja_method *m, const jinja_arguments *a);

#endif
