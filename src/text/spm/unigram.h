/* text/spm/unigram.h: cuts a text into the pieces whose scores have the largest sum (Kudo 2018, "Subword Regularization"). For
 * SentencePiece's unigram models. */
#ifndef TEXT_SPM_UNIGRAM_H
#define TEXT_SPM_UNIGRAM_H

#include "text/spm/piece_cuts.h"
#include "text/spm/piece_trie.h"

/* Starts as {0}; freed by unigram_free. */
typedef struct unigram {
    piece_trie trie;      /* the pieces into which a text is cut, with their ids */
    float *scores;        /* by id; owned */
    int32_t unknown;      /* the id of a character that is not a piece */
    float unknown_score;
} unigram;

void unigram_free(unigram *u);

/* Adds the best pieces of a text of at most PIECE_MAX_TEXT bytes to `cuts`. Sums are float, and among equal ones the first that
 * was found stays: the path whose last piece begins first. False on out-of-memory. */
bool unigram_cut(const unigram *u, const char *text, size_t size, piece_cuts *cuts);

#endif
