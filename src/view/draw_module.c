/* view/draw_module.c: draw.h for the program. cairo and pango bring forty libraries, which take longer to load than most
 * commands run: they are linked to the module rapt_draw.so (src/view/draw), which the first picture loads.
 * No drawing here. */
#define _GNU_SOURCE /* asprintf */
#include "view/draw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_PATH 4096

/* Beside the program as it is built, or where it was installed. NULL: neither has one. */
static void *load(const char *folder)
{
    static const char *const places[] = {".", RAPT_MODULES};
    void *module = NULL;
    for (size_t i = 0; i < 2 && !module; i++) {
        char *path;
        if (asprintf(&path, "%s/%s/rapt_draw.so", folder, places[i]) < 0)
            return NULL;
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        free(path);
    }
    return module;
}

/* A function of the module; it stays loaded. NULL with `err` set. */
static void *function_of(const char *name, rapt_error *err)
{
    char program[PROGRAM_PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    void *module = slash ? load(program) : NULL, *function = module ? dlsym(module, name) : NULL;
    const char *why = function || !slash ? NULL : dlerror();
    if (!function)
        rapt_fail(err, RAPT_NOT_FOUND, "this rapt cannot draw: its module, built where pango and cairo are, is missing (%s)",
                  why ? why : "rapt_draw.so");
    return function;
}

rapt_code draw_heat_maps(const draw_heat *maps, size_t count, size_t across, const char *title, draw_range range,
                         const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_heat *, size_t, size_t, const char *, draw_range, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_heat_maps", err);
    return draw ? draw(maps, count, across, title, range, path, err) : RAPT_NOT_FOUND;
}

rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_curve *, size_t, draw_labels, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_curves", err);
    return draw ? draw(curves, count, labels, path, err) : RAPT_NOT_FOUND;
}

rapt_code draw_points(const draw_point *points, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    rapt_code (*draw)(const draw_point *, size_t, draw_labels, const char *, rapt_error *);
    *(void **)&draw = function_of("draw_points", err);
    return draw ? draw(points, count, labels, path, err) : RAPT_NOT_FOUND;
}
