/* decode/schema/schema_classes.h: sets of characters, and the bytes of their JSON. For schema_pattern.c. */
#ifndef DECODE_SCHEMA_SCHEMA_CLASSES_H
#define DECODE_SCHEMA_SCHEMA_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_LAST 0x10FFFFu
#define CODE_LAST_ASCII 0x7Eu

enum { CODE_RANGES = 128 };

typedef struct code_class {
    struct code_range {
        uint32_t low, high;
    } list[CODE_RANGES]; /* [count] in any order */
    size_t count;
} code_class;

/* Each adds to a class. False: more than CODE_RANGES ranges. */
bool code_class_add(code_class *c, uint32_t low, uint32_t high);
/* \d and so on; `letter` is one of dDwWsS. Those in upper case are ASCII. */
bool code_class_shorthand(code_class *c, char letter);
/* Makes it those up to `last` that were not in the class. */
bool code_class_negate(code_class *c, uint32_t last);

/* Gets `count` ranges of bytes, one after the other. False ends the calls. */
typedef bool byte_ranges_fn(void *context, const uint8_t (*ranges)[2], size_t count);
/* All ways to write the characters in a string of JSON: in UTF-8, or escaped; control characters without a short escape are left
 * out. *some: there was a call. False: a call was false. */
bool code_class_bytes(const code_class *c, byte_ranges_fn *take, void *context, bool *some);

#endif
