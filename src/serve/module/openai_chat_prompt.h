/* serve/module/openai_chat_prompt.h: messages as a prompt, by the chat template of a model: for chats and responses. */
#ifndef SERVE_MODULE_OPENAI_CHAT_PROMPT_H
#define SERVE_MODULE_OPENAI_CHAT_PROMPT_H

#include "serve/module/openai_answer.h"
#include "serve/module/openai_messages.h"

/* Makes the prompt of `r`: the template's text of the messages, with the variables of "chat_template_kwargs". Errors name
 * `field`, which has the messages; one error is that the model has no template. */
void openai_chat_prompt(openai_request *r, const openai_asked *q, const char *field, const openai_messages *messages);
/* Limits the reply to `tokens`, or if that is not positive, to what the context and the operator leave. */
void openai_chat_limit(openai_request *r, int64_t tokens, const app_limits *limits, const rapt_model *m);
/* The command for X-Rapt-Replay. It contains the template's text: `rapt generate --chat` would make it again, and a template may
 * depend on the date. */
void openai_chat_replay(const openai_asked *q, const openai_request *r);

#endif
