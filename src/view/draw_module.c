/* view/draw_module.c: draw_png for the program. cairo and pango bring forty libraries, which take longer to load than most
 * commands run. So they are linked to the module rapt_draw.so (src/view/draw), and the first PNG loads it. Nothing is drawn here.
 */
#include "view/draw_png.h"

#include "base/module.h"

rapt_code draw_png(canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err)
{
    rapt_code (*of_module)(canvas_draw_fn *, void *, buffer *, rapt_error *);
    *(void **)&of_module = module_function("rapt_draw.so", "draw_png", "this rapt cannot draw a PNG, only an SVG: its module, "
                                           "built where pango and cairo are, is missing", err);
    return of_module ? of_module(draw, figure, out, err) : RAPT_ERR_NOT_FOUND;
}
