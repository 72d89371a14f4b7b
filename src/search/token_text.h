/* search/token_text.h: the text of tokens that come one by one. For generation. */
#ifndef SEARCH_TOKEN_TEXT_H
#define SEARCH_TOKEN_TEXT_H

#include "search/text_stream.h"
#include "rapt/text.h"

typedef struct token_text {
    const rapt_tokenizer *tokenizer;
    size_t from, shown; /* tokens from .. shown - 1 of the text are decoded again, because the text of a token depends on tokens
                           before it */
    size_t next;        /* while the text has fewer tokens, held tokens are not decoded again */
} token_text;

/* The next token is number `count` of its text. */
void token_text_begin(token_text *t, const rapt_tokenizer *tokenizer, size_t count);
/* Pushes the text that the new token tokens[count - 1] adds. Tokens of a pipeline are decoded together with the tokens before
 * them. Bytes that are not a whole character wait for the next token; if more than a few tokens wait, they are tried again only
 * when their number has grown by a sixteenth. Ids without a text add nothing. */
rapt_code token_text_next(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err);

/* Whether the last tokens wait for the next one. */
bool token_text_is_open(const token_text *t, size_t count);
/* Says that no more tokens come: pushes what waits. */
rapt_code token_text_finish(token_text *t, const int32_t *tokens, size_t count, text_stream *out, rapt_error *err);

#endif
