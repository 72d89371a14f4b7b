/* text/chat/jinja_access.h: parts of values: x.name, x[key], x[a:b:c]. As in Jinja, each of the first two falls back to the
 * other, and a missing part is undefined. */
#ifndef TEXT_CHAT_JINJA_ACCESS_H
#define TEXT_CHAT_JINJA_ACCESS_H

#include "text/chat/jinja_value.h"

jinja_value jinja_attribute(jinja_work *w, jinja_value of, jinja_value name);
jinja_value jinja_item(jinja_work *w, jinja_value of, jinja_value key);
/* Missing ends are None. Unlike the two above, it fails where Python does. */
jinja_value jinja_slice(jinja_work *w, jinja_value of, jinja_value from, jinja_value to, jinja_value step);

#endif
