/* engine/translation_pace.c: see translation_pace.h. */
#include "engine/translation_pace.h"

#define KEEP 0.995 /* of the weight of earlier steps, with each new one */
enum { UNKNOWN = 8, LARGEST = 1 << 16 };

void translation_pace_add(translation_pace *p, size_t rows, double seconds)
{
    const double r = (double)rows;
    p->n = KEEP * p->n + 1;
    p->r = KEEP * p->r + r;
    p->t = KEEP * p->t + seconds;
    p->rr = KEEP * p->rr + r * r;
    p->rt = KEEP * p->rt + r * seconds;
}

size_t translation_pace_rows(const translation_pace *p, double times)
{
    const double spread = p->n * p->rr - p->r * p->r;
    if (p->n < 20 || spread < p->n * p->n) /* a variance below 1 says nothing of the slope */
        return UNKNOWN;
    const double slope = (p->n * p->rt - p->r * p->t) / spread, one = (p->t - slope * p->r) / p->n + slope;
    if (!(slope > 0) || !(one > 0))
        return UNKNOWN;
    const double rows = 1 + (times - 1) * one / slope;
    return rows < LARGEST ? (size_t)rows : LARGEST;
}
