/* text/split/classes.c: the table of classes, spread out for fast lookup. For split_known.c; not a Unicode library. */
#include "text/split/classes.h"

#include "text/split/classes_table.h"

#include <stddef.h>
#include <string.h>

enum { ALTERNATING = 8, FIRST_BEYOND = 0xE0100, LAST_BEYOND = 0xE01EF };

static const uint8_t MASKS[] = {CLASS_OTHER,  CLASS_UPPER, CLASS_LOWER, CLASS_CASELESS,
                                CLASS_MARK,   CLASS_NUMBER, CLASS_SPACE, CLASS_SPACE | CLASS_NEWLINE};

void classes_fill(uint8_t classes[CLASSES_SIZE])
{
    for (size_t i = 0; i + 1 < sizeof RUNS / sizeof *RUNS && RUNS[i] >> 4 < CLASSES_SIZE; i++) {
        uint32_t first = RUNS[i] >> 4, end = RUNS[i + 1] >> 4, kind = RUNS[i] & 15;
        if (end > CLASSES_SIZE)
            end = CLASSES_SIZE;
        if (kind != ALTERNATING)
            memset(classes + first, MASKS[kind], end - first);
        else
            for (uint32_t code = first; code < end; code++)
                classes[code] = (code - first) % 2 ? CLASS_LOWER : CLASS_UPPER;
    }
}

unsigned classes_beyond(uint32_t code)
{
    return code >= FIRST_BEYOND && code <= LAST_BEYOND ? CLASS_MARK : CLASS_OTHER;
}
