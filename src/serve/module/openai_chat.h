/* serve/module/openai_chat.h: what chats are made of: messages, the prompt that a template makes of them, choices, and the
 * translation model that can reply. */
#ifndef SERVE_MODULE_OPENAI_CHAT_H
#define SERVE_MODULE_OPENAI_CHAT_H

#include "rapt/chat.h"

#include "serve/module/fields.h"
#include "serve/module/openai_answer.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- openai_messages.c: the messages of a chat. */

typedef struct openai_messages {
    rapt_chat_message *list; /* [count] */
    size_t count;
    char **joined;           /* [count] contents of several parts, joined; or NULL */
    json_t **more;           /* [count] what else a template is given of a message: {"tool_calls": [...]}; or NULL */
    size_t more_bytes;       /* of the JSON in them, about */
} openai_messages;

/* Reads "messages": roles system (or developer, which is the same here), user, assistant and tool; a content is a text or a
 * list of parts of type text. The arguments of "tool_calls" become objects, for whose memory `x` is asked. Pictures are refused.
 * The texts last as long as the fields. */
void openai_messages_read(openai_messages *to, fields *f, exchange *x);
/* Reads "input", a text of the user or a list of such messages, whose parts may also be of type input_text and output_text;
 * "instructions" becomes a system message before them. */
void openai_messages_read_input(openai_messages *to, fields *f);
/* The messages as a template is given them. NULL: out of memory. */
json_t *openai_messages_list(const openai_messages *m);
void openai_messages_free(openai_messages *m);

/* ---- openai_chat_prompt.c: messages as a prompt, by the chat template of a model: for chats and responses. */

/* Makes the prompt of `r`: the template's text of the messages and r->tools, with the variables of "chat_template_kwargs", and
 * the opening of a call that the reply must be. Errors name
 * `field`, which has the messages; one error is that the model has no template. */
void openai_chat_prompt(openai_request *r, const openai_asked *q, const char *field, const openai_messages *messages);
/* Limits the reply to `tokens`, or if that is not positive, to what the context and the operator leave. */
void openai_chat_limit(openai_request *r, int64_t tokens, const app_limits *limits, const rapt_model *m);
/* The command for X-Rapt-Replay. It contains the template's text: `rapt generate --chat` would make it again, and a template may
 * depend on the date. */
void openai_chat_replay(const openai_asked *q, const openai_request *r);

/* ---- openai_chat_choice.c: choices of chats, whether a language model or a translation model replies. */

/* A choice of a chat.completion. `logprobs` is taken over. NULL: out of memory. */
json_t *openai_chat_choice(size_t index, const char *text, size_t size, json_t *logprobs, const char *finish);
/* One of a chat.completion.chunk: the first one of a choice has the role, the last one `finish` and no text. */
json_t *openai_chat_delta(size_t index, bool first, const char *text, size_t size, json_t *logprobs, const char *finish);

/* ---- openai_translate.c: chats with a translation model. */

/* Answers a request for a translation model, or leaves an error in its fields: the last message of the user is the text, its
 * lines are translated. All fields have been read, except those on which a translation depends. */
void openai_translate(const openai_asked *q, const openai_messages *messages);

#endif
