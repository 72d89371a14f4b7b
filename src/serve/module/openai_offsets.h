/* serve/module/openai_offsets.h: where tokens begin in the text of a completion, in characters: "text_offset". The text is the
 * one that is sent: U+FFFD counts where it stands for bytes that are no character, and generated tokens come behind the prompt,
 * whether it is echoed or not. A token that only continues a character begins behind it. */
#ifndef SERVE_MODULE_OPENAI_OFFSETS_H
#define SERVE_MODULE_OPENAI_OFFSETS_H

#include "decode/continuation.h"
#include "serve/module/openai_prompt.h"

/* `prompt` and `tokenizer` are borrowed, and all else zero at first. */
typedef struct openai_offsets {
    const openai_prompt *prompt;
    const rapt_tokenizer *tokenizer;
    size_t bytes, characters; /* of the text so far, but for a character that has begun */
    text_tokens tokens;       /* of the prompt, then of the whole text */
    token_text shown;
    text_stream *out;         /* NULL: no token has come yet */
    bool generated;           /* one of those that are generated has come */
} openai_offsets;

/* The offset of the prompt's next token, which is `id`. What the text does not have, such as the token that a tokenizer begins a
 * text with, takes no characters. False: out of memory. */
bool openai_offsets_of_prompt(openai_offsets *o, int32_t id, size_t *offset);
/* The offset of the next generated token, which is `id`. False: out of memory. */
bool openai_offsets_of_next(openai_offsets *o, int32_t id, size_t *offset);
void openai_offsets_free(openai_offsets *o);

#endif
