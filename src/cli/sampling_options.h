/* cli/sampling_options.h: the options that choose tokens at random, for commands that generate text and for `rapt translate`. */
#ifndef CLI_SAMPLING_OPTIONS_H
#define CLI_SAMPLING_OPTIONS_H

#include "rapt/generate.h"

#include "cli/options/options.h"

/* Options whose fields are in a rapt_sample_options. The first six ask for a kind of sampling (generate_options_ask). */
extern const cli_option sampling_options_rows[];

/* The last given option that asks for a kind of sampling, or NULL. After options_parse. */
const char *sampling_options_given(void);

/* Call it after all options: 0 is all tokens for each of them. */
void sampling_options_finish(rapt_sample_options *s);

#endif
