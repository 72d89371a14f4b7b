/* text/chat/jinja_from_json.h: JSON as values of templates; null becomes None. */
#ifndef TEXT_CHAT_JINJA_FROM_JSON_H
#define TEXT_CHAT_JINJA_FROM_JSON_H

#include "text/chat/jinja_value.h"

#include <jansson.h>

/* Puts the members of an object into a dict. */
void jinja_from_json(jinja_work *w, const json_t *object, jinja_dict *d);

#endif
