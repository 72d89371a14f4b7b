/* examples/sections.c: runs the sections of a program of the book or of a tutorial that its arguments name. */
#include "sections.h"

#include <stdio.h>
#include <string.h>

static int usage(const char *program, const section *list, size_t count)
{
    fprintf(stderr, "usage: %s [--table | SECTION], a SECTION being", program);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s", list[i].name);
    fputc('\n', stderr);
    return 2;
}

static void run_all(rapt_tape *t, rapt_params *set, const section *list, size_t count)
{
    for (size_t i = 0; i < count && list[i].name[0] != '-'; i++) {
        printf("%s-- %s --\n", i ? "\n" : "", list[i].name);
        rapt_tape_begin(t, (rapt_pass){0});
        list[i].run(t, set);
    }
}

int sections_run(int argc, char **argv, const section *list, size_t count, show_part *picture)
{
    show_part *one = argc == 2 && strcmp(argv[1], "--table") == 0 ? picture : NULL;
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(argv[1], list[i].name) == 0)
            one = list[i].run;
    if (argc > 2 || (argc == 2 && !one))
        return usage(argv[0], list, count);
    rapt_params *set;
    rapt_tape *t;
    if (!show_begin(&t, &set))
        return 1;
    rapt_tape_begin(t, (rapt_pass){0});
    if (one)
        one(t, set);
    else
        run_all(t, set, list, count);
    return show_end(t, set);
}
