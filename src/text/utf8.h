/* text/utf8.h: UTF-8 in and out, the classes of code points, lower case.
 * For line reading, tokenizers and metrics.
 * Not a normalizer, and not locale-aware: the same bytes give the same answer everywhere. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes before the first one that is not UTF-8; `size` if all are valid. Overlong forms, surrogates, code points
 * above 10FFFF and a truncated end are invalid. NUL is an ordinary code point. */
size_t utf8_valid_prefix(const char *text, size_t size);

/* Decodes the first code point of `text`: returns the bytes used (1 to 4), or 0 if it is not UTF-8 or `size` is 0. */
size_t utf8_decode(const char *text, size_t size, uint32_t *code);

/* Writes `code` to `out`: returns the bytes used (1 to 4), or 0 for surrogates and codes above 10FFFF. No NUL is added. It is not
 * called utf8_encode because jansson has that function, and a static program could not have both.
 */
size_t utf8_put(uint32_t code, char out[4]);

/* Characters from bytes that come one by one; a zeroed scan is between two of them. */
typedef struct utf8_scan {
    char bytes[4];
    unsigned char begun, length; /* bytes of an unfinished character so far, 0: none; the length of the last character */
} utf8_scan;

/* Takes a byte; if `begun` is 0 afterwards, bytes[length] is a character. False, and the byte is not taken, if it cannot come
 * here. */
bool utf8_scan_byte(utf8_scan *s, char byte);

/* General categories of Unicode: L, Ll, N, P and S. */
bool utf8_is_letter(uint32_t code);
bool utf8_is_lower(uint32_t code);
bool utf8_is_number(uint32_t code);
bool utf8_is_punctuation(uint32_t code);
bool utf8_is_symbol(uint32_t code);

/* White space as Python's str.split() has it: Unicode's White_Space and the separators 1C to 1F. */
bool utf8_is_space(uint32_t code);
/* Whether a text has nothing but white space. */
bool utf8_is_blank(const char *text);

/* Lower case as Python's str.lower(): one code point to one, except for I with a dot above, which becomes i and a combining dot,
 * and for a capital sigma that ends a word. `text` is valid UTF-8. The result is malloc'd, ends in a NUL, and `*lower_size` is
 * its length without it; NULL means out of memory. */
char *utf8_lowercase(const char *text, size_t size, size_t *lower_size);

#endif
