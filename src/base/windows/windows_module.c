/* base/windows/windows_module.c: the program for Windows is one file: what is a module elsewhere is not there. */
#include "base/module.h"

void *module_function(const char *file, const char *name, const char *lack, rapt_error *err)
{
    (void)name;
    rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s (%s is not made for Windows)", lack, file);
    return NULL;
}
