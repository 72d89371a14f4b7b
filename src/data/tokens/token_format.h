/* data/tokens/token_format.h: the header of token files, and ids of 2 or 4 bytes. For the code that writes and opens token files.
 * rapt/stream.h describes the layout. */
#ifndef DATA_TOKENS_TOKEN_FORMAT_H
#define DATA_TOKENS_TOKEN_FORMAT_H

#include "rapt/base.h"

enum { TOKEN_NARROW_VOCAB = 65536, TOKEN_PORTION = 1 << 16 };

/* The versions of the format: the ids of plain text, or of a text in which special tokens were found. */
enum { TOKEN_ORDINARY = 1, TOKEN_SPECIALS = 2 };

#define TOKEN_MAX_VOCAB ((size_t)1 << 31) /* ids are int32_t */

/* The layout in the file: every field is at a multiple of its size. */
typedef struct token_header {
    char magic[8];
    uint16_t version, width;
    uint32_t checksum; /* checksum of the header, computed with 0 here */
    uint64_t count, text_bytes, text_hash, tokenizer_hash, ids_hash;
    uint32_t vocab, largest;
} token_header;

/* Bytes of an id. */
uint16_t token_width(size_t vocab);
/* Magic, version, width and vocabulary are filled in, the rest is 0. */
token_header token_header_new(size_t vocab, bool specials);
/* Whether a file that begins with these bytes is a token file, by its first 8 bytes, or a truncated one. */
bool token_is_ours(const char *bytes, size_t size);
/* Checks a file of `size` bytes as far as its header tells; `path` is for messages. */
rapt_code token_header_check(const char *bytes, size_t size, const char *path, token_header *h, rapt_error *err);
uint32_t token_header_checksum(const token_header *h);

/* `count` ids to `width` bytes each, and the largest, taken as unsigned (so a negative id is large), if above `largest`. */
uint32_t token_pack(const int32_t *ids, size_t count, size_t width, void *to, uint32_t largest);
void token_unpack(const void *from, size_t count, size_t width, int32_t *ids);

#endif
