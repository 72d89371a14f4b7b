/* decode/translate_pace.h: the number of rows that a decoding step may have so that a short request during a long one does not
 * wait much longer than alone. It follows measured times, which change no result. */
#ifndef DECODE_TRANSLATE_PACE_H
#define DECODE_TRANSLATE_PACE_H

#include <stddef.h>

enum { TRANSLATE_PACE_SIZES = 17 };

/* For steps of at least 2^i rows, about the shortest recent time, because longer times include other work of the machine. 0:
 * there was none. */
typedef struct translate_pace {
    double seconds[TRANSLATE_PACE_SIZES];
} translate_pace;

void translate_pace_add(translate_pace *p, size_t rows, double seconds);
/* The largest power of two of rows with which a step takes at most `times` the time of a step with one row; 8 if nothing is known
 * yet. */
size_t translate_pace_rows(const translate_pace *p, double times);

#endif
