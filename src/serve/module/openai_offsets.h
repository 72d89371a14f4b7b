/* serve/module/openai_offsets.h: where tokens begin in the text of a completion, in characters: "text_offset". The text is as it
 * is sent: U+FFFD counts as the character that replaces invalid bytes, and generated tokens follow the prompt, whether it is
 * echoed or not. A token that only continues a character begins after it. */
#ifndef SERVE_MODULE_OPENAI_OFFSETS_H
#define SERVE_MODULE_OPENAI_OFFSETS_H

#include "decode/continuation.h"
#include "serve/module/openai_prompt.h"

/* `prompt` and `tokenizer` are borrowed; everything else is zero at first. */
typedef struct openai_offsets {
    const openai_prompt *prompt;
    const rapt_tokenizer *tokenizer;
    size_t bytes, characters; /* the text so far, without an unfinished character */
    text_tokens tokens;       /* tokens of the prompt, then of the whole text */
    token_text shown;
    text_stream *out;         /* NULL: no token has come yet */
    bool generated;           /* a generated token has come */
} openai_offsets;

/* The offset of the prompt's next token, which is `id`. A token that the text does not contain, such as a tokenizer's beginning
 * of a text, takes no characters. False: out of memory. */
bool openai_offsets_of_prompt(openai_offsets *o, int32_t id, size_t *offset);
/* The offset of the next generated token, which is `id`. False: out of memory. */
bool openai_offsets_of_next(openai_offsets *o, int32_t id, size_t *offset);
void openai_offsets_free(openai_offsets *o);

#endif
