/* cli/score_book.h: BLEU as the book "Dive into Deep Learning" computes it, of a text. For `rapt score --metric book`. */
#ifndef CLI_SCORE_BOOK_H
#define CLI_SCORE_BOOK_H

#include "text/lines.h"

typedef struct score_book_options {
    long k; /* the longest n-grams that count */
    bool lowercase, sentence, json;
} score_book_options;

/* Prints rapt_bleu_book of each line of `hypothesis` against that of `reference`, which has as many: their mean, or with
 * `sentence` each. Errors: RAPT_ERR_VALUE for a line that it cannot score, RAPT_ERR_MEMORY. */
rapt_code score_book(const score_book_options *o, const struct lines *hypothesis, const struct lines *reference, rapt_error *err);

#endif
