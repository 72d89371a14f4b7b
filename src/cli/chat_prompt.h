/* cli/chat_prompt.h: a conversation as the tokens of a prompt. For commands that converse. */
#ifndef CLI_CHAT_PROMPT_H
#define CLI_CHAT_PROMPT_H

#include "rapt/chat.h"
#include "rapt/io.h"

typedef struct chat_prompt {
    int32_t *ids;
    size_t count;
} chat_prompt;

/* A row of a table of options. */
enum { KEY_TEMPLATE_VARIABLE = 0x5000 };
#define CHAT_OPTION_VARIABLE                                                                                                    \
    {"template-var", KEY_TEMPLATE_VARIABLE, "NAME=VALUE", 0, "A variable of the chat template, as enable_thinking=false: VALUE " \
     "is JSON, else a text; can be repeated", 0}

/* Adds NAME=VALUE to the JSON object *variables, which the caller frees; NULL counts as an empty object. False: `text` has no
 * name, or out of memory. */
bool chat_prompt_variable(char **variables, const char *text);

/* The tokens of messages in the model's template, with variables from a JSON object, or NULL. After a failure there is nothing to
 * free. */
rapt_code chat_prompt_make(const rapt_chat_template *chat, const rapt_model *m, const rapt_chat_message *messages, size_t count,
                           const char *variables, chat_prompt *p, rapt_error *err);
void chat_prompt_free(chat_prompt *p); /* {0} is fine */

#endif
