/* text/chat/jinja_tests.h: tests: the names after `is`. */
#ifndef TEXT_CHAT_JINJA_TESTS_H
#define TEXT_CHAT_JINJA_TESTS_H

#include "text/chat/jinja_call.h"

bool jinja_test_known(jinja_value name);
/* Fails if there is no such test. */
bool jinja_test(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a);

#endif
