/* serve/module/openai_messages.h: the messages of a chat. */
#ifndef SERVE_MODULE_OPENAI_MESSAGES_H
#define SERVE_MODULE_OPENAI_MESSAGES_H

#include "serve/module/fields.h"

#include "rapt/chat.h"

typedef struct openai_messages {
    rapt_chat_message *list; /* [count] */
    size_t count;
    char **joined;           /* [count] contents of several parts, joined; or NULL */
} openai_messages;

/* Reads "messages": roles system (or developer, which is the same here), user and assistant; a content is a text or a list of
 * parts of type text. Tools, names and pictures are refused. The texts last as long as the fields. */
void openai_messages_read(openai_messages *to, fields *f);
/* Reads "input", a text of the user or a list of such messages, whose parts may also be of type input_text and output_text;
 * "instructions" becomes a system message before them. */
void openai_messages_read_input(openai_messages *to, fields *f);
void openai_messages_free(openai_messages *m);

#endif
