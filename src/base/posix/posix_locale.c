/* base/posix/posix_locale.c: POSIX has a locale for each thread. */
#define _GNU_SOURCE
#include "base/c_locale.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

void *c_locale_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void c_locale_leave(void *before)
{
    freelocale(uselocale(before));
}
