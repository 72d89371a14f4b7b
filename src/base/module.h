/* base/module.h: functions of the program in files of their own, because the libraries that they need take longer to load than
 * most commands run. For draw_module.c and src/fetch. */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

#include "rapt/base.h"

/* The function `name` of the module `file` ("rapt_draw.so"), which is in the program's folder after a build, or where it was
 * installed, and stays loaded. NULL with `err` set to "`lack` (REASON)". */
void *module_function(const char *file, const char *name, const char *lack, rapt_error *err);

#endif
