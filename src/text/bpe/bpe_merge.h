/* text/bpe/bpe_merge.h: the merging of one piece. For bpe_encode.c. */
#ifndef TEXT_BPE_BPE_MERGE_H
#define TEXT_BPE_BPE_MERGE_H

#include "text/bpe/byte_bpe.h"

/* Up to this size, the whole piece is searched before each merge. */
enum { BPE_SHORT = 128 };

/* Writes the tokens of a piece of 1 to BPE_SHORT bytes to ids[BPE_SHORT]; returns their number. */
size_t bpe_merge_short(const byte_bpe *b, const char *piece, size_t size, int32_t *ids);
/* bpe_merge_short for any size, in O(size log(size)); ids[size]. */
rapt_code bpe_merge_long(const byte_bpe *b, const char *piece, size_t size, int32_t *ids, size_t *count, rapt_error *err);

#endif
