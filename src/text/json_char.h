/* text/json_char.h: the bytes of a JSON string, one at a time: escapes and UTF-8, valid at every byte. For constrained output. */
#ifndef TEXT_JSON_CHAR_H
#define TEXT_JSON_CHAR_H

#include <stdbool.h>
#include <stdint.h>

/* Where in a character a string is. TAIL: 1 to 3 continuation bytes to come; E0, ED, F0 and F4: after these bytes the next one
 * has a smaller range; ESCAPE: after a backslash; HEX: 1 to 4 digits of \u to come; ZERO: so, and the digits before were
 * zeros, all four of which would be a NUL; SURROGATE: after \ud, where 8 and above would be half of a pair. QUOTE: the string
 * has ended. */
enum json_char {
    JSON_CHAR_GROUND, JSON_CHAR_TAIL1, JSON_CHAR_TAIL2, JSON_CHAR_TAIL3, JSON_CHAR_E0, JSON_CHAR_ED, JSON_CHAR_F0, JSON_CHAR_F4,
    JSON_CHAR_ESCAPE, JSON_CHAR_HEX4, JSON_CHAR_HEX3, JSON_CHAR_HEX2, JSON_CHAR_HEX1, JSON_CHAR_ZERO3, JSON_CHAR_ZERO2,
    JSON_CHAR_ZERO1, JSON_CHAR_SURROGATE, JSON_CHAR_QUOTE, JSON_CHAR_BAD
};
enum { JSON_CHAR_STATES = JSON_CHAR_QUOTE };

/* The state after a byte; JSON_CHAR_BAD: the byte cannot stand there. Without `escapes` no backslash can. */
uint8_t json_char_next(uint8_t state, uint8_t byte, bool escapes);

#endif
