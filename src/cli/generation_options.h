/* cli/generation_options.h: the options of commands that generate text: the length, how tokens are chosen, threads and types. */
#ifndef CLI_GENERATION_OPTIONS_H
#define CLI_GENERATION_OPTIONS_H

#include "rapt/generate.h"

#include "cli/cli.h"

#define GENERATE_MAX_STOPS 64
#define GENERATE_MAX_BIASES 1024

/* `o`, `max_tokens` and `context` are set to the command's defaults at first; the rest is zeroed. */
typedef struct generation_options {
    rapt_generate_options o;
    long long max_tokens, context;
    const char *adapter; /* a folder, or NULL */
    cli_heads without;
    const char *stops[GENERATE_MAX_STOPS];
    rapt_logit_bias biases[GENERATE_MAX_BIASES];
    bool random_seed;
} generation_options;

/* The row of --max-tokens, whose meaning differs, and the table of all others, whose fields are in a generation_options. */
#define GENERATION_OPTION_MAX_TOKENS(at, meaning) OPTION_LONG("max-tokens", "N", at, 0, OPTION_ANY, meaning)
extern const cli_option generation_options_rows[];

/* Why a run ended, in --json. */
const char *generation_end(rapt_finish_reason finish);

/* Call it after all options: it completes `o`, and refuses options that exclude each other or `samples`. */
void generation_options_finish(generation_options *g, long long samples);

#endif
