/* tests/view/test_draw_reference.c: whole figures against pictures that were checked by eye (tests/view/ref).
 *
 * Fonts differ from machine to machine, and with them the widths of names and so the places of everything else, by some
 * pixels. So both pictures are brought to 56 x 56 means, and a mean is compared with what those one step around can be mixed
 * to: a shift by a font passes, as does another shape of the letters, while a map upside down, another cell, a missing name
 * or a curve elsewhere do not. That it is so is tested too: with other fonts, and with such wrong figures.
 *
 * RAPT_DRAW_REFERENCES=1 writes the references anew, at a quarter of their size: look at them before they are committed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/draw.h"

#include "folder.h"
#include "view/picture.h"

/* ---- figures ----------------------------------------------------------------------------------------------------------- */

/* Something to draw; `wrong` 1, 2 and 3 are figures that a test must tell from the right one, 0. */
typedef rapt_code figure_fn(int wrong, const char *path, rapt_error *err);

static const char *const english[] = {"<bos>", "the", "little", "black", "cat", "is", "sleepwalking", "there", ".", "<eos>"};
static const char *const french[] = {"<bos>", "le", "petit", "chat", "noir", "dort", "là-bas", ".", "<eos>"};
enum { ENGLISH = 10, FRENCH = 9 };

/* Something like an alignment, peaked where the words are each other's translation; rows sum to 1. */
static void align(rapt_real *w, double sharpness)
{
    const int to[FRENCH] = {0, 1, 2, 4, 3, 6, 7, 8, 9};
    for (int i = 0; i < FRENCH; i++) {
        double sum = 0, row[ENGLISH];
        for (int k = 0; k < ENGLISH; k++)
            sum += row[k] = exp(-sharpness * abs(k - to[i]));
        for (int k = 0; k < ENGLISH; k++)
            w[i * ENGLISH + k] = (rapt_real)(row[k] / sum);
    }
}

static void turn_upside_down(rapt_real *w)
{
    for (int i = 0; i < FRENCH * ENGLISH / 2; i++) {
        rapt_real swapped = w[i];
        w[i] = w[FRENCH * ENGLISH - 1 - i];
        w[FRENCH * ENGLISH - 1 - i] = swapped;
    }
}

static rapt_code attention(int wrong, const char *path, rapt_error *err)
{
    rapt_real w[FRENCH * ENGLISH];
    align(w, 1.2);
    if (wrong == 1)
        turn_upside_down(w);
    if (wrong == 2)
        w[7 * ENGLISH + 1] = 0.9f;
    draw_heat map = {{NULL, "source", "target"}, FRENCH, ENGLISH, w, french, wrong == 3 ? NULL : english};
    const char *title = wrong == 3 ? NULL : "Cross-attention, block 1, head 3";
    return draw_heat_maps(&map, 1, 0, title, (draw_range){0, 1, true}, path, err);
}

static rapt_code heads(int wrong, const char *path, rapt_error *err)
{
    enum { HEADS = 8 };
    static const char *const titles[HEADS] = {"head 0", "head 1", "head 2", "head 3", "head 4", "head 5", "head 6", "head 7"};
    rapt_real w[HEADS][FRENCH * ENGLISH];
    draw_heat maps[HEADS];
    for (int i = 0; i < HEADS; i++) {
        align(w[i], 0.15 * (wrong == 1 ? HEADS - i : i + 1));
        maps[i] = (draw_heat){{titles[i], "source", "target"}, FRENCH, ENGLISH, w[i], french, english};
    }
    if (wrong == 2)
        turn_upside_down(w[5]);
    return draw_heat_maps(maps, wrong == 3 ? HEADS - 1 : HEADS, 4, "Cross-attention, block 0", (draw_range){0}, path, err);
}

