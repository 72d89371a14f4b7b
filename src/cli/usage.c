/* cli/usage.c: checks options before argp sees them, so that a wrong option is reported here, in one line. The commands decide
 * what options mean. */
#define _GNU_SOURCE
#include "cli/usage.h"

#include "base/quote.h"
#include "base/suggest.h"
#include "cli/group/launch.h"
#include "recipe/recipe_keys.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64
#define PART 90 /* bytes that quote() takes without cutting them */

enum { KEY_USAGE = 0x10000 };

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Quoted in parts that end between characters of UTF-8, because a message is longer than a quoted name may be. */
static void print_quoted(const char *text)
{
    size_t size;
    for (; *text; text += size) {
        char part[PART + 1];
        size = strnlen(text, PART);
        while (size > 1 && text[size] && ((unsigned char)text[size] & 0xC0) == 0x80)
            size--;
        memcpy(part, text, size);
        part[size] = '\0';
        fputs(quote(part).text, stderr);
    }
}

__attribute__((noreturn)) static void fail(const char *name, const char *message)
{
    const launch l = launch_find();
    const bool several = l.mpi && l.size != 1; /* without an MPI they may be separate commands */
    if (!several || launch_speaks(&l, true)) {
        static char line[BUFSIZ];
        char speaker[LAUNCH_SPEAKER];
        setvbuf(stderr, line, _IOLBF, sizeof line); /* one write: mpirun puts its own lines between writes */
        fprintf(stderr, "%s: %s", name, several ? launch_speaker(&l, true, speaker) : "");
        print_quoted(message);
        fprintf(stderr, " (see `%s --help`)\n", name);
        if (several)
            launch_leave(&l, argp_err_exit_status);
    }
    exit(argp_err_exit_status);
}

void cli_usage_error(const struct argp_state *state, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    fail(state->name, message);
}

/* ---- the options that there are ---------------------------------------------------------------------------------- */

typedef struct option_list {
    const struct argp_option *option[MAX_OPTIONS];
    const struct argp_option *meant[MAX_OPTIONS]; /* the option itself, or the option of which it is another name */
    size_t count;
} option_list;

static void add_options(const struct argp *argp, option_list *list)
{
    const struct argp_option *meant = NULL;
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
        meant = o->flags & OPTION_ALIAS ? meant : o;
        if ((o->name || o->key) && list->count < MAX_OPTIONS) {
            list->option[list->count] = o;
            list->meant[list->count++] = meant;
        }
    }
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        add_options(c->argp, list);
}

static const struct argp_option *find_short(const option_list *list, char letter)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->option[i]->key == letter)
            return list->meant[i];
    return NULL;
}

/* An option's name may be abbreviated while it fits only one option; `fits` says how many it fits. */
static const struct argp_option *find_long(const option_list *list, const char *name, size_t length, size_t *fits)
{
    const struct argp_option *found = NULL;
    *fits = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *known = list->option[i]->name;
        if (!known || strncmp(known, name, length) != 0)
            continue;
        if (strlen(known) == length) {
            *fits = 1;
            return list->meant[i];
        }
        *fits += found != list->meant[i];
        found = list->meant[i];
    }
    return found;
}

/* Whether the command takes keys of a recipe: it has --set. */
static bool takes_keys(const option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->option[i]->name && strcmp(list->option[i]->name, "set") == 0)
            return true;
    return false;
}

static const char *nearest(const option_list *list, const char *name)
{
    const char *names[MAX_OPTIONS];
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->option[i]->name)
            names[count++] = list->option[i]->name;
    return suggest_nearest(name, names, count);
}

/* ---- the options that were given --------------------------------------------------------------------------------- */

__attribute__((noreturn, format(printf, 2, 3))) static void refuse(const char *command, const char *format, ...)
{
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    fail(command, message);
}

static bool takes_next(const struct argp_option *o)
{
    return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Users often take a key of the recipe for an option: `rapt train r.yaml --epochs 3`. `value`: the option's value, or NULL. */
__attribute__((noreturn)) static void refuse_unknown(const char *command, const option_list *list, const char *name,
                                                     const char *value)
{
    const char *near = nearest(list, name);
    const char *key = takes_keys(list) && !(near && suggest_same(near, name)) ? recipe_key_meant(name) : NULL;
    if (key)
        refuse(command, "unknown option \"--%s\"; a key of the recipe is set by --set %s=%.60s", name, key,
               value ? value : "VALUE");
    refuse(command, "unknown option \"--%s\"%s%s%s", name, near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* Whether the next argument is the option's value. `next` NULL: there is no next argument. */
static bool check_long(const char *command, const option_list *list, const char *text, const char *next)
{
    char name[64];
    size_t fits, length = strcspn(text, "=");
    const struct argp_option *o = find_long(list, text, length, &fits);
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text);
    if (fits > 1)
        refuse(command, "ambiguous option \"--%s\": --%s and others", name, o->name);
    if (!o)
        refuse_unknown(command, list, name, text[length] ? text + length + 1 : next);
    if (!o->arg && text[length])
        refuse(command, "option --%s takes no value", o->name);
    if (takes_next(o) && !text[length] && !next)
        refuse(command, "option --%s needs a value: --%s %s", o->name, o->name, o->arg);
    return takes_next(o) && !text[length];
}

static bool check_short(const char *command, const option_list *list, const char *letters, const char *next)
{
    for (; *letters; letters++) {
        const struct argp_option *o = find_short(list, *letters);
        if (!o)
            refuse(command, "unknown option \"-%s\"", letters);
        if (takes_next(o) && !letters[1] && !next)
            refuse(command, "option -%c needs a value: -%c %s", *letters, *letters, o->arg);
        if (o->arg)
            return takes_next(o) && !letters[1];
    }
    return false;
}

static void usage_check_options(const struct argp *argp, int argc, char **argv)
{
    option_list list = {.count = 0};
    add_options(argp, &list);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *text = argv[i];
        if (text[0] != '-' || !text[1])
            continue;
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        i += text[1] == '-' ? check_long(argv[0], &list, text + 2, next) : check_short(argv[0], &list, text + 1, next);
    }
}

/* ---- help --------------------------------------------------------------------------------------------------------- */

static const struct argp_option HELP[] = {
    {"help", 'h', NULL, 0, "Print this list", -1},
    {NULL, '?', NULL, OPTION_HIDDEN, NULL, -1}, /* as argp has it */
    {"usage", KEY_USAGE, NULL, 0, "Print a short usage message", -1},
    {0}};

static error_t parse_help(int key, char *text, struct argp_state *state)
{
    (void)text;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->input; return 0;
    case 'h':
    case '?': argp_state_help(state, stdout, ARGP_HELP_STD_HELP); return 0;
    case KEY_USAGE: argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp whole = {.options = HELP, .parser = parse_help, .children = children};
    usage_check_options(&whole, argc, argv);
    argp_parse(&whole, argc, argv, ARGP_NO_HELP, NULL, input);
}
