/* cli/cli.h: what the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "rapt/tape.h"

#include "cli/usage.h"

#define CLI_MAX_TEXT ((size_t)8 << 30)
#define CLI_MOST 9007199254740992 /* 2^53, up to where a double counts: of options without a limit of their own */

/* argv[0] is "rapt COMMAND"; returns the exit status. */
int cmd_train(int argc, char **argv);
int cmd_average(int argc, char **argv);
int cmd_translate(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_tokenizer(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* Prints "rapt: MESSAGE" to stderr; returns 1. */
int cli_fail(const rapt_error *err);
/* Numbers of options, with wrong usage (exit status 2) for anything else. */
long cli_integer(const char *text, long least, long most, const char *option, struct argp_state *state);
double cli_number(const char *text, double least, double most, const char *option, struct argp_state *state);
rapt_precision cli_precision(const char *text, struct argp_state *state); /* "fp32" or "bf16" */
/* Says on stderr, unless `quiet`, that there are fewer CPUs than threads were asked for (0: were not). */
void cli_warn_threads(int threads, bool quiet);
/* "s" for all counts but 1: "%zu line%s" */
const char *cli_plural(size_t count);
/* "1.2 MB" */
const char *cli_bytes(double bytes, char text[32]);
/* "1:05" or "2:01:05" */
const char *cli_duration(double seconds, char text[32]);

#endif
