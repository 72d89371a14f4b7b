/* view/draw/missing.h: letters that no font of this machine has. For text.c and canvas.c. */
#ifndef VIEW_DRAW_MISSING_H
#define VIEW_DRAW_MISSING_H

#include <pango/pango.h>

#include "rapt/base.h"

/* The first letter of the line that is set in the layout which would be drawn as a box; 0: none. Signs that belong to no
 * script, among them those that stand for control characters, do not count: a box says as much. The layout keeps its line. */
uint32_t missing_letter(PangoLayout *layout);

/* Fails: `path` cannot be drawn, as no font has this letter; names the package of Debian that has one (RAPT_ERR_NOT_FOUND). */
rapt_code missing_fail(uint32_t letter, const char *path, rapt_error *err);

#endif
