/* view/figure/letters.h: how wide a line of text is about, where there is no font to ask. For svg.c. */
#ifndef VIEW_FIGURE_LETTERS_H
#define VIEW_FIGURE_LETTERS_H

#include <stdbool.h>

/* The width of a line of UTF-8, as a share of the font's size: exact for ASCII in DejaVu Sans, an estimate for all others.
 * Programs that show an SVG have fonts of their own, most of which are narrower. */
double letters_width(const char *line, bool bold);

/* Whether the first letter of a line that has a direction is of a script that runs to the left. */
bool letters_run_left(const char *line);

#endif
