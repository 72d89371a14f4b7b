/* decode/translate_pace.c: measures decoding steps by their number of rows. */
#include "decode/translate_pace.h"

#define FORGET 1.002 /* a shortest time grows by so much with each step that takes longer */
enum { UNKNOWN = 8 };

void translate_pace_add(translate_pace *p, size_t rows, double seconds)
{
    size_t i = 0;
    while (i + 1 < TRANSLATE_PACE_SIZES && rows >= (size_t)2 << i)
        i++;
    const double grown = FORGET * p->seconds[i];
    p->seconds[i] = p->seconds[i] == 0 || seconds < grown ? seconds : grown;
}

/* A step of a size that was not measured is assumed to take twice the time of a step with half as many rows. */
size_t translate_pace_rows(const translate_pace *p, double times)
{
    double last = p->seconds[0];
    size_t rows = 1;
    if (last == 0)
        return UNKNOWN;
    for (size_t i = 1; i < TRANSLATE_PACE_SIZES; i++) {
        last = p->seconds[i] > 0 ? p->seconds[i] : 2 * last;
        if (last > times * p->seconds[0])
            break;
        rows = (size_t)1 << i;
    }
    return rows;
}
