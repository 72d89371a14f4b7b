/* text/split/classes.h: the classes of code points that split patterns tell apart. For split_known.c. They are made of
 * unicode.h's categories. */
#ifndef TEXT_SPLIT_CLASSES_H
#define TEXT_SPLIT_CLASSES_H

#include <stdint.h>

/* One bit each, so that a set of classes is a mask; NEWLINE (CR, LF) is SPACE as well. 0 means no code point. */
enum {
    CLASS_UPPER = 1,    /* \p{Lu} \p{Lt} */
    CLASS_LOWER = 2,    /* \p{Ll} */
    CLASS_CASELESS = 4, /* \p{Lm} \p{Lo} */
    CLASS_LETTER = 7,   /* \p{L} */
    CLASS_MARK = 8,     /* \p{M} */
    CLASS_NUMBER = 16,  /* \p{N} */
    CLASS_SPACE = 32,   /* \s */
    CLASS_NEWLINE = 64,
    CLASS_OTHER = 128
};

/* Beyond it are only marks, in one run, and OTHER. */
#define CLASSES_SIZE 0x323B0

/* The classes of the code points below CLASSES_SIZE. */
void classes_fill(uint8_t classes[CLASSES_SIZE]);
/* The class of one from CLASSES_SIZE on. */
unsigned classes_beyond(uint32_t code);

#endif
