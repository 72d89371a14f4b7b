/* metrics/bleu_book.c: the sentence BLEU that the book's translation chapter computes.
 * For results that are compared with the book's.
 * Not comparable with published BLEU: no clipping over a corpus, weights 1/2^n, no tokenizer. */
#include "rapt/metrics.h"
#include "metrics/ngrams.h"
#include "metrics/words.h"

#include <math.h>
#include <stdlib.h>

struct scorer {
    struct codes text, own, label;
    struct trie known;
    struct ngrams grams;
};

static bool bleu_book_load(struct scorer *s, const rapt_text *prediction, const rapt_text *label)
{
    return codes_load(&s->text, prediction, false, NULL) == RAPT_OK &&
           words_add(&s->known, &s->text, &s->own, NULL) == RAPT_OK &&
           codes_load(&s->text, label, false, NULL) == RAPT_OK &&
           words_find(&s->known, &s->text, &s->label, NULL) == RAPT_OK;
}

/* Product of the weighted precisions of orders 1 to `orders`; NaN on out-of-memory. */
static double precisions(struct scorer *s, size_t orders)
{
    size_t *matches = calloc(orders, sizeof *matches);
    double product = NAN;
    if (matches && ngrams_load(&s->grams, &s->own, orders, NULL) == RAPT_OK) {
        ngrams_match(&s->grams, &s->label, matches);
        product = 1;
        for (size_t n = 1; n <= orders; n++) {
            double precision = (double)matches[n - 1] / (double)ngrams_total(s->own.count, n);
            product *= pow(precision, pow(0.5, (double)n));
        }
    }
    free(matches);
    return product;
}

static double bleu_book_score(struct scorer *s, size_t k)
{
    size_t own = s->own.count, label = s->label.count;
    if (own == 0)
        return label == 0 ? 1 : 0;
    double shorter = 1 - (double)label / (double)own;
    return exp(shorter < 0 ? shorter : 0) * precisions(s, k < own ? k : own);
}

double rapt_bleu_book(const rapt_text *prediction, const rapt_text *label, int k)
{
    struct scorer s = {0};
    double result = NAN;
    if (k >= 1 && bleu_book_load(&s, prediction, label))
        result = bleu_book_score(&s, (size_t)k);
    codes_free(&s.text);
    codes_free(&s.own);
    codes_free(&s.label);
    trie_free(&s.known);
    ngrams_free(&s.grams);
    return result;
}