static rapt_code scripts(int wrong, const char *path, rapt_error *err)
{
    static const char *const chinese[] = {"我", "喜欢", "学习", "语言模型"};
    static const char *const arabic[] = {"أحب", "تعلم", "اللغات", "القَهْوَةَ"};
    rapt_real w[] = {0.7f, 0.1f, 0.2f, 0.05f, 0.1f, 0.2f, 0.6f, 0.1f, 0, 0.1f, 0.3f, 0.6f, 0.25f, 0.25f, 0.25f, NAN};
    if (wrong == 1)
        w[15] = 0;
    draw_heat map = {{"Attention", "key", "query"}, 4, 4, w, arabic, chinese};
    return draw_heat_maps(&map, 1, 0, NULL, (draw_range){0, wrong == 2 ? 2 : wrong == 3 ? 0.7 : 1, true}, path, err);
}

static double encoding(double position, double dimension, double of)
{
    double angle = position / pow(10000, floor(dimension / 2) * 2 / of);
    return (int)dimension % 2 ? cos(angle) : sin(angle);
}

static rapt_code positions(int wrong, const char *path, rapt_error *err)
{
    enum { POSITIONS = 24, DIMENSIONS = 12 };
    rapt_real values[POSITIONS * DIMENSIONS];
    for (int p = 0; p < POSITIONS; p++)
        for (int d = 0; d < DIMENSIONS; d++)
            values[p * DIMENSIONS + d] = (rapt_real)encoding(wrong == 1 ? POSITIONS - p : p, wrong == 2 ? d + 1 : d, DIMENSIONS);
    draw_heat map = {{NULL, "dimension", "position"}, POSITIONS, DIMENSIONS, values};
    return draw_heat_maps(&map, 1, 0, "Positional encoding", (draw_range){wrong == 3 ? 0 : -1, 1, true}, path, err);
}

static rapt_code curves(int wrong, const char *path, rapt_error *err)
{
    enum { POSITIONS = 60, CURVES = 4 };
    static const char *const names[CURVES] = {"dimension 6", "dimension 7", "dimension 8", "dimension 9"};
    double x[POSITIONS], y[CURVES][POSITIONS];
    draw_curve all[CURVES];
    for (int c = 0; c < CURVES; c++) {
        for (int p = 0; p < POSITIONS; p++) {
            x[p] = p;
            y[c][p] = encoding(wrong == 1 ? POSITIONS - p : p, wrong == 2 ? 9 - c : 6 + c, 32);
        }
        all[c] = (draw_curve){names[c], POSITIONS, x, y[c]};
    }
    return draw_curves(all, wrong == 3 ? 3 : CURVES, (draw_labels){"Positional encoding", "position", "value"}, path, err);
}

static rapt_code points(int wrong, const char *path, rapt_error *err)
{
    enum { POINTS = 30 };
    static const char *const words[POINTS] = {
        "cat", "dog", "horse", "mouse", "bird", "red", "green", "blue", "black", "white", "one", "two", "three", "four", "five",
        "go", "come", "stay", "run", "walk", "I", "you", "he", "she", "we", "house", "door", "window", "roof", "wall"};
    draw_point all[POINTS];
    for (int i = 0; i < POINTS; i++) { /* six groups on a circle, five words around each one's middle */
        double group = i / 5 * 1.0472, own = i % 5 * 1.2566 + group, sign = wrong == 1 ? -1 : 1;
        all[i] = (draw_point){words[i], 3 * cos(group) + 0.7 * cos(own), sign * (3 * sin(group) + 0.5 * sin(own)) + i * 0.01};
    }
    if (wrong == 2)
        all[7].y = 0;
    return draw_points(all, wrong == 3 ? 25 : POINTS, (draw_labels){"Embeddings", "first component", "second component"}, path,
                       err);
}

/* Tolerances lie between what three fonts change at most (70, 43, 25, 90, 22, 24 of 255) and what the wrong figures change at
 * least (149, 109, 83, 144, 50, 42). */
static const struct figure {
    const char *name;
    figure_fn *draw;
    double tolerance;
} figures[] = {{"attention", attention, 105}, {"heads", heads, 75}, {"scripts", scripts, 55},
               {"positions", positions, 115}, {"curves", curves, 36}, {"points", points, 33}};
