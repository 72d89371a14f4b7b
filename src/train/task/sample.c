/* train/task/sample.c: a text that a language model in training generates from the prompt. For the loop, through the task; `rapt
 * generate` has its own options. */
#define _GNU_SOURCE
#include "train/task/sample.h"

#include "decode/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct collected {
    const run *r;
    FILE *out;
} collected;

/* A rapt_text_fn. */
static rapt_code sample_collect(void *context, const char *text, size_t size, rapt_error *err)
{
    const collected *c = context;
    if (fwrite(text, 1, size, c->out) != size)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    return run_stopped(c->r, err);
}

char *sample_text(const run *r, const char *prompt, rapt_error *err)
{
    char *text = NULL;
    size_t size;
    collected c = {r, open_memstream(&text, &size)};
    rapt_generate_options o = rapt_generate_options_default();
    o.sample.seed = (uint64_t)r->recipe->seed;
    o.max_tokens = (size_t)r->recipe->train.sample_tokens;
    o.on_text = sample_collect;
    o.context = &c;
    rapt_code code = c.out && fputs(prompt, c.out) >= 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    rapt_generator *g = code ? NULL : generator_on_tape(r->model, r->tape, &o, err);
    if (!code)
        code = g ? rapt_generator_begin(g, prompt, strlen(prompt), err) : err->code;
    if (!code)
        code = rapt_generator_run(g, 0, NULL, err);
    rapt_generator_free(g);
    if (c.out && fclose(c.out) != 0 && !code)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    if (!code)
        return text;
    free(text);
    return NULL;
}
