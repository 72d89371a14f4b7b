/* base/texts.h: strings as texts with sizes. For callers that have lines without zero bytes, and call functions that take any
 * text. */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

#include "rapt/base.h"

/* The texts of `count` strings (or NULL), which the caller frees. NULL with `err` set: out of memory. */
rapt_text *texts_of(const char *const *strings, size_t count, rapt_error *err);

#endif
