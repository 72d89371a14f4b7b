/* engine/translation_pace.h: how many rows a decoding step may have so that a short request beside a long one does not wait much
 * longer than alone: from measured times, which change no result. */
#ifndef ENGINE_TRANSLATION_PACE_H
#define ENGINE_TRANSLATION_PACE_H

#include <stddef.h>

enum { TRANSLATION_PACE_SIZES = 17 };

/* Of steps of 2^i rows and more: about the shortest time lately, which is the one without what else the machine did. 0: there was
 * none. */
typedef struct translation_pace {
    double seconds[TRANSLATION_PACE_SIZES];
} translation_pace;

void translation_pace_add(translation_pace *p, size_t rows, double seconds);
/* The most rows, a power of two, of which a step takes at most `times` the time of one with a single row; 8 where that is not
 * known yet. */
size_t translation_pace_rows(const translation_pace *p, double times);

#endif
