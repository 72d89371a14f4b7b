/* view/draw/svg.h: post-processing of cairo's SVG before it is written; texts stay text in it, to be searched, copied and
 * read aloud. For canvas.c and text.c only. */
#ifndef VIEW_DRAW_SVG_H
#define VIEW_DRAW_SVG_H

#include <stdio.h>

#include "rapt/base.h"
#include "view/draw/canvas.h"

/* Elements <text>, as they are added. */
typedef struct svg_texts {
    FILE *out; /* NULL: memory was out */
    char *data;
    size_t size;
} svg_texts;

/* Begins a group set in `family`, or in a font of the same width if a reader lacks that family. */
void svg_texts_begin(svg_texts *t, const char *family);

/* `line` with its anchor at (x, y), its baseline `down` below that before it is turned. */
void svg_text_add(svg_texts *t, const canvas_type *type, const char *line, bool right_to_left, double x, double y, double down);

/* Adds the texts to the SVG, on top of everything else, and frees them. `*text` is the SVG, `*size` bytes from malloc. */
rapt_code svg_texts_end(svg_texts *t, char **text, size_t *size, rapt_error *err);

/* Gives the elements of an SVG the names n0, n1, ... in their order. cairo numbers them through the life of the process, so
 * that the same picture drawn twice would not be the same bytes. Replaces the malloc'd `*text` of `*size` bytes. */
rapt_code svg_renumber(char **text, size_t *size, rapt_error *err);

#endif
