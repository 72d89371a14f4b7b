/* decode/valid_text.h: bytes as text that JSON can hold. For prompts, paths and tokens that are printed. */
#ifndef DECODE_VALID_TEXT_H
#define DECODE_VALID_TEXT_H

#include "rapt/base.h"

/* `bytes` with U+FFFD for what is not UTF-8 (as text_stream_push has it), NUL-terminated; free() it. NULL with `err` (or NULL)
 * set: out of memory. */
char *valid_text(const char *bytes, size_t size, size_t *length, rapt_error *err);

#endif
