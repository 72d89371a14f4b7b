/* cli/alignment.h: alignments in print, for `rapt translate --alignment`. */
#ifndef CLI_ALIGNMENT_H
#define CLI_ALIGNMENT_H

#include "rapt/decode.h"

#include <stdio.h>

typedef enum alignment_kind { ALIGNMENT_NONE, ALIGNMENT_HARD, ALIGNMENT_SOFT } alignment_kind;

/* The kind that an option names, NONE for what is none. */
alignment_kind alignment_named(const char *text);

/* A tab and, hard: for each target token j the source token i that it looks at most (of equals the first), as pairs "i-j"
 * from 0; soft: rows of numbers with commas, a row for each target token, the last number of a row for the source's end. */
void alignment_print(alignment_kind kind, const rapt_alignment *a, FILE *to);

#endif
