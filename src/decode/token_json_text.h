/* decode/token_json_text.h: the text of a token as JSON can hold it. For what the server and `rapt translate --json` write. */
#ifndef DECODE_TOKEN_JSON_TEXT_H
#define DECODE_TOKEN_JSON_TEXT_H

#include "base/buffer.h"
#include "rapt/text.h"

/* Its bytes, where they are UTF-8 without NUL, else "bytes:\xe2\x80"; of an id without bytes "token_id:50257", in place of
 * what is in `to`. False: out of memory. */
bool token_json_text(buffer *to, const rapt_tokenizer *tokenizer, int32_t id);

#endif
