/* cli/score_parts.h: the book's metric, and warnings. For cmd_score.c. */
#ifndef CLI_SCORE_PARTS_H
#define CLI_SCORE_PARTS_H

#include "rapt/metrics.h"
#include "text/lines.h"

/* ---- score_book.c: BLEU of a text as the book "Dive into Deep Learning" computes it. For `rapt score --metric book`. */

typedef struct score_book_options {
    long long k; /* the longest n-grams that count */
    bool lowercase, sentence, json;
} score_book_options;

/* Computes rapt_bleu_book of each line of `hypothesis` against the same line of `reference`, which has as many lines, and prints
 * the mean, or with `sentence` each score. Errors: RAPT_ERR_VALUE for a line that it cannot score, RAPT_ERR_MEMORY. */
rapt_code score_book(const score_book_options *o, const struct lines *hypothesis, const struct lines *reference, rapt_error *err);

/* ---- score_warnings.c: warns of texts for which a metric is not defined. For `rapt score`. */

/* Warns on stderr if a text begins with a byte order mark, or looks like a subword tokenizer's pieces, or, if `cuts_words`, like
 * a text whose words have already been separated. `name` is for the message. */
void score_warnings(const char *name, const struct lines *text, bool cuts_words);

/* Warns if references are in a script without spaces between words, and BLEU would be tokenized as `kind`, which leaves such
 * sentences whole. */
void score_warn_of_script(const char *name, const rapt_text *references, size_t count, rapt_tokenize kind);

#endif
