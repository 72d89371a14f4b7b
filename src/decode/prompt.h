/* decode/prompt.h: a prompt as tokens that a model knows. For generators, and for whoever counts a prompt's tokens. */
#ifndef DECODE_PROMPT_H
#define DECODE_PROMPT_H

#include "rapt/io.h"

typedef struct prompt {
    int32_t *ids; /* free() it */
    size_t count; /* at least 1 */
} prompt;

/* As rapt_generator_begin has it: special tokens count as such, an empty prompt is the model's end of text, and the errors are
 * those. Leaves nothing to free on failure. */
rapt_code prompt_encode(const rapt_model *m, const char *text, size_t size, prompt *p, rapt_error *err);

/* RAPT_ERR_VALUE where one of the tokens is none of the model's. */
rapt_code prompt_check(const rapt_model *m, const int32_t *ids, size_t count, rapt_error *err);

#endif
