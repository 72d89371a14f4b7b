/* text/json_scan.h: whether bytes that come one by one are a JSON object or list, and where in it they are. Nothing is kept of
 * them. For calls of tools in a text. */
#ifndef TEXT_JSON_SCAN_H
#define TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

enum { JSON_SCAN_DEPTH = 64 }; /* objects and lists within each other */

/* SIGN, ZERO, WHOLE, POINT, DIGITS, EXPONENT, EXPONENT_SIGN and EXPONENT_DIGITS are parts of a number. */
typedef enum json_scan_phase {
    JSON_SCAN_VALUE, JSON_SCAN_FIRST_ITEM, JSON_SCAN_FIRST_KEY, JSON_SCAN_NEXT_KEY, JSON_SCAN_IN_KEY, JSON_SCAN_COLON,
    JSON_SCAN_IN_TEXT, JSON_SCAN_IN_WORD, JSON_SCAN_SIGN, JSON_SCAN_ZERO, JSON_SCAN_WHOLE, JSON_SCAN_POINT, JSON_SCAN_DIGITS,
    JSON_SCAN_EXPONENT, JSON_SCAN_EXPONENT_SIGN, JSON_SCAN_EXPONENT_DIGITS, JSON_SCAN_AFTER, JSON_SCAN_DONE
} json_scan_phase;

/* Zeroed: before an object or list. */
typedef struct json_scan {
    uint64_t objects;  /* bit i: level i + 1 is an object */
    const char *word;  /* what is left of "true", "false" or "null" */
    uint8_t depth;     /* objects and lists that are open */
    uint8_t phase;
    uint8_t letter;    /* of a text or key: enum json_char */
    uint8_t pair;      /* bytes of an escaped pair of surrogates after its first digit that are still to come */
} json_scan;

/* Takes a byte; false: it cannot follow. Phase JSON_SCAN_DONE: the object or list has ended with it. */
bool json_scan_next(json_scan *s, uint8_t byte);

#endif
