/* cli/chat_prompt.h: a conversation as the tokens of a prompt. For commands that converse. */
#ifndef CLI_CHAT_PROMPT_H
#define CLI_CHAT_PROMPT_H

#include "rapt/chat.h"
#include "rapt/io.h"

#include "cli/options/options.h"

typedef struct chat_prompt {
    int32_t *ids;
    size_t count;
} chat_prompt;

/* A row of --template-var: adds NAME=VALUE to the JSON object at `at`, a char *, which the caller frees; NULL counts as an empty
 * object. */
#define CHAT_OPTION_VARIABLE(at, ...)                                                                                           \
    OPTION_VALUE(OPTION_KIND_TAKE, "template-var", "NAME=VALUE", at, "A variable of the chat template, as "                      \
                 "enable_thinking=false: VALUE is JSON, else a text; can be repeated",                                           \
                 .take = chat_prompt_take_variable, __VA_ARGS__)
option_take chat_prompt_take_variable;

/* The tokens of messages in the model's template, with variables from a JSON object, or NULL. After a failure there is nothing to
 * free. */
rapt_code chat_prompt_make(const rapt_chat_template *chat, const rapt_model *m, const rapt_chat_message *messages, size_t count,
                           const char *variables, chat_prompt *p, rapt_error *err);
void chat_prompt_free(chat_prompt *p); /* {0} is fine */

#endif
