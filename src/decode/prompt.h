/* decode/prompt.h: a prompt as tokens that a model knows. For generators, and for code that counts a prompt's tokens. */
#ifndef DECODE_PROMPT_H
#define DECODE_PROMPT_H

#include "rapt/io.h"

typedef struct prompt {
    int32_t *ids; /* free() it */
    size_t count; /* at least 1 */
} prompt;

/* Encodes a prompt as rapt_generator_begin does: texts of special tokens become those tokens, an empty prompt becomes the model's
 * end of text, and errors are the same. Leaves nothing to free on failure. */
rapt_code prompt_encode(const rapt_model *m, const char *text, size_t size, prompt *p, rapt_error *err);

/* RAPT_ERR_VALUE: the model does not have one of the tokens. */
rapt_code prompt_check(const rapt_model *m, const int32_t *ids, size_t count, rapt_error *err);

#endif
