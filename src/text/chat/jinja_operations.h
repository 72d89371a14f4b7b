/* text/chat/jinja_operations.h: what an expression of a template can do with values. For jinja_eval.c. */
#ifndef TEXT_CHAT_JINJA_OPERATIONS_H
#define TEXT_CHAT_JINJA_OPERATIONS_H

#include "text/chat/jinja_call.h"
#include "text/chat/jinja_value.h"

/* ---- jinja_access.c: parts of values: x.name, x[key], x[a:b:c]. As in Jinja, each of the first two falls back to the other,
 * and a missing part is undefined. */

jinja_value jinja_attribute(jinja_work *w, jinja_value of, jinja_value name);
jinja_value jinja_item(jinja_work *w, jinja_value of, jinja_value key);
/* Missing ends are None. Unlike the two above, it fails where Python does. */
jinja_value jinja_slice(jinja_work *w, jinja_value of, jinja_value from, jinja_value to, jinja_value step);

/* ---- jinja_arithmetic.c: + - * / // % of templates, as Python has them, with integers of 64 bits. */

jinja_value jinja_binary(jinja_work *w, jinja_value op, jinja_value a, jinja_value b);
/* -v or +v */
jinja_value jinja_signed(jinja_work *w, jinja_value v, bool negative);

/* ---- jinja_filters.c: filters: the names after |. */

bool jinja_filter_known(jinja_value name);
/* Fails if there is no such filter. */
jinja_value jinja_filter(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a);

/* ---- jinja_methods.c: methods of Python's str and dict, and of loops. */

/* The name of a method of the value; NULL: none. Fails for a method that Python has and that is not implemented. */
const char *jinja_method_find(jinja_work *w, jinja_value self, jinja_value name);
jinja_value jinja_method_call(jinja_work *w, const jinja_method *m, const jinja_arguments *a);

/* ---- jinja_tests.c: tests: the names after `is`. */

bool jinja_test_known(jinja_value name);
/* Fails if there is no such test. */
bool jinja_test(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a);

#endif
