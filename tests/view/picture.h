/* tests/view/picture.h: pictures as numbers: a PNG as pixels, how alike two pictures are, other fonts. */
#ifndef TESTS_PICTURE_H
#define TESTS_PICTURE_H

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture {
    size_t width, height;
    uint32_t *pixels; /* 0xRRGGBB, row-major */
} picture;

static inline picture picture_load(const char *path)
{
    cairo_surface_t *s = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    picture p = {(size_t)cairo_image_surface_get_width(s), (size_t)cairo_image_surface_get_height(s)};
    p.pixels = malloc(p.width * p.height * sizeof *p.pixels);
    size_t stride = (size_t)cairo_image_surface_get_stride(s);
    for (size_t y = 0; y < p.height; y++)
        for (size_t x = 0; x < p.width; x++) {
            uint32_t pixel;
            memcpy(&pixel, cairo_image_surface_get_data(s) + y * stride + 4 * x, sizeof pixel);
            p.pixels[y * p.width + x] = pixel & 0xffffff;
        }
    cairo_surface_destroy(s);
    return p;
}

static inline void picture_free(picture *p)
{
    free(p->pixels);
}

/* Where one color is, or one that differs by `most` in a channel. */
typedef struct spot {
    size_t count;
    double x, y; /* the mean */
    size_t left, top, right, bottom;
} spot;

static bool is_near(uint32_t a, uint32_t b, int most)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > most)
            return false;
    return true;
}

static spot picture_spot_near(const picture *p, uint32_t color, int most)
{
    spot s = {.left = p->width, .top = p->height};
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            if (!is_near(p->pixels[y * p->width + x], color, most))
                continue;
            s.count++;
            s.x += (double)x;
            s.y += (double)y;
            s.left = x < s.left ? x : s.left;
            s.right = x > s.right ? x : s.right;
            s.top = y < s.top ? y : s.top;
            s.bottom = y > s.bottom ? y : s.bottom;
        }
    s.x /= (double)(s.count ? s.count : 1);
    s.y /= (double)(s.count ? s.count : 1);
    return s;
}

static inline spot picture_spot(const picture *p, uint32_t color)
{
    return picture_spot_near(p, color, 0);
}

/* ---- likeness ---------------------------------------------------------------------------------------------------------- */

/* A picture brought to GRID x GRID means, whatever its size was. */
enum { GRID = 56, CHANNELS = 3 };
typedef struct sketch {
    double of[GRID][GRID][CHANNELS];
} sketch;

/* How much of [i, i + 1] lies in [low, high]. */
static double covered(size_t i, double low, double high)
{
    return fmin((double)i + 1, high) - fmax((double)i, low);
}

/* Pixels on an edge between two means count for both, by their shares. */
static void sketch_mean(const picture *p, size_t gx, size_t gy, double mean[CHANNELS])
{
    double wide = (double)p->width / GRID, high = (double)p->height / GRID, sums[CHANNELS] = {0};
    double x0 = (double)gx * wide, x1 = x0 + wide, y0 = (double)gy * high, y1 = y0 + high;
    for (size_t y = (size_t)y0; y < p->height && (double)y < y1; y++)
        for (size_t x = (size_t)x0; x < p->width && (double)x < x1; x++)
            for (int c = 0; c < CHANNELS; c++)
                sums[c] += covered(x, x0, x1) * covered(y, y0, y1) * (double)(p->pixels[y * p->width + x] >> (16 - 8 * c) & 0xff);
    for (int c = 0; c < CHANNELS; c++)
        mean[c] = sums[c] / (wide * high);
}

static inline void sketch_of(const picture *p, sketch *s)
{
    assert_true(p->width >= GRID && p->height >= GRID);
    for (size_t y = 0; y < GRID; y++)
        for (size_t x = 0; x < GRID; x++)
            sketch_mean(p, x, y, s->of[y][x]);
}

/* How far the color of a at (x, y) lies outside of what the colors of b up to one step away can be mixed to: a mean over an
 * edge, moved by less than a step, is a mixture. */
static double distance_at(const sketch *a, const sketch *b, int x, int y)
{
    double most = 0;
    for (int c = 0; c < CHANNELS; c++) {
        double low = INFINITY, high = -INFINITY, mine = a->of[y][x][c];
        for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < GRID; v++)
            for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < GRID; u++) {
                low = fmin(low, b->of[v][u][c]);
                high = fmax(high, b->of[v][u][c]);
            }
        most = fmax(most, fmax(low - mine, mine - high));
    }
    return most;
}

/* The greatest of these distances both ways, of 255. */
static inline double sketch_distance(const sketch *a, const sketch *b)
{
    double most = 0;
    for (int y = 0; y < GRID; y++)
        for (int x = 0; x < GRID; x++)
            most = fmax(most, fmax(distance_at(a, b, x, y), distance_at(b, a, x, y)));
    return most;
}

/* ---- fonts ------------------------------------------------------------------------------------------------------------- */

/* From now on texts are set in `family`, where that is installed and has the letters. */
static inline bool use_font(const char *family)
{
    FcPattern *wanted = FcPatternBuild(NULL, FC_FAMILY, FcTypeString, (const FcChar8 *)family, (char *)NULL);
    FcObjectSet *nothing = FcObjectSetBuild(FC_FAMILY, (char *)NULL);
    FcFontSet *found = FcFontList(NULL, wanted, nothing);
    bool there = found->nfont > 0;
    FcFontSetDestroy(found);
    FcObjectSetDestroy(nothing);
    FcPatternDestroy(wanted);
    if (!there)
        return false;
    char rule[400];
    snprintf(rule, sizeof rule,
             "<?xml version=\"1.0\"?><fontconfig><match target=\"pattern\">"
             "<edit name=\"family\" mode=\"prepend_first\" binding=\"strong\"><string>%s</string></edit></match></fontconfig>",
             family);
    FcConfig *config = FcInitLoadConfigAndFonts();
    assert_true(FcConfigParseAndLoadFromMemory(config, (const FcChar8 *)rule, FcTrue));
    FcConfigSetCurrent(config);
    FcConfigDestroy(config); /* the current one is kept by fontconfig */
    return true;
}

#endif
