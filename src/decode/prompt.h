/* decode/prompt.h: a prompt as tokens that a model knows. For rapt_generate, and to look at what a model makes of a
 * prompt. */
#ifndef DECODE_PROMPT_H
#define DECODE_PROMPT_H

#include "rapt/generate.h"

typedef struct prompt {
    int32_t *ids; /* free() it */
    size_t count; /* at least 1 */
} prompt;

/* As rapt_generate has it: special tokens count as such, an empty prompt is one <|endoftext|> where the model has it, and
 * the errors are those. Leaves nothing to free on failure. */
rapt_code prompt_encode(const rapt_lm *m, const rapt_tokenizer *k, const char *text, size_t size, prompt *p, rapt_error *err);

/* The token that ends a text, or -1 where the model has none. */
int32_t prompt_end_of_text(const rapt_lm *m, const rapt_tokenizer *k);

/* Logits after the first `count` tokens of a text (rapt_lm_next); NULL with `err` set. */
const rapt_real *prompt_logits(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *ids, size_t count,
                               rapt_error *err);

/* The n <= vocabulary likeliest tokens, likeliest first, and their probabilities, after the first
 * `count` tokens of a text, the last of which is that of `position`. */
rapt_code prompt_likeliest_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *tokens, size_t count,
                                size_t position, size_t n, int32_t *ids, double *probabilities, rapt_error *err);

/* The n <= vocabulary likeliest tokens after positions 0 .. position of the prompt, likeliest first, and their
 * probabilities. A prompt longer than the context is seen through the window that generation would have there. `err` is not
 * NULL. */
rapt_code prompt_likeliest(rapt_tape *t, const rapt_lm *m, const prompt *p, size_t position, size_t n, int32_t *ids,
                           double *probabilities, rapt_error *err);

#endif
