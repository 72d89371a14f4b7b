/* text/spm/charsmap.h: a precompiled character map, as SentencePiece models have it (and tokenizer.json, as "Precompiled"): texts
 * of a few characters, each with its replacement. For normalizers.
 *
 * The file form, little-endian: u32 bytes of the trie; the trie, a double array (double_array.h) whose values are the places of
 * replacements; replacements, each ended by a NUL. */
#ifndef TEXT_SPM_CHARSMAP_H
#define TEXT_SPM_CHARSMAP_H

#include "rapt/base.h"

/* Borrows the bytes that it was made of; a zeroed one is empty. */
typedef struct charsmap {
    const unsigned char *units; /* [count], 4 bytes each */
    size_t count;
    const char *texts; /* [size]: replacements; the last byte is a NUL */
    size_t size;
} charsmap;

/* RAPT_ERR_FORMAT, with only the reason: a trie larger than the blob, or not of whole blocks of 256 units; a unit that leads out
 * of it, or lacks the value that it announces; a replacement that begins outside or does not end. SentencePiece accepts the
 * same. */
rapt_code charsmap_open(charsmap *m, const char *blob, size_t size, rapt_error *err);

/* The blob from which it was made; NULL, with *size 0: it is empty. */
const char *charsmap_blob(const charsmap *m, size_t *size);

/* Bytes of the longest text in the map with which text[0 .. size) begins; 0: none; *to is its replacement. If it begins with more
 * than 32, only the 32 shortest count. */
size_t charsmap_match(const charsmap *m, const char *text, size_t size, const char **to);

#endif
