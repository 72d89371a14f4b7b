/* text/chat/jinja_lex.h: a template as tokens: text, and the contents of {{ }} and {% %}. */
#ifndef TEXT_CHAT_JINJA_LEX_H
#define TEXT_CHAT_JINJA_LEX_H

#include "text/chat/jinja_value.h"

typedef enum jinja_token_kind {
    JINJA_TOKEN_DATA,
    JINJA_TOKEN_PRINT,     /* {{ */
    JINJA_TOKEN_PRINT_END, /* }} */
    JINJA_TOKEN_BLOCK,     /* {% */
    JINJA_TOKEN_BLOCK_END, /* %} */
    JINJA_TOKEN_NAME,
    JINJA_TOKEN_CONSTANT, /* a string or number */
    JINJA_TOKEN_SIGN,     /* "==" and so on */
    JINJA_TOKEN_END
} jinja_token_kind;

typedef struct jinja_token {
    jinja_token_kind kind;
    unsigned line;
    jinja_value value; /* the text of data, names and signs */
} jinja_token;

/* Tokens of a valid UTF-8 text, followed by JINJA_TOKEN_END. White space is as with Jinja's trim_blocks and lstrip_blocks, and a
 * line feed at the end is dropped. NULL after a failure. */
const jinja_token *jinja_lex(jinja_work *w, const char *text, size_t size);

#endif
