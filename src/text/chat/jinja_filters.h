/* text/chat/jinja_filters.h: filters: the names after |. */
#ifndef TEXT_CHAT_JINJA_FILTERS_H
#define TEXT_CHAT_JINJA_FILTERS_H

#include "text/chat/jinja_call.h"

bool jinja_filter_known(jinja_value name);
/* Fails if there is no such filter. */
jinja_value jinja_filter(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a);

#endif
