/* base/near_path.c: compares a missing path with the names in its folder. */
#include "base/near_path.h"

#include "base/disk.h"
#include "base/quote.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ENTRIES_MAX = 10000 }; /* that are compared: a message must not wait for a folder of millions */

/* Stores the entry in `nearest` if it is nearer to `name`. */
static void keep_nearer(const char *name, const char *entry, char nearest[NEAR_PATH_TEXT])
{
    const char *both[] = {nearest, entry};
    const size_t first = *nearest ? 0 : 1;
    if (entry[0] == '.' || strlen(entry) >= NEAR_PATH_TEXT)
        return;
    if (suggest_spelling(name, both + first, 2 - first) == entry)
        strcpy(nearest, entry);
}

const char *near_path(const char *path, char text[NEAR_PATH_TEXT])
{
    char folder[NEAR_PATH_TEXT], nearest[NEAR_PATH_TEXT] = "", name[NEAR_PATH_TEXT];
    const int reason = errno;
    size_t size = strlen(path);
    text[0] = '\0';
    while (size > 1 && disk_is_slash(path[size - 1])) /* as completion in a shell leaves it */
        size--;
    if (size == 0 || size >= sizeof folder)
        return text;
    memcpy(folder, path, size);
    folder[size] = '\0';
    char *slash = disk_last_slash(folder);
    strcpy(name, slash ? slash + 1 : folder);
    *(slash ? slash + 1 : folder) = '\0';
    disk_folder *entries = disk_folder_open(*folder ? folder : ".");
    const char *entry;
    for (int i = 0; entries && i < ENTRIES_MAX && (entry = disk_folder_next(entries)) != NULL; i++)
        keep_nearer(name, entry, nearest);
    disk_folder_close(entries);
    char near[2 * NEAR_PATH_TEXT];
    snprintf(near, sizeof near, "%s%s", folder, nearest);
    if (*nearest && strlen(near) < 90) /* quote() takes no more without cutting */
        snprintf(text, NEAR_PATH_TEXT, "; did you mean \"%s\"?", quote(near).text);
    errno = reason;
    return text;
}
