/* text/chat/jinja_print.h: values of templates as text: as Python's str() and repr() have them, and as json.dumps() has them. */
#ifndef TEXT_CHAT_JINJA_PRINT_H
#define TEXT_CHAT_JINJA_PRINT_H

#include "text/chat/jinja_value.h"

/* str(v): a text is returned unchanged, an undefined value becomes "". */
jinja_value jinja_str(jinja_work *w, jinja_value v);

typedef struct jinja_json_options {
    bool ascii, sort_keys;
    int64_t indent;                   /* below 0: all on one line */
    jinja_value item_mark, key_mark; /* ", " and ": " */
} jinja_json_options;

jinja_value jinja_json(jinja_work *w, jinja_value v, const jinja_json_options *o);

#endif
