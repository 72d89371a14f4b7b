/* view/figure/svg.h: figures as SVG, in memory. For pictures in files, and rapt_heatmap_svg and its like. */
#ifndef VIEW_FIGURE_SVG_H
#define VIEW_FIGURE_SVG_H

#include "base/buffer.h"
#include "view/figure/canvas.h"

/* The context of svg_output. */
typedef struct svg_picture {
    buffer out; /* the SVG, with a NUL behind it; to be freed in any case */
    /* True: a file with a white background. False: for a page, whose background shows through, and whose color of text the texts
     * have; where it is a document by itself, also as an image, what its viewer prefers of light and dark. */
    bool paper;
} svg_picture;

/* A canvas_output, whose context is an svg_picture. The same figure gives the same bytes everywhere. RAPT_ERR_VALUE: too large;
 * RAPT_ERR_MEMORY. */
rapt_code svg_output(void *picture, canvas_draw_fn *draw, void *figure, rapt_error *err);

/* svg_image.c: cells as a PNG in base64, each of `wide` x `high` pixels. */
void svg_image_put(buffer_writer *out, const canvas_cells *cells, size_t wide, size_t high);

#endif
