/* decode/token_text.h: the text of tokens that come one by one. For generation. */
#ifndef DECODE_TOKEN_TEXT_H
#define DECODE_TOKEN_TEXT_H

#include "decode/text_stream.h"
#include "rapt/text.h"

typedef struct token_text {
    const rapt_tokenizer *tokenizer;
    size_t from, shown; /* tokens from .. shown - 1 of the text are decoded again, for what is before a token matters */
    size_t next;        /* with fewer tokens it is not tried again whether those behind them have a text by now */
} token_text;

/* The next token is number `count` of its text. */
void token_text_begin(token_text *t, const rapt_tokenizer *tokenizer, size_t count);
/* Token tokens[count - 1] has come: pushes the text that it adds. Tokens of a pipeline are decoded together with those before
 * them; bytes that are no whole character wait for the next token, and beyond a few for a sixteenth of as many. Ids without a
 * text add nothing. */
rapt_code token_text_next(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err);

/* Whether the last tokens wait for the next one. */
bool token_text_is_open(const token_text *t, size_t count);
/* No more tokens: pushes what waits. */
rapt_code token_text_finish(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err);

#endif
