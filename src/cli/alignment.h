/* cli/alignment.h: alignments as text, for `rapt translate --alignment`. */
#ifndef CLI_ALIGNMENT_H
#define CLI_ALIGNMENT_H

#include "rapt/decode.h"

#include <stdio.h>

typedef enum alignment_kind { ALIGNMENT_NONE, ALIGNMENT_HARD, ALIGNMENT_SOFT, ALIGNMENT_WORDS } alignment_kind;

/* The kind that an option names, NONE for any other text. */
alignment_kind alignment_named(const char *text);

/* A tab and, hard: for each target token j the source token i that it attends to most (of equals the first), as pairs "i-j"
 * from 0; soft: rows of numbers with commas, a row for each target token, the last number of a row for the source's end; words:
 * as hard, of words: runs of tokens up to the next that begins with a space, whose weights add up (the tokens must be there).
 * False: out of memory. */
bool alignment_print(alignment_kind kind, const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to);

/* A tab and the tokens of the source, a tab and those of the hypothesis, with spaces between; in their names an open box stands
 * for a space. False: out of memory. */
bool alignment_print_tokens(const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to);

#endif
