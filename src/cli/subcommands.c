/* cli/subcommands.c: commands with subcommands. */
#include "cli/subcommands.h"

#include "base/quote.h"
#include "base/suggest.h"
#include "cli/usage.h"

#include <stdio.h>
#include <string.h>

enum { SUBCOMMANDS_MAX = 16 };

static error_t subcommands_parse(int key, char *text, struct argp_state *state)
{
    const cli_subcommands *subcommands = state->input;
    const char *names[SUBCOMMANDS_MAX];
    if (key != ARGP_KEY_ARG && key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < subcommands->count; i++)
        names[i] = subcommands->list[i].name;
    const char *near = text ? suggest_nearest(text, names, subcommands->count) : NULL;
    if (near)
        cli_usage_error(state, "there is no `%s`; did you mean `%s`?", quote(text).text, near);
    cli_usage_error(state, "the first operand must be %s", subcommands->wants);
    return 0;
}

static int asks_for_help(const char *option)
{
    return strcmp(option, "-?") == 0 || strcmp(option, "-h") == 0 ||
           strncmp(option, "--h", 3) == 0 || strncmp(option, "--u", 3) == 0;
}

int subcommands_run(const cli_subcommands *subcommands, int argc, char **argv)
{
    const struct argp argp = {.parser = subcommands_parse, .args_doc = subcommands->args_doc, .doc = subcommands->doc};
    char title[64], *first[] = {argv[0], "--", argc > 1 ? argv[1] : NULL, NULL};
    for (size_t i = 0; argc > 1 && i < subcommands->count; i++)
        if (strcmp(argv[1], subcommands->list[i].name) == 0) {
            snprintf(title, sizeof title, "%s %s", argv[0], subcommands->list[i].name);
            argv[1] = title;
            return subcommands->list[i].run(argc - 1, argv + 1);
        }
    if (argc > 1 && asks_for_help(argv[1]))
        cli_parse(&argp, argc, argv, (void *)subcommands);
    cli_parse(&argp, argc > 1 ? 3 : 2, first, (void *)subcommands); /* options of a subcommand are unknown here */
    return 2;
}
