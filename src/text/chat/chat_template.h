/* text/chat/chat_template.h: a template with the special tokens that it is given. */
#ifndef TEXT_CHAT_CHAT_TEMPLATE_H
#define TEXT_CHAT_CHAT_TEMPLATE_H

#include "rapt/chat.h"
#include "text/chat/jinja.h"

/* The defaults, for the function that makes options, and for tests, which write other members behind them. */
#define CHAT_DEFAULTS .size = sizeof(rapt_chat_options), .memory = RAPT_CHAT_MEMORY, .generation_prompt = true

struct rapt_chat_template {
    jinja_template *jinja;
    json_t *tokens; /* {"bos_token": "<s>", ...} */
};

/* rapt_chat_apply with messages as objects that may have other members, such as "tool_calls", all of which the template is given;
 * and `tools`, a list of {"type": "function", "function": {...}}, or NULL. Both are borrowed. */
rapt_code chat_apply_list(const rapt_chat_template *chat, json_t *messages, json_t *tools, const rapt_chat_options *options,
                          char **text, size_t *size, rapt_error *err);
/* A list of "messages" or "tools", as `what` says, from JSON. NULL with `err` set. */
json_t *chat_list_read(const char *text, size_t size, const char *what, rapt_error *err);

#endif
