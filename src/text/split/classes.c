/* text/split/classes.c: categories as the classes of split patterns, spread out for fast lookup. For split_known.c. */
#include "text/split/classes.h"

#include "text/unicode/unicode.h"

#include <string.h>

enum { NEXT_LINE = 0x85 };

/* The class of each category, in their order, except for spaces that are controls. */
static const uint8_t CLASSES[] = {
    CLASS_OTHER,                                                          /* Cn */
    CLASS_UPPER, CLASS_LOWER, CLASS_UPPER, CLASS_CASELESS, CLASS_CASELESS, /* L */
    CLASS_MARK, CLASS_MARK, CLASS_MARK, CLASS_NUMBER, CLASS_NUMBER, CLASS_NUMBER,
    CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, /* P */
    CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER,                                        /* S */
    CLASS_SPACE, CLASS_SPACE, CLASS_SPACE, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER, CLASS_OTHER,
};

void classes_fill(uint8_t classes[CLASSES_SIZE])
{
    for (uint32_t code = 0, end; code < CLASSES_SIZE; code = end) {
        uint8_t class = CLASSES[unicode_category_run(code, &end)];
        end = end < CLASSES_SIZE ? end : CLASSES_SIZE;
        memset(classes + code, class, end - code);
    }
    for (uint32_t code = '\t'; code <= '\r'; code++)
        classes[code] = code == '\n' || code == '\r' ? CLASS_SPACE | CLASS_NEWLINE : CLASS_SPACE;
    classes[NEXT_LINE] = CLASS_SPACE;
}

unsigned classes_beyond(uint32_t code)
{
    return CLASSES[unicode_category_of(code)];
}
