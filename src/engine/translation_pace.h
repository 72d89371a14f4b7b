/* engine/translation_pace.h: how many sentences a step may have so that a short request beside a long one does not wait much longer
 * than alone: from measured times, which change no result. */
#ifndef ENGINE_TRANSLATION_PACE_H
#define ENGINE_TRANSLATION_PACE_H

#include <stddef.h>

/* Decoding steps: sums over rows r and seconds t, of which older ones count less and less. */
typedef struct translation_pace {
    double n, r, t, rr, rt;
} translation_pace;

void translation_pace_add(translation_pace *p, size_t rows, double seconds);
/* The rows of a step that takes `times` the time of one with a single row, by a straight line through the steps so far; at least
 * 1. Of too few steps 8. */
size_t translation_pace_rows(const translation_pace *p, double times);

#endif
