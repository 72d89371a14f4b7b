/* metrics/bleu_book_mean.c: prepares targets and averages rapt_bleu_book. */
#include "metrics/bleu_book_mean.h"

#include "rapt/metrics.h"
#include "text/words/words_prepare.h"

#include <math.h>
#include <stdlib.h>

rapt_code bleu_book_mean(const bleu_book_text *text, double *mean, rapt_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < text->count; i++) {
        char *prepared = words_prepare_sentence(text->targets[i].data, text->lowercase);
        const rapt_text label = rapt_text_of(prepared);
        double score = prepared ? rapt_bleu_book(&text->translations[i], &label, BLEU_BOOK_K) : NAN;
        free(prepared);
        if (isnan(score))
            return rapt_fail(err, RAPT_ERR_MEMORY, "sentence %zu: too long for the book's BLEU, or out of memory", i + 1);
        sum += score;
    }
    *mean = sum / (double)text->count;
    return RAPT_OK;
}
