/* cli/score_book.c: the mean of the scores, which the book leaves to its reader, and the printing. The library scores a
 * sentence. */
#include "cli/score_parts.h"

#include "cli/put_json.h"
#include "rapt/metrics.h"
#include "text/utf8.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The score of a line; NaN if memory is exhausted or the line is too long. */
static double score_book_line(const score_book_options *o, const struct lines *hypothesis, const struct lines *reference,
                              size_t i)
{
    rapt_text own = {hypothesis->line[i], hypothesis->length[i]}, label = {reference->line[i], reference->length[i]};
    if (!o->lowercase)
        return rapt_bleu_book(&own, &label, (int)o->k);
    char *lower = utf8_lowercase(own.data, own.size, &own.size);
    char *lower_label = utf8_lowercase(label.data, label.size, &label.size);
    own.data = lower;
    label.data = lower_label;
    double score = lower && lower_label ? rapt_bleu_book(&own, &label, (int)o->k) : NAN;
    free(lower);
    free(lower_label);
    return score;
}

static rapt_code score_book_print(const score_book_options *o, double score, size_t sentences, rapt_error *err)
{
    char signature[96];
    snprintf(signature, sizeof signature, "nrefs:1|case:%s|tok:space|k:%lld|rapt:%s", o->lowercase ? "lc" : "mixed", o->k,
             rapt_version());
    if (!o->json) {
        printf("%.4f BLEU of the book|%s\n", score, signature);
        return RAPT_OK;
    }
    return put_json(json_pack("{s:s, s:f, s:s, s:I, s:I}", "name", "BLEU of the book", "score", score, "signature", signature,
                              "k", (json_int_t)o->k, "sentences", (json_int_t)sentences), 0, err);
}

rapt_code score_book(const score_book_options *o, const struct lines *hypothesis, const struct lines *reference, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    double sum = 0;
    for (size_t i = 0; i < hypothesis->count && !code; i++) {
        double score = score_book_line(o, hypothesis, reference, i);
        sum += score;
        if (isnan(score))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "line %zu: too long for the book's BLEU, or out of memory", i + 1);
        else if (o->sentence)
            code = score_book_print(o, score, 1, err);
    }
    return code || o->sentence ? code : score_book_print(o, sum / (double)hypothesis->count, hypothesis->count, err);
}
