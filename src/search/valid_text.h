/* search/valid_text.h: bytes as text that JSON can hold. For prompts, paths and tokens that are printed. */
#ifndef SEARCH_VALID_TEXT_H
#define SEARCH_VALID_TEXT_H

#include "rapt/base.h"

/* `bytes` with U+FFFD for bytes that are not UTF-8 (as in text_stream_push), NUL-terminated; free() it. NULL with `err` (which
 * may be NULL) set: out of memory. */
char *valid_text(const char *bytes, size_t size, size_t *length, rapt_error *err);

#endif
