/* text/bpe/bpe_encode.h: the encoder of byte-level BPE in steps, for bpe_threads.c, where each thread has one; and the merging of
 * a piece. To encode a whole text, call rapt_tokenizer_encode_to. */
#ifndef TEXT_BPE_BPE_ENCODE_H
#define TEXT_BPE_BPE_ENCODE_H

#include "text/bpe/byte_bpe.h"

enum { BPE_STARTS = 4096 };

/* Where a piece begins, and the number of ids before its own. */
typedef struct bpe_start {
    size_t at, ids;
} bpe_start;

/* The first pieces of a range. */
typedef struct bpe_starts {
    size_t count;
    bpe_start list[BPE_STARTS];
} bpe_starts;

/* Pieces of a text that begin before `limit`, up to the first piece that ends beyond `far`; *far_end gets its end. */
typedef struct bpe_range {
    const char *text;
    size_t size, limit, far;
    size_t *far_end; /* NULL: no piece can end beyond `far` */
} bpe_range;

typedef struct bpe_encoder bpe_encoder;

/* For texts of about `size` bytes. Mostly one that was freed before, with the pieces that it keeps: the tokenizer has one spare
 * for each thread that has encoded. NULL with `err` set. */
bpe_encoder *bpe_encoder_new(const byte_bpe *b, size_t size, rapt_error *err);
void bpe_encoder_free(bpe_encoder *e); /* NULL is fine */

/* From now on ids go to this sink, and the beginnings of pieces to `starts`, unless that is NULL; its owner has emptied it. The
 * pattern's cost so far is forgotten. */
void bpe_encoder_begin(bpe_encoder *e, rapt_ids_fn *sink, void *context, bpe_starts *starts);
/* Encodes pieces of a text that is already normalized, from *at on, and moves *at to where the next piece begins. */
rapt_code bpe_encoder_range(bpe_encoder *e, const bpe_range *range, size_t *at, rapt_error *err);
/* Encodes a whole text: normalized, and with special tokens: all of them, or those that are always found. */
rapt_code bpe_encoder_text(bpe_encoder *e, const char *text, size_t size, bool specials, rapt_error *err);

/* BPE dropout (Provilkov et al. 2020): before each merge, each pair that could merge is left out with probability p; if all of
 * them are, the piece is done. The n-th pair that is considered in a text is left out where rng_uniform(key, n) < p. */
typedef struct bpe_dropout {
    double p; /* at most 0.9: considering pairs takes 1 / (1 - p) times as long */
    uint64_t key, next;
} bpe_dropout;

/* Encodes a whole text as bpe_encode_to does, but for these draws; pieces that are tokens are merged, too. */
rapt_code bpe_encode_dropout(const byte_bpe *b, const char *text, size_t size, bool specials, bpe_dropout *dropout,
                             rapt_ids_fn *sink, void *context, rapt_error *err);

/* ---- bpe_merge.c: the merging of one piece. For bpe_encode.c. */

/* Up to this size, the whole piece is searched before each merge. */
enum { BPE_SHORT = 128 };

/* Writes the tokens of a piece of 1 to BPE_SHORT bytes to ids[BPE_SHORT]; returns their number. */
size_t bpe_merge_short(const byte_bpe *b, const char *piece, size_t size, int32_t *ids);
/* bpe_merge_short for any size, in O(size log(size)); ids[size]. `dropout` NULL: no merge is left out. */
rapt_code bpe_merge_long(const byte_bpe *b, const char *piece, size_t size, bpe_dropout *dropout, int32_t *ids, size_t *count,
                         rapt_error *err);

#endif
