/* viridis.c: looks a colour up.
 * For heat maps: viridis grows evenly lighter to the eye, so it reads in grey and with colour-blindness too.
 * Not an interpolation: 256 colours are more than 8 bits a channel can tell apart between neighbours. */
#include "view/draw/viridis.h"

#include <math.h>

enum { COLOURS = 256 };

static const uint32_t table[COLOURS] = {
#include "view/draw/viridis_table.h"
};

uint32_t viridis(double share)
{
    if (isnan(share))
        return DRAW_GREY;
    double step = share * COLOURS;
    return table[step < 0 ? 0 : step >= COLOURS ? COLOURS - 1 : (int)step];
}
