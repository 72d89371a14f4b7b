/* view/figure/figures.h: the three kinds of figure, for any writer. For pictures in files (view/draw.h, which says what the
 * figures show), and for rapt_heatmap_svg and rapt_curves_svg. Each settles its figure, and gives it to `output` once. */
#ifndef VIEW_FIGURE_FIGURES_H
#define VIEW_FIGURE_FIGURES_H

#include "view/draw.h"
#include "view/figure/canvas.h"

/* Heat maps that stand together. */
typedef struct figure_grid {
    size_t across;     /* as in draw_heat_maps */
    const char *title;
    size_t most;       /* cells a side of a map: more rows or columns share them. 0: as many as there is room for */
} figure_grid;

rapt_code figure_heat_maps(const draw_heat *maps, size_t count, figure_grid grid, draw_range range, canvas_output *output,
                           void *to, rapt_error *err);
rapt_code figure_curves(const draw_curve *curves, size_t count, draw_labels labels, canvas_output *output, void *to,
                        rapt_error *err);
rapt_code figure_points(const draw_point *points, size_t count, draw_labels labels, canvas_output *output, void *to,
                        rapt_error *err);

#endif
