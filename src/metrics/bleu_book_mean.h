/* metrics/bleu_book_mean.h: the book's BLEU of many translations, to evaluate a model that the book trains: in reports of
 * training, and in `rapt eval`. */
#ifndef METRICS_BLEU_BOOK_MEAN_H
#define METRICS_BLEU_BOOK_MEAN_H

#include "rapt/base.h"

#define BLEU_BOOK_K 2 /* the book's */

typedef struct bleu_book_text {
    const rapt_text *translations, *targets; /* [count]; targets have a NUL behind them */
    size_t count;
    bool lowercase; /* the targets: the translations are as a model of words writes them */
} bleu_book_text;

/* The mean of rapt_bleu_book with k 2 over the sentences, each target prepared as the book prepares its text. RAPT_ERR_MEMORY:
 * out of memory, or a sentence is too long to be scored. */
rapt_code bleu_book_mean(const bleu_book_text *text, double *mean, rapt_error *err);

#endif
