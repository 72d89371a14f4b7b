/* base/posix/posix_module.c: loads shared objects with dlopen. It knows nothing about what they contain. */
#include "base/module.h"

#include "base/chars.h"
#include "base/process.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef RAPT_MODULES
#define RAPT_MODULES "../lib/rapt" /* relative to the program's folder, unless the build sets another */
#endif

#if RAPT_STATIC /* a program of one file; its C library's dlopen would say less */
void *module_function(const char *file, const char *name, const char *lack, rapt_error *err)
{
    (void)name;
    rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s (%s: a program of one file loads no modules; docs/install.md has others)", lack, file);
    return NULL;
}
#else
/* Loads the file from the program's folder or from the installed one. NULL: neither has it. */
static void *module_load(const char *folder, const char *file)
{
    static const char *const places[] = {".", RAPT_MODULES};
    void *module = NULL;
    for (size_t i = 0; i < 2 && !module; i++) {
        char *path = chars_print("%s/%s/%s", folder, places[i], file);
        if (!path)
            return NULL;
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        free(path);
    }
    return module;
}

void *module_function(const char *file, const char *name, const char *lack, rapt_error *err)
{
    char program[PROCESS_PATH];
    process_program(program);
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    void *module = slash ? module_load(program, file) : NULL, *function = module ? dlsym(module, name) : NULL;
    const char *why = function || !slash ? NULL : dlerror();
    if (!function)
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s (%s)", lack, why ? why : file);
    return function;
}
#endif
