/* serve/module/openai_chat_prompt.h: messages as a prompt, by the chat template of a model: for chats and responses. */
#ifndef SERVE_MODULE_OPENAI_CHAT_PROMPT_H
#define SERVE_MODULE_OPENAI_CHAT_PROMPT_H

#include "serve/module/openai_answer.h"
#include "serve/module/openai_messages.h"

/* The template's text of the messages as the prompt of `r`, with the variables of "chat_template_kwargs". Errors are those of the
 * field that has the messages: among them that the model has no template. */
void openai_chat_prompt(openai_request *r, const openai_asked *q, const char *field, const openai_messages *messages);
/* How many tokens a reply has: `tokens`, or where that is not positive, as many as the context and the operator leave. */
void openai_chat_limit(openai_request *r, int64_t tokens, const app_limits *limits, const rapt_model *m);
/* The command for X-Rapt-Replay. The program's own --chat has a template's text anew, which may depend on the day; the text of
 * this one does not. */
void openai_chat_replay(const openai_asked *q, const openai_request *r);

#endif
