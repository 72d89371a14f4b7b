/* text/utf8.h: UTF-8 in and out, the classes of code points, lower case.
 * For line reading, tokenizers and metrics.
 * Not a normalizer, and not locale-aware: the same bytes give the same answer everywhere. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of `text` before the first one that is not UTF-8; `size` when all is well. Overlong forms,
 * surrogates, code points above 10FFFF and a cut-off end are refused. NUL is a code point like any other. */
size_t utf8_valid_prefix(const char *text, size_t size);

/* Decodes the first code point of `text`: bytes used (1 to 4), or 0 where it is not UTF-8 or `size` is 0. */
size_t utf8_decode(const char *text, size_t size, uint32_t *code);

/* Writes `code` to `out`: bytes used (1 to 4), or 0 for surrogates and codes above 10FFFF. No NUL is added. jansson has a
 * function utf8_encode: of that name no static program could have both.
 */
size_t utf8_put(uint32_t code, char out[4]);

/* Characters from bytes that come one by one; a zeroed scan is between two of them. */
typedef struct utf8_scan {
    char bytes[4];
    unsigned char begun, length; /* bytes of an unfinished character, 0: none; and how many the last one has in all */
} utf8_scan;

/* Takes a byte; when `begun` is 0 then, bytes[length] is a character. False, with nothing taken, where it cannot stand there. */
bool utf8_scan_byte(utf8_scan *s, char byte);

/* General categories of Unicode: L, Ll, N, P and S. */
bool utf8_is_letter(uint32_t code);
bool utf8_is_lower(uint32_t code);
bool utf8_is_number(uint32_t code);
bool utf8_is_punctuation(uint32_t code);
bool utf8_is_symbol(uint32_t code);

/* White space as Python's str.split() has it: Unicode's White_Space and the separators 1C to 1F. */
bool utf8_is_space(uint32_t code);

/* Lower case as Python's str.lower() has it: one code point to one, but for I with a dot above, which becomes
 * i and a combining dot, and for a capital sigma that ends a word. `text` is valid UTF-8. The result is
 * malloc'd, ends in a NUL, and `*lower_size` is its length without it; NULL means out of memory. */
char *utf8_lowercase(const char *text, size_t size, size_t *lower_size);

#endif
