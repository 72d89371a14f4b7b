/* view/figure/heat.c: one heat map or a grid of them, under one title and with one color bar. For attention weights of all heads,
 * positional encodings, similarities. heat_side.c draws the sides of a map, cells.c its cells. */
#include "view/figure/figures.h"

#include "base/min.h"
#include "view/figure/cells.h"
#include "view/figure/draw_type.h"
#include "view/figure/heat_parts.h"
#include "view/figure/ticks.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE_ALONE = 480,    /* the side of a map alone, if nothing else decides the size of its cells */
    SIDE_IN_GRID = 220,  /* the side of one of many maps; for a few maps, up to */
    SIDE_OF_FEW = 320,   /* this, as long as a row of them is not wider than */
    ROW_OF_FEW = 1000,
    SIDE_MIN = 24,
    WIDEST_GRID = 2400,
    MAX_CELL = 64,
    NAMED_CELL = 14,     /* cells with names beside them grow to this while a map stays within SIDE_NAMED, */
    SIDE_NAMED = 640,
    TIGHT_CELL = 12,     /* and to this while it stays within SIDE_TIGHT; beyond, there are numbers */
    SIDE_TIGHT = 960,
    BETWEEN_MAPS = 16,
    WIDEST_PANEL_TITLE = 320,
    TITLE_HEIGHT = 20,
    BAR_GAP = 20,
    BAR_MIN = 80,
    BAR_MAX = 640,
    MAX_A_POINT = 4     /* rows or columns of a map; beyond, several are drawn as one */
};

typedef struct panel {
    cells cells;
    heat_side left, below;
    bool has_left, has_below; /* false: the next map to that side has the same */
    const char *title;
    double beyond;            /* how far the title reaches beyond the map, at either end */
    double x, y;              /* the corner of the cells */
} panel;

typedef struct grid {
    panel *panels;
    size_t count, across;
    const char *title;
    draw_range range;
    size_t most;          /* cells a side of a map */
    double width, height; /* all maps together, from the first cells to the last */
} grid;

static const canvas_type panel_type = {.size = DRAW_PANEL_SIZE, .anchor = 0.5, .widest = WIDEST_PANEL_TITLE};

/* ---- sizes ------------------------------------------------------------------------------------------------------------- */

static double side_of(const grid *g)
{
    double share = (double)WIDEST_GRID / (double)g->across;
    double wanted = fmax(SIDE_IN_GRID, fmin(SIDE_OF_FEW, (double)ROW_OF_FEW / (double)g->across));
    return g->count == 1 ? SIDE_ALONE : fmax(SIDE_MIN, fmin(wanted, share));
}

/* The side of a cell: `cell`, or larger so that names fit beside it, if a map of n such cells stays small enough. */
static double grown(const grid *g, double cell, size_t n)
{
    double count = (double)n, share = (double)WIDEST_GRID / (double)g->across;
    if (cell < NAMED_CELL && NAMED_CELL * count <= fmin(SIDE_NAMED, share))
        return NAMED_CELL;
    return cell < TIGHT_CELL && TIGHT_CELL * count <= fmin(SIDE_TIGHT, share) ? TIGHT_CELL : cell;
}

/* The side of a cell if the longer side of a map has n cells: a multiple of half a point, which is a whole pixel. */
static double cell_side(const grid *g, size_t n, bool named)
{
    double cell = fmin(MAX_CELL, side_of(g) / (double)n);
    return fmax(0.5, round(2 * (named ? grown(g, cell, n) : cell)) / 2);
}

/* Cells of the shorter side grow if the map would be too thin, or if the names of that side then fit. */
static double other_side(const grid *g, double cell, size_t n, bool named)
{
    double wanted = fmin(MAX_CELL, side_of(g) / 3 / (double)n), side = fmax(cell, round(2 * wanted) / 2);
    return named ? grown(g, side, n) : side;
}

/* How many rows or columns of the shorter side are drawn as one if `together` of the longer side are: 1 if the map is only a
 * strip. */
static size_t others_together(const grid *g, size_t n, size_t together)
{
    return (double)n > MAX_A_POINT * side_of(g) / 3 || n > g->most ? together : 1;
}

/* The longest of all maps' sides of one direction, and whether one of them has names. */
typedef struct longest {
    size_t count, together;
    bool named;
} longest;

