/* metrics/ngrams.h: counts the n-grams of a translation, and how many of them references match. For BLEU and chrF. Units are
 * numbers: code points or word numbers. */
#ifndef METRICS_NGRAMS_H
#define METRICS_NGRAMS_H

#include "metrics/codes.h"
#include "metrics/trie.h"

/* n-grams of one translation, orders 1 to `order`. Starts as {0}; freed by `ngrams_free`. */
struct ngrams {
    struct trie trie;
    struct ngram_count *counts; /* [trie.nodes] */
    size_t capacity;
    size_t order;
    uint32_t reference; /* how many references were matched so far */
};

/* Counts the n-grams of a translation and forgets earlier ones. RAPT_ERR_VALUE: too many; RAPT_ERR_MEMORY. */
rapt_code ngrams_load(struct ngrams *grams, const struct codes *units, size_t order, rapt_error *err);

/* Adds to matches[n - 1] the n-grams of a reference that the translation also has and that no earlier reference has matched:
 * after several references, an n-gram counts min(count in the translation, max count in one reference). */
void ngrams_match(struct ngrams *grams, const struct codes *units, size_t *matches);

/* Lets the next reference match as if it were the first. */
void ngrams_forget_matches(struct ngrams *grams);

/* n-grams in `units` units. */
size_t ngrams_total(size_t units, size_t n);

void ngrams_free(struct ngrams *grams);

#endif
