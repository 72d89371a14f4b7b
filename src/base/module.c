/* base/module.c: loads shared objects with dlopen. It knows nothing about what they contain. */
#define _GNU_SOURCE /* asprintf */
#include "base/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_PATH 4096
#ifndef RAPT_MODULES
#define RAPT_MODULES "../lib/rapt" /* relative to the program's folder, unless the build sets another */
#endif

/* Loads the file from the program's folder or from the installed one. NULL: neither has it. */
static void *module_load(const char *folder, const char *file)
{
    static const char *const places[] = {".", RAPT_MODULES};
    void *module = NULL;
    for (size_t i = 0; i < 2 && !module; i++) {
        char *path;
        if (asprintf(&path, "%s/%s/%s", folder, places[i], file) < 0)
            return NULL;
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        free(path);
    }
    return module;
}

void *module_function(const char *file, const char *name, const char *lack, rapt_error *err)
{
    char program[PROGRAM_PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    void *module = slash ? module_load(program, file) : NULL, *function = module ? dlsym(module, name) : NULL;
    const char *why = function || !slash ? NULL : dlerror();
    if (!function)
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s (%s)", lack, why ? why : file);
    return function;
}
