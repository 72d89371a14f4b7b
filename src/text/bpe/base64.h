/* text/bpe/base64.h: bytes as letters (RFC 4648, section 4), as rank files have them. */
#ifndef TEXT_BPE_BASE64_H
#define TEXT_BPE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#define BASE64_CAPACITY(size) (((size) + 2) / 3 * 4)

/* Writes the bytes of `size` letters to `out` (3 for each 4 letters) and their number to *length. False unless the letters are
 * whole groups, with = at the end where it belongs. */
bool base64_decode(const char *letters, size_t size, char *out, size_t *length);
/* Writes BASE64_CAPACITY(size) letters, and no NUL. */
void base64_encode(const char *bytes, size_t size, char *out);

#endif
