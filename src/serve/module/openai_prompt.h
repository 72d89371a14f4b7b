/* serve/module/openai_prompt.h: prompts of a request as tokens of its model. */
#ifndef SERVE_MODULE_OPENAI_PROMPT_H
#define SERVE_MODULE_OPENAI_PROMPT_H

#include "serve/module/fields.h"

#include "rapt/io.h"

typedef struct openai_prompt {
    int32_t *ids; /* [count], at least one */
    size_t count;
    char *text;   /* [size] and a NUL: the request's text, or the ids decoded */
    size_t size;
    bool same;    /* the text alone is encoded to these ids */
} openai_prompt;

typedef struct openai_prompts {
    openai_prompt *list; /* [count] */
    size_t count;
} openai_prompts;

/* Reads "prompt": a text, a list of texts, a list of ids, or a list of lists of ids; absent, it is an empty text, so that the
 * model begins a new text. There may be at most `most` texts, n for each prompt. Errors are left in the fields: among them a
 * prompt that is longer than the model's context, with code context_length_exceeded. */
void openai_prompts_read(openai_prompts *to, fields *f, size_t most, size_t n, const rapt_model *m);
/* Sets one prompt: it takes over the ids, and copies their text. */
void openai_prompts_set(openai_prompts *to, fields *f, const char *field, int32_t *ids, size_t count, const char *text,
                        size_t size, const rapt_model *m);
void openai_prompts_free(openai_prompts *p);

#endif
