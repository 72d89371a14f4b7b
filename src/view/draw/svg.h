/* svg.h: what cairo's SVG needs before it goes into a file. For canvas.c only. */
#ifndef DRAW_SVG_H
#define DRAW_SVG_H

#include "rapt/base.h"

/* Gives the elements of an SVG the names n0, n1, ... in their order. cairo numbers them through the life of the process, so
 * that the same picture drawn twice would not be the same bytes. Replaces the malloc'd `*text` of `*size` bytes. */
rapt_code svg_renumber(char **text, size_t *size, rapt_error *err);

#endif
