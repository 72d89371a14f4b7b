/* serve/module/openai_translate.h: chats with a translation model. */
#ifndef SERVE_MODULE_OPENAI_TRANSLATE_H
#define SERVE_MODULE_OPENAI_TRANSLATE_H

#include "serve/module/app.h"
#include "serve/module/openai_messages.h"

/* Answers a request for a translation model, whose set the caller holds until it returns: the last message of the user is the
 * text, its lines are translated. `f` has been read but for what a translation depends on. */
void openai_translate(app *a, exchange *x, const served *s, fields *f, const openai_messages *messages);

#endif
