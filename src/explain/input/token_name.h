/* explain/input/token_name.h: the printable name of a token: in tables, lists and pictures. For the
 * commands that inspect models; the text cannot be recovered from it. */
#ifndef EXPLAIN_INPUT_TOKEN_NAME_H
#define EXPLAIN_INPUT_TOKEN_NAME_H

#include "rapt/text.h"

/* The token's text, a space as an open box, control characters and bytes that are not UTF-8 as escapes ("\n", "\xe6"); "id 7" if
 * the id has no text. One line of UTF-8; free() it. NULL: out of memory. */
char *token_name(const rapt_tokenizer *k, int32_t id);

#endif
