/* text/bpe/bpe_train.h: learns the merges of a byte-level BPE from a text. For the tokenizer. */
#ifndef TEXT_BPE_BPE_TRAIN_H
#define TEXT_BPE_BPE_TRAIN_H

#include "rapt/text.h"

#include "base/file.h"
#include "base/stop.h"
#include "text/bpe/token_list.h"
#include "text/split/split.h"

/* ---- piece_counts.c: how often each piece of a text occurs, counted by several threads. For the BPE trainer. */

enum { PIECE_COUNTS_CHUNK = 64 << 10 };

/* Bytes of a text that are a special token. */
typedef struct text_special {
    size_t begin, end;
} text_special;

/* A text to learn from. Special tokens are no pieces, and the part between two of them is a separate text. */
typedef struct learn_text {
    const char *data;
    size_t size;
    const file_map *map; /* the file that begins with it, whose pages are given back once they are read; or NULL */
    const text_special *specials; /* [special_count], in the order of the text */
    size_t special_count;
} learn_text;

/* Cuts a text as split_next does from its first byte to its last, and adds 1 to `counts` for each piece; pieces with a count of 0
 * may also be in it. The counts do not depend on `threads` (0: all) and on `chunk`, the bytes that a thread takes at a time.
 * RAPT_ERR_INTERRUPTED when `stop` says so. */
rapt_code piece_counts_take(learn_text text, const split *cut, int threads, size_t chunk, stop_check stop, token_counts *counts,
                            rapt_error *err);

/* ---- bpe_train.c */

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
