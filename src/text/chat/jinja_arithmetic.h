/* text/chat/jinja_arithmetic.h: + - * / // % of templates, as Python has them, with integers of 64 bits. */
#ifndef TEXT_CHAT_JINJA_ARITHMETIC_H
#define TEXT_CHAT_JINJA_ARITHMETIC_H

#include "text/chat/jinja_value.h"

jinja_value jinja_binary(jinja_work *w, jinja_value op, jinja_value a, jinja_value b);
/* -v or +v */
jinja_value jinja_signed(jinja_work *w, jinja_value v, bool negative);

#endif
