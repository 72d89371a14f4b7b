/* cli/cmd_generate.h: what the files of `rapt generate` share. */
#ifndef CLI_CMD_GENERATE_H
#define CLI_CMD_GENERATE_H

#include "cli/generation_options.h"

typedef struct generate_arguments {
    const char *model, *operand, *prompt, *prompt_file, *system, *schema;
    char *variables; /* variables of the chat template, a JSON object, or NULL */
    generation_options g;
    long long samples, top, at;
    bool no_prompt, json, log_probs, quiet, has_at, at_all, strict, chat, json_object;
} generate_arguments;

/* The prompt as it was given. */
typedef struct generate_prompt {
    const char *text;
    size_t size;
} generate_prompt;

/* --at: the most probable tokens after one token of the prompt, to stdout. */
rapt_code generate_at(const generate_arguments *a, rapt_generator *g, const rapt_model *m, generate_prompt p, rapt_error *err);

#endif
