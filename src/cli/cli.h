/* cli/cli.h: what the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "rapt/metrics.h"
#include "rapt/nn.h"
#include "rapt/tape.h"

#include "base/file.h"
#include "cli/usage.h"
#include "text/line_stream.h"

#define CLI_MAX_TEXT FILE_GIB(8)
/* The limit of options without their own: 2^53, up to which a double represents every integer. */
#define CLI_MAX 9007199254740992

/* argv[0] is "rapt COMMAND"; returns the exit status. */
int cmd_train(int argc, char **argv);
int cmd_average(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_translate(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_tokenizer(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* Options of several commands: rows of their tables, with keys above the keys of the commands' own options. `meaning` is the help
 * text of an option that does not cover the same in all commands. */
enum { CLI_KEY_THREADS = 0x8000, CLI_KEY_PRECISION, CLI_KEY_WEIGHTS, CLI_KEY_SEED, CLI_KEY_JSON, CLI_KEY_QUIET,
       CLI_KEY_CONTEXT, CLI_KEY_ADAPTER, CLI_KEY_KV_CACHE };
#define CLI_OPTION_ADAPTER \
    {"adapter", CLI_KEY_ADAPTER, "DIR", 0, "Add the low-rank adapters (LoRA) of DIR, which PEFT or rapt train wrote", 0}
#define CLI_OPTION_THREADS \
    {"threads", CLI_KEY_THREADS, "N", 0, "Number of threads (default: RAPT_THREADS, else all CPUs); the result is the same", 0}
#define CLI_OPTION_SEED(meaning) {"seed", CLI_KEY_SEED, "N", 0, meaning, 0}
#define CLI_OPTION_PRECISION(meaning) {"precision", CLI_KEY_PRECISION, "P", 0, meaning, 0}
#define CLI_OPTION_KV_CACHE                                                                                         \
    {"kv-cache", CLI_KEY_KV_CACHE, "T", 0, "What the KV cache stores keys and values in: fp32 (default), bf16 (half the " \
     "memory) or q8_0 (8 bits and a scale for 32: about a quarter)", 0}
#define CLI_OPTION_WEIGHTS                                                                                           \
    {"weights", CLI_KEY_WEIGHTS, "T", 0, "Type of the weights of linear layers, and precision of their products: fp32 " \
     "(default, where a file does not store fewer bits; 16 of them give what fp32 gives), bf16, as --precision, or q8_0 " \
     "or q4_0: 8 or 4 bits, with the same result on every processor. T,PATTERN=T,...: others for parameters of such "    \
     "names, or for `output`", 0}
#define CLI_OPTION_JSON(meaning) {"json", CLI_KEY_JSON, NULL, 0, meaning, 0}
#define CLI_OPTION_CONTEXT(meaning) {"context", CLI_KEY_CONTEXT, "N", 0, meaning, 0}
#define CLI_OPTION_QUIET(meaning) {"quiet", CLI_KEY_QUIET, NULL, 0, meaning, 0}

/* Prints "rapt: MESSAGE" to stderr; returns 1. */
int cli_fail(const rapt_error *err);
/* Values of options. A text that is not a number from `min` to `max`, or not a known name, is wrong usage (exit status 2). */
long cli_integer(const char *text, long min, long max, const char *option, struct argp_state *state);
double cli_number(const char *text, double min, double max, const char *option, struct argp_state *state);
int cli_threads(const char *text, struct argp_state *state); /* 1 to 256 */
long cli_seed(const char *text, struct argp_state *state);   /* 0 to LONG_MAX */
/* --set: returns `text` if it is a key of a recipe with a value that the key may have. */
const char *cli_assignment(const char *text, struct argp_state *state);
/* --text: one line of UTF-8, and no FILE. */
void cli_check_text(const char *text, const char *file, struct argp_state *state);
/* The lines of FILE, or of standard input for NULL or "-". If there is no such file, it may have been meant as the text itself:
 * the message names --text. */
line_stream *cli_open_lines(const char *file, rapt_error *err);
/* Sets *to to the operand `text`; if it is already set, there is one operand too many: "extra operand: takes WHAT". */
void cli_operand(const char **to, const char *text, const char *takes, struct argp_state *state);
/* --precision and --weights, which exclude each other. */
rapt_precision cli_precision(const char *text, struct argp_state *state); /* "fp32" or "bf16" */
/* Returns a list of types as in rapt_tape_options.weights; *precision: the type for all. */
const char *cli_weights(const char *text, rapt_precision *precision, struct argp_state *state);
const char *cli_storage_name(rapt_storage storage);
rapt_storage cli_kv_cache(const char *text, struct argp_state *state);    /* "fp32", "bf16" or "q8_0" */
/* Says on stderr, unless `quiet`, that there are fewer CPUs than threads were asked for (0: were not). */
void cli_warn_threads(int threads, bool quiet);
/* "s" for every count except 1: "%zu line%s" */
const char *cli_plural(size_t count);
/* "1.2 MB" */
const char *cli_bytes(double bytes, char text[32]);
/* Columns of text that a line of a table may take on stdout: COLUMNS, else the terminal's width, else 80. */
size_t cli_width(void);
/* "1:05" or "2:01:05" */
const char *cli_duration(double seconds, char text[32]);

/* Appends to a signature of sacreBLEU which program computed the score. */
enum { CLI_SIGNATURE = RAPT_SIGNATURE_SIZE + 32 };
void cli_sign(char signature[CLI_SIGNATURE]);

/* "sinusoidal" and so on. */
const char *cli_positions_word(rapt_positions_kind kind);

#endif
