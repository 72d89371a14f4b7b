/* cli/generation_options.h: the options of commands that generate text: the length, how tokens are chosen, threads and types. */
#ifndef CLI_GENERATION_OPTIONS_H
#define CLI_GENERATION_OPTIONS_H

#include "rapt/generate.h"

#include "cli/cli.h"

#define GENERATE_MAX_STOPS 64
#define GENERATE_MAX_BIASES 1024

/* `max_tokens`, `seed` and `context` are set to the command's defaults at first; the rest is zeroed. */
typedef struct generation_options {
    rapt_generate_options o;
    long max_tokens, context;
    uint64_t seed;
    const char *adapter; /* a folder, or NULL */
    const char *stops[GENERATE_MAX_STOPS];
    rapt_logit_bias biases[GENERATE_MAX_BIASES];
    bool greedy, has_seed, random_seed;
} generation_options;

enum { KEY_MAX_TOKENS = 0x4000, KEY_TEMPERATURE, KEY_TOP_K, KEY_TOP_P, KEY_PENALTY, KEY_WINDOW, KEY_GREEDY, KEY_STOP, KEY_MIN_P,
       KEY_BIAS, KEY_RANDOM_SEED, KEY_BEAM, KEY_PRESENCE, KEY_FREQUENCY };

/* Rows of a table of options. `tokens`: the help text of --max-tokens. */
#define GENERATION_OPTIONS(tokens)                                                                                              \
    {"max-tokens", KEY_MAX_TOKENS, "N", 0, tokens, 0},                                                                        \
    {"beam", KEY_BEAM, "N", 0, "Beam search for the text of the highest score, over N hypotheses, instead of sampling (default " \
     "1: none)", 0},                                                                                                          \
    {"temperature", KEY_TEMPERATURE, "T", 0, "Softmax temperature (default 0.8): 1 leaves the model's distribution unchanged, " \
     "lower sharpens it, higher flattens it; 0: greedy", 0},                                                                  \
    {"greedy", KEY_GREEDY, NULL, 0, "Always the most probable token: --temperature 0", 0},                                    \
    {"top-k", KEY_TOP_K, "K", 0, "Sample from the K most probable tokens only (default 200); 0: all", 0},                     \
    {"top-p", KEY_TOP_P, "P", 0, "Nucleus sampling: sample from the most probable tokens that add up to probability P, after " \
     "--top-k; 0 or 1: all (default)", 0},                                                                                    \
    {"min-p", KEY_MIN_P, "P", 0, "Sample only from tokens with at least P times the probability of the most probable one, "   \
     "after --top-p; 0: all (default)", 0},                                                                                   \
    {"logit-bias", KEY_BIAS, "ID:BIAS", 0, "Add BIAS to the logit of token ID; -inf excludes it; can be repeated", 0},        \
    {"repetition-penalty", KEY_PENALTY, "R", 0, "Above 1 makes tokens that occurred before less likely: positive logits / R, " \
     "negative * R; 1: off (default); 0.001 to 1000", 0},                                                                     \
    {"repetition-window", KEY_WINDOW, "N", 0, "The penalty applies to the last N tokens; 0: to the whole context "            \
     "(default)", 0},                                                                                                         \
    {"presence-penalty", KEY_PRESENCE, "P", 0, "Take P from the logit of a token that was generated already; -2 to 2", 0},    \
    {"frequency-penalty", KEY_FREQUENCY, "P", 0, "Take P from the logit of a token as often as it was generated; -2 to 2", 0}, \
    CLI_OPTION_SEED("Random seed: the same seed, prompt and options give the same text, on any machine, with any number of "  \
                    "threads (default 1)"),                                                                                   \
    {"random-seed", KEY_RANDOM_SEED, NULL, 0, "A random seed from the system, which stderr (and --json) prints", 0},          \
    {"stop", KEY_STOP, "TEXT", 0, "Stop sequence: end the text before TEXT, which is not printed; can be repeated", 0},       \
    CLI_OPTION_CONTEXT("See at most the last N tokens (default: the model's context), which bounds the memory of the KV "     \
                       "cache"),                                                                                              \
    CLI_OPTION_ADAPTER,                                                                                                       \
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),                                                         \
    CLI_OPTION_WEIGHTS,                                                                                                       \
    CLI_OPTION_KV_CACHE,                                                                                                      \
    CLI_OPTION_THREADS

/* Takes one of these options; ARGP_ERR_UNKNOWN for another. */
error_t generation_options_take(generation_options *g, int key, const char *text, struct argp_state *state);
/* Call it after all options: it completes `o`, and refuses options that exclude each other or `samples`. */
void generation_options_finish(generation_options *g, long samples, struct argp_state *state);

#endif
