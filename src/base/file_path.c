/* base/file_path.c: the paths of files in folders.
 * For everything that reads or writes a folder of several files.
 * Not a normalization of paths: "..", links and double slashes stay as they are. */
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

char *file_join(const char *dir, const char *name)
{
    size_t length = strlen(dir), more = strlen(name);
    bool slash = length > 0 && dir[length - 1] != '/';
    char *path = malloc(length + slash + more + 1);
    if (!path)
        return NULL;
    memcpy(path, dir, length);
    if (slash)
        path[length] = '/';
    memcpy(path + length + slash, name, more + 1);
    return path;
}

rapt_code file_path(const char *dir, const char *name, char **path, rapt_error *err)
{
    *path = file_join(dir, name);
    return *path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory for the path of %.60s", dir, name);
}