static void lengthen(longest *l, const heat_side *s)
{
    l->count = s->count > l->count ? s->count : l->count;
    l->named = l->named || s->names;
}

static size_t drawn(const longest *l)
{
    return (l->count + l->together - 1) / l->together;
}

/* Sizes of cells along both directions; `a` is not the shorter one. */
static void size_sides(const grid *g, longest *a, longest *b, double *along_a, double *along_b)
{
    const size_t room = (size_t)(MAX_A_POINT * side_of(g)), max = MIN(room, g->most);
    a->together = (a->count + max - 1) / max;
    b->together = others_together(g, b->count, a->together);
    *along_a = cell_side(g, drawn(a), a->named || (b->named && b->count == a->count));
    *along_b = other_side(g, *along_a, drawn(b), b->named);
}

/* All maps have cells of one size, whatever their shapes. */
static void size_cells(grid *g)
{
    longest rows = {0}, columns = {0};
    double width, height;
    for (size_t i = 0; i < g->count; i++) {
        lengthen(&rows, &g->panels[i].left);
        lengthen(&columns, &g->panels[i].below);
    }
    if (rows.count > columns.count)
        size_sides(g, &rows, &columns, &height, &width);
    else
        size_sides(g, &columns, &rows, &width, &height);
    for (size_t i = 0; i < g->count; i++) {
        panel *p = &g->panels[i];
        p->cells.rows_together = rows.together;
        p->cells.columns_together = columns.together;
        p->cells.width = width;
        p->cells.height = height;
        p->left.cell = height / (double)rows.together;
        p->below.cell = width / (double)columns.together;
    }
}

static double width_of(const panel *p)
{
    return (double)cells_across(&p->cells) * p->cells.width;
}

static double heat_height_of(const panel *p)
{
    return (double)cells_down(&p->cells) * p->cells.height;
}

/* ---- places ------------------------------------------------------------------------------------------------------------ */

/* Names stand at the leftmost map of a row and the lowest of a column, and wherever they differ from those. */
static void share_sides(grid *g)
{
    for (size_t i = 0; i < g->count; i++) {
        panel *p = &g->panels[i];
        p->has_left = i % g->across == 0 || !heat_side_equal(&p->left, &p[-1].left);
        p->has_below = i + g->across >= g->count || !heat_side_equal(&p->below, &p[g->across].below);
    }
}

typedef double panel_fn(const panel *p);

static double margin_left(const panel *p)
{
    return fmax(p->has_left ? p->left.depth : 0, p->beyond);
}

static double margin_below(const panel *p)
{
    return p->has_below ? p->below.depth : 0;
}

static double margin_right(const panel *p)
{
    return p->beyond;
}

static double margin_above(const panel *p)
{
    return p->title ? TITLE_HEIGHT : 0;
}

/* The largest over the maps `first`, `first + by`, ... before `end`. */
static double heat_max(const grid *g, size_t first, size_t by, size_t end, panel_fn *of)
{
    double max = 0;
    for (size_t i = first; i < end && i < g->count; i += by)
        max = fmax(max, of(&g->panels[i]));
    return ceil(max);
}

static void place_columns(grid *g)
{
    double x = 0;
    for (size_t column = 0; column < g->across && column < g->count; column++) {
        double before = column ? heat_max(g, column - 1, g->across, g->count, margin_right) : 0;
        x += column ? before + BETWEEN_MAPS + heat_max(g, column, g->across, g->count, margin_left) : 0;
        for (size_t i = column; i < g->count; i += g->across)
            g->panels[i].x = x;
        x += heat_max(g, column, g->across, g->count, width_of);
    }
    g->width = x;
}

static void place_rows(grid *g)
{
    double y = 0;
    for (size_t first = 0; first < g->count; first += g->across) {
        size_t end = first + g->across;
        y += first ? BETWEEN_MAPS + heat_max(g, first, 1, end, margin_above) : 0;
        for (size_t i = first; i < end && i < g->count; i++)
            g->panels[i].y = y;
        y += heat_max(g, first, 1, end, heat_height_of);
        g->height = y;
        y += heat_max(g, first, 1, end, margin_below);
    }
}

