/* view/figure/canvas.c: what both writers of a canvas have in common. */
#include "view/figure/canvas.h"

rapt_code canvas_check_size(double width, double height, rapt_error *err)
{
    const double across = CANVAS_SCALE * width, down = CANVAS_SCALE * height;
    if (across <= CANVAS_MAX_PIXELS && down <= CANVAS_MAX_PIXELS)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "a picture of %.0f x %.0f pixels is too large: %d a side are the most", across, down,
                     CANVAS_MAX_PIXELS);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width)
{
    c->writer->begin(c, x0, y0);
    c->writer->extend(c, x1, y1);
    c->writer->stroke(c, &(canvas_pen){.width = width});
}
