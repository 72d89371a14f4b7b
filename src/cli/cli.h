/* cli/cli.h: what the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "rapt/metrics.h"
#include "rapt/nn.h"
#include "rapt/tape.h"

#include "base/file.h"
#include "cli/options/options.h"
#include "text/line_stream.h"

#define CLI_MAX_TEXT FILE_GIB(8)

/* Rows of several commands; `at` is the offset of the field that a row sets. */
#define CLI_OPTION_ADAPTER(at) \
    OPTION_TEXT("adapter", "DIR", at, "Add the low-rank adapters (LoRA) of DIR, which PEFT or rapt train wrote")
#define CLI_OPTION_WITHOUT_HEAD(names, count) OPTION_TEXTS("without-head", "HEAD", names, count, CLI_MAX_HEADS, CLI_WITHOUT_HEAD)
#define CLI_OPTION_THREADS(at) \
    OPTION_INT("threads", "N", at, 1, 256, "Number of threads (default: RAPT_THREADS, else all CPUs); the result is the same")
#define CLI_OPTION_SET(at, count, most) \
    OPTION_TEXTS("set", "KEY=VALUE", at, count, most, "Overrides a key of the recipe; can be repeated", .letter = 's')
#define CLI_OPTION_SEED(function, meaning) OPTION_TAKE("seed", "N", function, meaning)
/* Both set `precision`, so they exclude each other. --weights takes a list of types as in rapt_compute.weights; the type for
 * all becomes the precision. */
#define CLI_OPTION_PRECISION(precision, meaning) \
    OPTION_WORD("precision", "P", precision, 0, "fp32, bf16", meaning, .not_with = "weights")
#define CLI_OPTION_WEIGHTS(at, precision, meaning) \
    OPTION_VALUE(OPTION_KIND_TAKE, "weights", "T", at, meaning, .other = precision, .take = cli_take_weights, \
                 .words = CLI_WEIGHT_TYPES)
#define CLI_OPTION_KV_CACHE(at, meaning) OPTION_WORD("kv-cache", "T", at, 0, "fp32, bf16, q8_0", meaning)
#define CLI_WITHOUT_HEAD                                                                                               \
    "Switch an attention head off, so that it hands zeros to the output projection: a head, as in "                    \
    "decoder.1.cross_attention.2, or all that match a shell pattern, such as '*.attention.0'; can be repeated"
#define CLI_WEIGHT_TYPES "fp32, bf16, q8_0, q4_0"
#define CLI_PRECISION "Matmul precision: fp32 (default) or bf16"
#define CLI_WEIGHTS                                                                                                     \
    "Type of the weights of linear layers, and precision of their products: fp32 (default, where a file does not store " \
    "fewer bits; 16 of them give what fp32 gives), bf16, as --precision, or q8_0 or q4_0: 8 or 4 bits, with the same "   \
    "result on every processor. T,PATTERN=T,...: others for parameters of such names, or for `output`"
#define CLI_KV_CACHE                                                                                                     \
    "What the KV cache stores keys and values in: fp32 (default), bf16 (half the memory) or q8_0 (8 bits and a scale for " \
    "32: about a quarter)"
option_take cli_take_weights;

/* --without-head; heads.count is 0 unless it was given. */
enum { CLI_MAX_HEADS = 256 };
typedef struct cli_heads {
    const char *names[CLI_MAX_HEADS];
    size_t count;
} cli_heads;

/* Prints "rapt: MESSAGE" to stderr; returns 1. */
int cli_fail(const rapt_error *err);
long long cli_seed(const char *text); /* 0 to LLONG_MAX */
/* --set: each is a key of a recipe with a value that the key may have. */
void cli_check_assignments(const char *const *texts, size_t count);
/* Says in the message of a recipe where all keys are listed, if it names an unknown key that is like no other. */
void cli_point_to_keys(rapt_error *err);
/* --text: one line of UTF-8, and no FILE. */
void cli_check_text(const char *text, const char *file);
/* The lines of FILE, or of standard input for NULL or "-". If there is no such file, it may have been meant as the text itself:
 * the message names --text. */
line_stream *cli_open_lines(const char *file, rapt_error *err);
/* Says on stderr, unless `quiet`, that there are fewer CPUs than threads were asked for (0: were not). */
void cli_warn_threads(int threads, bool quiet);
/* "s" for every count except 1: "%zu line%s" */
const char *cli_plural(size_t count);
/* "1.2 MB" */
const char *cli_bytes(double bytes, char text[32]);
enum { CLI_BATCHES = 48 };
/* ", batches 134.2 MB"; "" for less than 1 MB. */
const char *cli_batches(size_t bytes, char text[CLI_BATCHES]);
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