static void place_all(canvas *c, grid *g)
{
    for (size_t i = 0; i < g->count; i++) {
        panel *p = &g->panels[i];
        heat_side_plan(c, &p->left);
        heat_side_plan(c, &p->below);
        p->beyond = fmax(0, (canvas_text_width(c, &panel_type, p->title) - width_of(p)) / 2);
    }
    share_sides(g);
    place_columns(g);
    place_rows(g);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

static void draw_panel(canvas *c, const panel *p, draw_range range)
{
    cells_paint(c, &p->cells, p->x, p->y, range);
    c->color = DRAW_FRAME;
    c->writer->frame(c, p->x, p->y, width_of(p), heat_height_of(p), DRAW_FRAME_WIDTH);
    canvas_text(c, &panel_type, p->title, p->x + width_of(p) / 2, p->y - TITLE_HEIGHT / 2.0);
    if (p->has_left)
        heat_side_draw(c, &p->left, p->x, p->y);
    if (p->has_below)
        heat_side_draw(c, &p->below, p->x, p->y + heat_height_of(p));
}

static void draw_bar(canvas *c, const grid *g)
{
    double height = round(fmax(BAR_MIN, fmin(BAR_MAX, g->height)));
    double x = g->width + heat_max(g, g->across - 1, g->across, g->count, margin_right) + BAR_GAP;
    double y = round((g->height - height) / 2);
    heat_bar_draw(c, g->range, x, y, height);
}

static void draw_grid(canvas *c, void *figure)
{
    grid *g = figure;
    place_all(c, g);
    for (size_t i = 0; i < g->count; i++)
        draw_panel(c, &g->panels[i], g->range);
    draw_bar(c, g);
    canvas_title(c, g->title, g->width / 2, -heat_max(g, 0, 1, g->across, margin_above) - TITLE_HEIGHT / 2.0 - 2, g->width);
}

/* ---- what is drawn ----------------------------------------------------------------------------------------------------- */

/* Nearly square; among the numbers near that, one that leaves no gap in the last row. */
static size_t choose_across(size_t count)
{
    size_t min = (size_t)ceil(sqrt((double)count));
    for (size_t across = min; across <= 2 * min; across++)
        if (count % across == 0)
            return across;
    return min;
}

/* The usual value of a map, from its finite values. Most attention weights are near 0, so it is not the middle of the range. */
static double mean_of(const draw_heat *map)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < map->rows * map->columns; i++)
        if (isfinite(map->values[i])) {
            sum += (double)map->values[i];
            count++;
        }
    return count ? sum / (double)count : 0;
}

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static rapt_code fill_grid(grid *g, const draw_heat *maps, draw_range range, rapt_error *err)
{
    draw_range found = RANGE_OF_NONE;
    for (size_t i = 0; i < g->count; i++) {
        const draw_heat *m = &maps[i];
        if (m->rows == 0 || m->columns == 0)
            return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw a heat map of %zu x %zu", m->rows, m->columns);
        g->panels[i] = (panel){.cells = {m->rows, m->columns, m->values, 1, 1, mean_of(m), 0, 0},
                               .left = {m->rows, .names = m->row_names, .title = text_or_null(m->labels.y)},
                               .below = {m->columns, .names = m->column_names, .title = text_or_null(m->labels.x),
                                         .across = true},
                               .title = text_or_null(m->labels.title)};
        for (size_t j = 0; j < m->rows * m->columns; j++)
            range_take(&found, (double)m->values[j]);
    }
    g->range = range.given ? range : range_settle(found, 0);
    g->range.label = text_or_null(range.label);
    return range_check(g->range, "colors", err);
}

rapt_code figure_heat_maps(const draw_heat *maps, size_t count, figure_grid of, draw_range range, canvas_output *output,
                           void *to, rapt_error *err)
{
    if (count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw no heat map");
    grid g = {.count = count, .across = of.across && of.across < count ? of.across : of.across ? count : choose_across(count),
              .title = of.title, .most = of.most ? of.most : SIZE_MAX};
    g.panels = calloc(count, sizeof *g.panels);
    if (!g.panels)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu heat maps", count);
    rapt_code code = fill_grid(&g, maps, range, err);
    if (code == RAPT_OK) {
        size_cells(&g);
        code = output(to, draw_grid, &g, err);
    }
    free(g.panels);
    return code;
}
