/* cli/score_book.h: BLEU of a text as the book "Dive into Deep Learning" computes it. For `rapt score --metric book`. */
#ifndef CLI_SCORE_BOOK_H
#define CLI_SCORE_BOOK_H

#include "text/lines.h"

typedef struct score_book_options {
    long k; /* the longest n-grams that count */
    bool lowercase, sentence, json;
} score_book_options;

/* Computes rapt_bleu_book of each line of `hypothesis` against the same line of `reference`, which has as many lines, and prints
 * the mean, or with `sentence` each score. Errors: RAPT_ERR_VALUE for a line that it cannot score, RAPT_ERR_MEMORY. */
rapt_code score_book(const score_book_options *o, const struct lines *hypothesis, const struct lines *reference, rapt_error *err);

#endif