enum { FIGURES = sizeof figures / sizeof *figures };

/* ---- references -------------------------------------------------------------------------------------------------------- */

static const char *reference_path(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, RAPT_SOURCE_DIR "/tests/view/ref/%s.png", name);
    return path;
}

/* A quarter of the width and height, each pixel the mean of sixteen. */
static void write_reference(const char *name, const picture *p)
{
    enum { TIMES = 4 };
    size_t width = p->width / TIMES, height = p->height / TIMES;
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            uint32_t sums[3] = {0};
            for (size_t i = 0; i < TIMES * TIMES; i++)
                for (int c = 0; c < 3; c++)
                    sums[c] += p->pixels[(y * TIMES + i / TIMES) * p->width + x * TIMES + i % TIMES] >> (8 * c) & 0xff;
            uint32_t pixel = sums[0] / 16 | sums[1] / 16 << 8 | sums[2] / 16 << 16;
            memcpy(cairo_image_surface_get_data(s) + y * (size_t)cairo_image_surface_get_stride(s) + 4 * x, &pixel, sizeof pixel);
        }
    cairo_surface_mark_dirty(s);
    assert_int_equal(cairo_surface_write_to_png(s, reference_path(name)), CAIRO_STATUS_SUCCESS);
    cairo_surface_destroy(s);
}

static void sketch_reference(const struct figure *f, sketch *s)
{
    picture p = picture_load(reference_path(f->name));
    sketch_of(&p, s);
    picture_free(&p);
}

/* The distance of a figure, as it is drawn now, from its reference. */
static double distance_from_reference(const struct figure *f, int wrong)
{
    static sketch now, reference;
    rapt_error err = {0};
    const char *path = folder_in("now.png");
    assert_int_equal(f->draw(wrong, path, &err), RAPT_OK);
    picture p = picture_load(path);
    sketch_of(&p, &now);
    picture_free(&p);
    sketch_reference(f, &reference);
    return sketch_distance(&now, &reference);
}

/* With the fonts that "Sans" is by default. */
static void write_references(void)
{
    for (int i = 0; i < FIGURES; i++) {
        rapt_error err = {0};
        assert_int_equal(figures[i].draw(0, folder_in("now.png"), &err), RAPT_OK);
        picture p = picture_load(folder_in("now.png"));
        write_reference(figures[i].name, &p);
        picture_free(&p);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------------- */

static void figures_look_like_their_references(void **state)
{
    (void)state;
    if (getenv("RAPT_DRAW_REFERENCES"))
        write_references();
    for (int i = 0; i < FIGURES; i++) {
        double distance = distance_from_reference(&figures[i], 0);
        print_message("%s: %.0f\n", figures[i].name, distance);
        assert_true(distance < figures[i].tolerance);
    }
}

static void wrong_figures_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < FIGURES; i++)
        for (int wrong = 1; wrong <= 3; wrong++) {
            double distance = distance_from_reference(&figures[i], wrong);
            print_message("%s, wrong in way %d: %.0f\n", figures[i].name, wrong, distance);
            assert_true(distance > figures[i].tolerance);
        }
}

static void with_other_fonts_they_do(void **state)
{
    (void)state;
    static const char *const families[] = {"DejaVu Sans", "DejaVu Serif", "WenQuanYi Micro Hei", "Noto Sans", "Liberation Sans"};
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        if (!use_font(families[k])) {
            print_message("%s is not installed\n", families[k]);
            continue;
        }
        for (int i = 0; i < FIGURES; i++) {
            double distance = distance_from_reference(&figures[i], 0);
            print_message("%s in %s: %.0f\n", figures[i].name, families[k], distance);
            assert_true(distance < figures[i].tolerance);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_look_like_their_references),
        cmocka_unit_test(wrong_figures_do_not),
        cmocka_unit_test(with_other_fonts_they_do),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
