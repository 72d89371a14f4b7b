/* examples/sections.h: a program that goes through a tutorial of docs/tutorials section by section: one of them, by name, or all.
 * Not part of the library. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "show.h"

typedef struct section {
    const char *name; /* the argument that runs it alone; those with a - in front are last, and run in no other way */
    show_part *run;
} section;

/* Runs the section that is named, or `picture` for --table, or all sections, each in a pass of its own without gradients; all use
 * one set of parameters (seed 1). Returns the exit status: 0, 1 where a check failed, 2 for other arguments. */
int sections_run(int argc, char **argv, const section *list, size_t count, show_part *picture);

#endif
