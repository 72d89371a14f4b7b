/* text/chat/chat_template.h: a template with the special tokens that it is given. */
#ifndef TEXT_CHAT_CHAT_TEMPLATE_H
#define TEXT_CHAT_CHAT_TEMPLATE_H

#include "rapt/chat.h"
#include "text/chat/jinja.h"

struct rapt_chat_template {
    jinja_template *jinja;
    json_t *tokens; /* {"bos_token": "<s>", ...} */
};

#endif
