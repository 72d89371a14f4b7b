/* cli/options/options.h: the options of a command as a table with one row for each: its names, the range of its value, its
 * meaning, and the field that it sets. From the table come parsing, checks, messages, --help and --usage.
 *
 * The parser is our own. Names are matched here anyway, because a message names the option that was probably meant; argp is
 * glibc's alone, and getopt_long does not say where it is in a word of short options when it fails.
 *
 *     typedef struct sort_arguments {
 *         const char *file;
 *         size_t first;
 *         bool quiet;
 *     } sort_arguments;
 *     #define ARGUMENTS sort_arguments
 *     static const cli_option OPTIONS[] = {
 *         OPTION_COUNT("first", "N", AT(first), 1, 1000, "Only the first N lines (default: all)"),
 *         OPTION_FLAG("quiet", AT(quiet), "No warnings"),
 *         {0}};
 *     static const cli_command COMMAND = {.options = OPTIONS, .operands = "FILE", .about = "Sort the lines of FILE.",
 *                                         .least = 1, .missing = "FILE", .most = 1, .takes = "one file", .operand = {AT(file)}};
 *     ...
 *     sort_arguments a = {0};
 *     options_parse(&COMMAND, argc, argv, &a);
 *
 * Users may put options before, between and behind operands; `--` ends them. A name may be abbreviated to what fits no other, a
 * value follows behind = or as the next argument. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- usage.c: messages about wrong use of a command. */

enum { USAGE_STATUS = 2 }; /* exit status after wrong use */

/* The command that the messages name: "rapt translate". */
void usage_of(const char *command);

/* Prints 'rapt translate: MESSAGE (see `rapt translate --help`)' to stderr, with control characters quoted, and ends the program
 * with USAGE_STATUS. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- the table */

/* The range of numbers without a limit of their own: 2^53, up to which a double represents every integer. */
#define OPTION_ANY 9007199254740992

typedef enum option_kind {
    OPTION_KIND_NONE,    /* the end of a table; with a meaning, a heading in --help */
    OPTION_KIND_TABLE,   /* the rows of another table; `field`: the struct that has their fields */
    OPTION_KIND_HELP,
    OPTION_KIND_USAGE,
    OPTION_KIND_FLAG,    /* a bool becomes true */
    OPTION_KIND_TEXT,    /* a const char * */
    OPTION_KIND_TEXTS,   /* a const char *[max], whose number is in `other`, a size_t; can be repeated */
    OPTION_KIND_COUNT,   /* a size_t */
    OPTION_KIND_INT,
    OPTION_KIND_LONG,
    OPTION_KIND_NUMBER,  /* a double */
    OPTION_KIND_WORD,    /* an enum: `min` for the first of `words`, and so on */
    OPTION_KIND_EITHER,  /* a bool: whether the value is the second of two `words` */
    OPTION_KIND_TAKE     /* what `take` does */
} option_kind;

typedef struct cli_option cli_option;

/* `in`: the struct to which o->field and o->other belong. `text` NULL: an optional value was not given. */
typedef void option_take(const cli_option *o, void *in, const char *text);

struct cli_option {
    option_kind kind;
    const char *name, *alias; /* without "--"; alias: another name, or NULL */
    char letter;              /* 'o' for -o, or 0 */
    const char *argument;     /* what --help calls the value; "[MODEL]": optional, and then only behind =; NULL: no value */
    const char *meaning;
    size_t field, other;      /* offsets in the command's arguments */
    double min, max;
    const char *words;        /* "text, jsonl, npy"; of other kinds than words: some that completions offer, or NULL */
    const char *needs;        /* an option without which this one is refused, or NULL */
    const char *not_with;     /* an option with which this one is refused, or NULL */
    option_take *take;
    const cli_option *table;
};

/* The offset of a field. A file with a table defines ARGUMENTS as the type of the struct that the table fills. */
#define AT(field) offsetof(ARGUMENTS, field)

