/* cli/chat_prompt.h: a conversation as the tokens of a prompt. For commands that converse. */
#ifndef CLI_CHAT_PROMPT_H
#define CLI_CHAT_PROMPT_H

#include "rapt/chat.h"
#include "rapt/io.h"

typedef struct chat_prompt {
    int32_t *ids;
    size_t count;
} chat_prompt;

/* Messages in the model's template, as tokens. Nothing is left to free after a failure. */
rapt_code chat_prompt_make(const rapt_chat_template *chat, const rapt_model *m, const rapt_chat_message *messages, size_t count,
                           chat_prompt *p, rapt_error *err);
void chat_prompt_free(chat_prompt *p); /* {0} is fine */

#endif
