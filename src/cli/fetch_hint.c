/* cli/fetch_hint.c: finds the path in the message, because an error has nothing else. */
#include "cli/fetch_hint.h"

#include "fetch/fetch.h"

#include <stdio.h>
#include <string.h>

#define CANNOT_READ "cannot read "

void fetch_hint(rapt_error *err)
{
    const char *path = strstr(err->message, CANNOT_READ);
    size_t used = strlen(err->message);
    if (!path || !strstr(path, "o such file"))
        return;
    path += strlen(CANNOT_READ);
    for (size_t i = 0; i < FETCH_SET_COUNT; i++) {
        char folder[64], hint[sizeof err->message];
        snprintf(folder, sizeof folder, "/data/%s/", FETCH_SETS[i].name);
        const char *found = strstr(path, folder);
        if (!found)
            continue;
        int length = (int)(found - path) + (int)strlen(folder) - 1;
        snprintf(hint, sizeof hint, "; `rapt fetch %s --dir %.*s` gets it", FETCH_SETS[i].name, length, path);
        if (used + strlen(hint) < sizeof err->message)
            strcpy(err->message + used, hint);
        return;
    }
}
