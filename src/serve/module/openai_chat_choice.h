/* serve/module/openai_chat_choice.h: choices of chats, whether a language model or a translation model replies. */
#ifndef SERVE_MODULE_OPENAI_CHAT_CHOICE_H
#define SERVE_MODULE_OPENAI_CHAT_CHOICE_H

#include <jansson.h>

#include <stdbool.h>

/* A choice of a chat.completion. `logprobs` is taken over. NULL: out of memory. */
json_t *openai_chat_choice(size_t index, const char *text, size_t size, json_t *logprobs, const char *finish);
/* One of a chat.completion.chunk: the first one of a choice has the role, the last one `finish` and no text. */
json_t *openai_chat_delta(size_t index, bool first, const char *text, size_t size, json_t *logprobs, const char *finish);

#endif
