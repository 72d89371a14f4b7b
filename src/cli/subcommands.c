/* cli/subcommands.c: commands with subcommands. */
#include "cli/subcommands.h"

#include "base/quote.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { SUBCOMMANDS_MAX = 16 };

__attribute__((noreturn)) static void refuse_operand(const cli_subcommands *subcommands, const char *text)
{
    const char *names[SUBCOMMANDS_MAX];
    for (size_t i = 0; i < subcommands->count; i++)
        names[i] = subcommands->list[i].name;
    const char *near = text ? suggest_nearest(text, names, subcommands->count) : NULL;
    if (near)
        usage_error("there is no `%s`; did you mean `%s`?", quote(text).text, near);
    usage_error("the first operand must be %s", subcommands->wants);
}

static bool asks_for_help(const char *option)
{
    return strcmp(option, "-?") == 0 || strcmp(option, "-h") == 0 ||
           strncmp(option, "--h", 3) == 0 || strncmp(option, "--u", 3) == 0;
}

int subcommands_run(const cli_subcommands *subcommands, int argc, char **argv)
{
    const cli_command help = {.operands = subcommands->operands, .about = subcommands->about, .notes = subcommands->notes};
    char title[64];
    for (size_t i = 0; argc > 1 && i < subcommands->count; i++)
        if (strcmp(argv[1], subcommands->list[i].name) == 0) {
            snprintf(title, sizeof title, "%s %s", argv[0], subcommands->list[i].name);
            argv[1] = title;
            return subcommands->list[i].run(argc - 1, argv + 1);
        }
    if (argc > 1 && asks_for_help(argv[1]))
        options_parse(&help, 2, argv, NULL);
    usage_of(argv[0]);
    refuse_operand(subcommands, argc > 1 ? argv[1] : NULL); /* options of a subcommand are unknown here */
}
