/* cli/cmd_generate.h: what the files of `rapt generate` share. */
#ifndef CLI_CMD_GENERATE_H
#define CLI_CMD_GENERATE_H

#include "rapt/generate.h"

#define GENERATE_MAX_STOPS 64
#define GENERATE_MAX_BIASES 1024

typedef struct generate_arguments {
    const char *model, *operand, *prompt, *prompt_file;
    rapt_generate_options o;
    long max_tokens;
    uint64_t seed;
    const char *stops[GENERATE_MAX_STOPS];
    rapt_logit_bias biases[GENERATE_MAX_BIASES];
    long samples, top, at, context;
    bool greedy, no_prompt, json, quiet, has_at, at_all, strict, has_seed, random_seed;
} generate_arguments;

/* The prompt as it was given. */
typedef struct generate_prompt {
    const char *text;
    size_t size;
} generate_prompt;

/* --at: the most probable tokens after one token of the prompt, to stdout. */
rapt_code generate_at(const generate_arguments *a, rapt_generator *g, const rapt_model *m, generate_prompt p, rapt_error *err);

#endif
