/* decode/token_json_text.h: the text of a token in a form that JSON can hold. For the server and `rapt translate --json`. */
#ifndef DECODE_TOKEN_JSON_TEXT_H
#define DECODE_TOKEN_JSON_TEXT_H

#include "base/buffer.h"
#include "rapt/text.h"

/* Replaces the contents of `to` by the bytes of a token if they are UTF-8 without NUL, else by "bytes:\xe2\x80"; for an id
 * without bytes, by "token_id:50257". False: out of memory. */
bool token_json_text(buffer *to, const rapt_tokenizer *tokenizer, int32_t id);

#endif
