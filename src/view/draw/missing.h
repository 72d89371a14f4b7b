/* view/draw/missing.h: letters that no font of this machine has. For png.c and png_text.c. */
#ifndef VIEW_DRAW_MISSING_H
#define VIEW_DRAW_MISSING_H

#include <pango/pango.h>

#include "rapt/base.h"

/* The first letter of the layout's line that would be drawn as a box; 0 if there is none. Signs that belong to no script do not
 * count, among them the signs for control characters: a box says as much. The layout keeps its line. */
uint32_t missing_letter(PangoLayout *layout);

/* Fails, as no font has this letter; names the package of Debian that has one (RAPT_ERR_NOT_FOUND). */
rapt_code missing_fail(uint32_t letter, rapt_error *err);

#endif
