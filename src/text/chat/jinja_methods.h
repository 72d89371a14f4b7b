/* text/chat/jinja_methods.h: methods of Python's str and dict, and of loops. */
#ifndef TEXT_CHAT_JINJA_METHODS_H
#define TEXT_CHAT_JINJA_METHODS_H

#include "text/chat/jinja_call.h"

/* The name of a method that the value has, NULL: none. Fails for one that Python has and this has not. */
const char *jinja_method_find(jinja_work *w, jinja_value self, jinja_value name);
jinja_value jinja_method_call(jinja_work *w, const jinja_method *m, const jinja_arguments *a);

#endif
