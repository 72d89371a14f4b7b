/* view/draw/viridis.c: looks a color up.
 * For heat maps: viridis grows evenly lighter to the eye, so it reads in gray and with color-blindness too.
 * Not an interpolation: 256 colors are more than 8 bits a channel can tell apart between neighbors. */
#include "view/draw/viridis.h"

#include <math.h>

enum { COLORS = 256 };

static const uint32_t table[COLORS] = {
#include "view/draw/viridis_table.h"
};

uint32_t viridis(double share)
{
    if (isnan(share))
        return DRAW_GRAY;
    double step = share * COLORS;
    return table[step < 0 ? 0 : step >= COLORS ? COLORS - 1 : (int)step];
}
