/* view/figure/viridis.h: numbers as colors. For heat maps and their color bar; not a choice of color maps. */
#ifndef VIEW_DRAW_VIRIDIS_H
#define VIEW_DRAW_VIRIDIS_H

#include <stdint.h>

/* 0xRRGGBB of `share`, from 0 (dark violet) to 1 (yellow), in 256 equal steps as matplotlib takes them; less than 0 counts as 0,
 * more than 1 as 1, and NaN is DRAW_GRAY, a color that no share has. */
uint32_t viridis(double share);

#define DRAW_GRAY 0xc0c0c0u

#endif
