/* tests/view/draw_case.h: for the tests of drawing: small maps drawn into the test's folder, and the colors to find there. */
#ifndef TESTS_DRAW_CASE_H
#define TESTS_DRAW_CASE_H

#include "view/draw.h"

#include "base/file.h"
#include "folder.h"
#include "view/picture.h"

#include <glib.h>

/* viridis at 0, 1/4, 1/2, 3/4 and 1, as everybody has it (in R: viridisLite::viridis(5); matplotlib takes the color of the
 * step above the middle, which differs by one in one channel). */
#define VIRIDIS_0 0x440154u
#define VIRIDIS_1_4 0x3b528bu
#define VIRIDIS_1_2 0x21918cu
#define VIRIDIS_3_4 0x5ec962u
#define VIRIDIS_1 0xfde725u
#define GRAY 0xc0c0c0u

enum { CELL = 80 }; /* pixels of a cell of a small map, at least */

static const draw_range from_0_to_1 = {0, 1, true};

static inline void draw_one(const draw_heat *map, draw_range range, const char *path)
{
    rapt_error err = {0};
    rapt_code code = draw_heat_maps(map, 1, 0, NULL, range, path, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
}

static inline picture picture_of(const draw_heat *map, draw_range range)
{
    const char *path = folder_in("one.png");
    draw_one(map, range, path);
    return picture_load(path);
}

static inline void draw_named(const char *name, const char *path)
{
    rapt_real value = 0.5;
    draw_heat map = {.rows = 1, .columns = 1, .values = &value, .row_names = &name, .column_names = &name};
    draw_one(&map, from_0_to_1, path);
}

static inline bool same_files(const char *a, const char *b)
{
    char *left, *right;
    size_t left_size, right_size;
    rapt_error err = {0};
    assert_int_equal(file_read(a, SIZE_MAX, &left, &left_size, &err), RAPT_OK);
    assert_int_equal(file_read(b, SIZE_MAX, &right, &right_size, &err), RAPT_OK);
    bool same = left_size == right_size && memcmp(left, right, left_size) == 0;
    free(left);
    free(right);
    return same;
}

/* Pango and GLib complain on stderr where they are given what is not text: nobody shall see that. */
static inline void no_complaint(const char *domain, GLogLevelFlags level, const char *message, void *nothing)
{
    (void)level, (void)nothing;
    fprintf(stderr, "%s: %s\n", domain ? domain : "GLib", message);
    abort();
}

#endif
