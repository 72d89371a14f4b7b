/* cli/completion/completion.h: `rapt --completion SHELL`: scripts by which bash, zsh and fish complete a command line, from the
 * tables of options. A program that is a single file brings its completions along. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include "cli/commands.h"

/* `shell`: "bash", "zsh" or "fish"; another one, or NULL, is wrong usage. Returns the exit status. */
int completion_print(const char *shell);

/* To stdout. */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

/* ---- completion_walk.c: what the three scripts say in their own words */

/* What may stand in a place. */
typedef enum completion_kind {
    COMPLETION_NONE,
    COMPLETION_WORDS,   /* one of a list */
    COMPLETION_FILES,
    COMPLETION_FOLDERS,
    COMPLETION_RECIPES, /* files *.yaml */
    COMPLETION_KEYS     /* of a recipe, with = behind it */
} completion_kind;

completion_kind completion_of_option(const cli_option *o); /* its value */
/* An operand, `place` from 0; the last one stands for all behind it. */
completion_kind completion_of_operand(const cli_command *c, size_t place);

typedef void completion_visit(const cli_option *o, void *context);
/* Every option of a command, --help and --usage last. `c` NULL: these two alone. */
void completion_options(const cli_command *c, completion_visit *visit, void *context);

/* The words of "fp32, bf16", or of "fp32|bf16", separated by spaces. */
void completion_put_words(const char *list);
/* The names of all keys of a recipe, separated by spaces. */
void completion_put_keys(void);
/* What an option or a command means, in some 70 bytes: the first clause, or its beginning. `escape` stands before each of the
 * characters `escaped`. */
void completion_put_meaning(const char *meaning, const char *escaped, const char *escape);
/* Whether an option may be given several times. */
bool completion_repeats(const cli_option *o);

#endif
