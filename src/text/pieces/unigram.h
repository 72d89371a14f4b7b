/* text/pieces/unigram.h: cuts a text into the pieces whose scores have the largest sum (Kudo 2018, "Subword Regularization"). For
 * the Unigram models of SentencePiece and of the package `tokenizers`, which differ in two things. */
#ifndef TEXT_PIECES_UNIGRAM_H
#define TEXT_PIECES_UNIGRAM_H

#include "rapt/base.h"
#include "text/pieces/piece_cuts.h"
#include "text/pieces/piece_trie.h"

/* Starts as {0}; freed by unigram_free. */
typedef struct unigram {
    piece_trie trie;      /* the pieces into which a text is cut, with their ids */
    double *scores;       /* by id; owned */
    int32_t unknown;      /* the id of a character that is not a piece */
    double unknown_score;
    bool single;          /* sums are float, and begin at 0 again when they are large, as in SentencePiece; or else double */
    bool needs_unknown;   /* a negative `unknown` is an error as soon as it would be on a best path, as in `tokenizers` */
} unigram;

/* Memory that texts can share. Starts as {0}; freed by unigram_paths_free. */
typedef struct unigram_paths {
    struct unigram_path *list;
    size_t capacity;
} unigram_paths;

void unigram_free(unigram *u);
void unigram_paths_free(unigram_paths *p);

/* Adds the best pieces of a text of at most PIECE_MAX_TEXT bytes to `cuts`. Among equal sums the first that was found stays: the
 * path whose last piece begins first. RAPT_ERR_MEMORY; RAPT_ERR_VALUE: see needs_unknown. */
rapt_code unigram_cut(const unigram *u, const char *text, size_t size, unigram_paths *paths, piece_cuts *cuts);

#endif
