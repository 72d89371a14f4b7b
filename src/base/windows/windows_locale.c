/* base/windows/windows_locale.c: a thread of Windows has the program's locale until it asks for one of its own. */
#include "base/c_locale.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The name of the locale of numbers, and what _configthreadlocale returned. */
typedef struct thread_locale {
    int per_thread;
    char name[];
} thread_locale;

/* NULL: numbers have a point already, as in all programs that have set no locale. */
void *c_locale_enter(void)
{
    const char *name = setlocale(LC_NUMERIC, NULL);
    if (!name || strcmp(localeconv()->decimal_point, ".") == 0)
        return NULL;
    const size_t size = strlen(name) + 1;
    thread_locale *before = malloc(sizeof *before + size);
    if (!before)
        return NULL;
    memcpy(before->name, name, size);
    before->per_thread = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    setlocale(LC_NUMERIC, "C");
    return before;
}

void c_locale_leave(void *locale)
{
    thread_locale *before = locale;
    if (!before)
        return;
    setlocale(LC_NUMERIC, before->name);
    _configthreadlocale(before->per_thread);
    free(before);
}