/* Rows. Behind the meaning may follow other members: .letter = 'o', .needs = "at". */
#define OPTION_HEADING(text) {.meaning = text}
#define OPTION_TABLE(rows, at) {.kind = OPTION_KIND_TABLE, .table = rows, .field = at}
#define OPTION_FLAG(option, at, text, ...) {.kind = OPTION_KIND_FLAG, .name = option, .field = at, .meaning = text, __VA_ARGS__}
#define OPTION_VALUE(of_kind, option, value, at, text, ...) \
    {.kind = of_kind, .name = option, .argument = value, .field = at, .meaning = text, __VA_ARGS__}
#define OPTION_TEXT(option, value, at, ...) OPTION_VALUE(OPTION_KIND_TEXT, option, value, at, __VA_ARGS__)
#define OPTION_TEXTS(option, value, at, count, most, ...) \
    OPTION_VALUE(OPTION_KIND_TEXTS, option, value, at, __VA_ARGS__, .other = count, .max = most)
#define OPTION_COUNT(option, value, at, low, high, ...) \
    OPTION_VALUE(OPTION_KIND_COUNT, option, value, at, __VA_ARGS__, .min = low, .max = high)
#define OPTION_INT(option, value, at, low, high, ...) \
    OPTION_VALUE(OPTION_KIND_INT, option, value, at, __VA_ARGS__, .min = low, .max = high)
#define OPTION_LONG(option, value, at, low, high, ...) \
    OPTION_VALUE(OPTION_KIND_LONG, option, value, at, __VA_ARGS__, .min = low, .max = high)
#define OPTION_NUMBER(option, value, at, low, high, ...) \
    OPTION_VALUE(OPTION_KIND_NUMBER, option, value, at, __VA_ARGS__, .min = low, .max = high)
#define OPTION_WORD(option, value, at, first, list, ...) \
    OPTION_VALUE(OPTION_KIND_WORD, option, value, at, __VA_ARGS__, .min = first, .words = list)
#define OPTION_EITHER(option, value, at, list, ...) \
    OPTION_VALUE(OPTION_KIND_EITHER, option, value, at, __VA_ARGS__, .words = list)
#define OPTION_TAKE(option, value, function, ...) OPTION_VALUE(OPTION_KIND_TAKE, option, value, 0, __VA_ARGS__, .take = function)

enum { OPTION_OPERANDS = 3 };

typedef struct cli_command {
    const cli_option *options;  /* {0} ends them */
    const char *operands;       /* for --help: "MODEL [FILE]"; several forms, a line for each */
    const char *about, *notes;  /* above and below the options in --help; notes may be NULL */
    size_t least, most;         /* how many operands there may be; most 0: `finish` takes all of them */
    const char *words;          /* "multi30k, fra-eng": what the operand can be, or NULL: files, or a text */
    const char *missing, *takes; /* "missing operand: MODEL", "extra operand: takes a model and one file" */
    size_t operand[OPTION_OPERANDS]; /* [most] offsets of const char * */
    void (*finish)(void *arguments); /* checks what belongs together, when all options and operands are in place; or NULL */
} cli_command;

/* argv[0] is the name of the command. Sets fields of `arguments`. Wrong options end the program (usage_error), and so do --help
 * and --usage. */
void options_parse(const cli_command *command, int argc, char **argv, void *arguments);

/* After options_parse: whether an option was given; the operands, in argv. */
bool options_given(const char *name);
char **options_operands(size_t *count);
/* The name of the last given option whose row is in `table`, or NULL. */
const char *options_given_of(const cli_option *table);

/* Values of options. A text that is not a number from `min` to `max` is wrong use. */
long long option_integer(const char *text, long long min, long long max, const char *option);
double option_number(const char *text, double min, double max, const char *option);

/* --help and --usage, to stdout. */
void option_help_print(const cli_command *command, const char *name);
void option_usage_print(const cli_command *command, const char *name);
extern const cli_option option_help_rows[]; /* --help and --usage, which every command has */

#endif
