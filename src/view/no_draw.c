/* no_draw.c: stands in for src/view/draw where the build found no pango and cairo.
 * For `rapt plot`, which then says so. Not compiled where they are there. */
#include "view/draw.h"

static rapt_code without_cairo(rapt_error *err)
{
    return rapt_fail(err, RAPT_NOT_FOUND, "this rapt cannot draw: pango and cairo were not there when it was built");
}

rapt_code draw_heat_maps(const draw_heat *maps, size_t count, size_t across, const char *title, draw_range range,
                         const char *path, rapt_error *err)
{
    (void)maps, (void)count, (void)across, (void)title, (void)range, (void)path;
    return without_cairo(err);
}

rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    (void)curves, (void)count, (void)labels, (void)path;
    return without_cairo(err);
}

rapt_code draw_points(const draw_point *points, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    (void)points, (void)count, (void)labels, (void)path;
    return without_cairo(err);
}
