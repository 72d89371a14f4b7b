/* text/compose.h: Unicode's composed form (NFC) of a text of any size. For tokenizers that ask for it. */
#ifndef TEXT_COMPOSE_H
#define TEXT_COMPOSE_H

#include "rapt/base.h"

/* Calls take(context, composed, size) once with the whole text in form NFC. Bytes that are not UTF-8 stay as they are.
 * A text that is in this form already is handed on as it is; another one is copied. */
rapt_code compose(const char *text, size_t size, rapt_code (*take)(void *context, const char *text, size_t size),
                  void *context, rapt_error *err);

#endif
