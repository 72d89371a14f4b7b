/* view/figure/viridis.c: looks up a color for heat maps. Viridis grows evenly lighter to the eye, so it can also be read in gray
 * and by color-blind readers. It does not interpolate: with 256 colors, neighbors hardly differ in 8 bits a channel. */
#include "view/figure/viridis.h"

#include <math.h>

enum { COLORS = 256 };

static const uint32_t table[COLORS] = {
#include "view/figure/viridis_table.h"
};

uint32_t viridis(double share)
{
    if (isnan(share))
        return DRAW_GRAY;
    double step = share * COLORS;
    return table[step < 0 ? 0 : step >= COLORS ? COLORS - 1 : (int)step];
}
