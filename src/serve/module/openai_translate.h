/* serve/module/openai_translate.h: chats with a translation model. */
#ifndef SERVE_MODULE_OPENAI_TRANSLATE_H
#define SERVE_MODULE_OPENAI_TRANSLATE_H

#include "serve/module/openai_answer.h"
#include "serve/module/openai_messages.h"

/* Answers a request for a translation model, or leaves an error in its fields: the last message of the user is the text, its
 * lines are translated. All fields have been read, except those on which a translation depends. */
void openai_translate(const openai_asked *q, const openai_messages *messages);

#endif
