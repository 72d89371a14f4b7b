/* base/file_path.c: the paths of files in folders, and of temporary ones.
 * For everything that reads or writes a folder of several files.
 * Not a normalization of paths: "..", links and double slashes stay as they are. */
#define _GNU_SOURCE /* asprintf, mkdtemp */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

const char *file_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

rapt_code file_make_temporary(const char *name, char **path, rapt_error *err)
{
    const char *folder = file_temporary_folder();
    if (asprintf(path, "%s/rapt-%s-XXXXXX", folder, name) < 0) {
        *path = NULL;
        return rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory for the path of a temporary folder", folder);
    }
    if (mkdtemp(*path))
        return RAPT_OK;
    rapt_code code = rapt_fail(err, RAPT_ERR_IO, "cannot make the temporary folder %.380s: %s; TMPDIR names another place",
                               *path, strerror(errno));
    free(*path);
    *path = NULL;
    return code;
}

/* ---- what is there ------------------------------------------------------------------------------------------- */

static rapt_code fail_access(rapt_error *err, const char *path)
{
    return rapt_fail(err, errno == ENOMEM ? RAPT_ERR_MEMORY : RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
}

/* Whether stat fails with this errno only where nothing has the name. */
static bool means_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG;
}

rapt_code file_is_there(const char *path, bool *there, rapt_error *err)
{
    struct stat info;
    int reason = lstat(path, &info) == 0 ? 0 : errno;
    *there = !means_absent(reason);
    return reason && *there ? fail_access(err, path) : RAPT_OK;
}

rapt_code file_is_folder(const char *path, bool *folder, rapt_error *err)
{
    struct stat info;
    int reason = stat(path, &info) == 0 ? 0 : errno;
    *folder = reason == 0 && S_ISDIR(info.st_mode);
    return reason && !means_absent(reason) ? fail_access(err, path) : RAPT_OK;
}
