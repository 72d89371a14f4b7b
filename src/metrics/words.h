/* metrics/words.h: the words of a segment as numbers, so that n-grams of words are n-grams of numbers.
 * For BLEU and chrF.
 * Not a vocabulary: numbers hold for one segment, and are shared by a translation and its references only. */
#ifndef METRICS_WORDS_H
#define METRICS_WORDS_H

#include "metrics/codes.h"
#include "metrics/trie.h"

/* The number of every word that the translation does not have. */
#define WORDS_UNKNOWN UINT32_MAX

/* Numbers the words of a translation, equal words with equal numbers; resets `known` first. RAPT_ERR_MEMORY. */
rapt_code words_add(struct trie *known, const struct codes *text, struct codes *numbers, rapt_error *err);

/* Gives the words of a reference the numbers that words_add gave; WORDS_UNKNOWN for other words. RAPT_ERR_MEMORY. */
rapt_code words_find(const struct trie *known, const struct codes *text, struct codes *numbers,
                     rapt_error *err);

#endif
