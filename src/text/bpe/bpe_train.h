/* text/bpe/bpe_train.h: learns the merges of a byte-level BPE from a text. For the tokenizer. */
#ifndef TEXT_BPE_BPE_TRAIN_H
#define TEXT_BPE_BPE_TRAIN_H

#include "rapt/text.h"
#include "text/bpe/piece_counts.h"
#include "text/split/split.h"

/* Merge i makes token 256 + i of two that are there already; tokens 0 .. 255 are the bytes. */
typedef struct bpe_merge {
    int32_t left, right;
} bpe_merge;

/* Uses vocab_size, min_freq, threads and specials of `o`; `cut` replaces its pattern. The caller frees *merges, which is never
 * NULL on success; *count is below the requested number if no pair occurs often enough. No two tokens have the same bytes, and no
 * token has the bytes of a special token longer than a byte. On failure *merges is NULL: RAPT_ERR_VALUE for an empty text and for
 * a vocabulary too small for the bytes and the special tokens. */
rapt_code bpe_train(learn_text text, const split *cut, const rapt_bpe_options *o, bpe_merge **merges, size_t *count,
                    rapt_error *err);

#endif
