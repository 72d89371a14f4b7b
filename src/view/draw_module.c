/* view/draw_module.c: draw.h for the program. cairo and pango bring forty libraries, which take longer to load than most commands
 * run. So they are linked to the module rapt_draw.so (src/view/draw), and the first picture loads it. Nothing is drawn here. */
#include "view/draw.h"

#include "base/module.h"

static void *function_of(const char *name, rapt_error *err)
{
    return module_function("rapt_draw.so", name,
                           "this rapt cannot draw: its module, built where pango and cairo are, is missing", err);
}

rapt_code draw_heat_maps(const draw_heat *maps, size_t count, size_t across, const char *title, draw_range range,
                         const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_heat *, size_t, size_t, const char *, draw_range, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_heat_maps", err);
    return draw ? draw(maps, count, across, title, range, path, err) : RAPT_ERR_NOT_FOUND;
}

rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_curve *, size_t, draw_labels, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_curves", err);
    return draw ? draw(curves, count, labels, path, err) : RAPT_ERR_NOT_FOUND;
}

rapt_code draw_points(const draw_point *points, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_point *, size_t, draw_labels, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_points", err);
    return draw ? draw(points, count, labels, path, err) : RAPT_ERR_NOT_FOUND;
}
