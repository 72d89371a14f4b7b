/* base/file_path.c: the paths of files in folders, and of temporary files. For everything that reads or writes a folder of
 * several files. Paths are not normalized: "..", links and double slashes stay. */
#include "base/file.h"

#include "base/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *file_join(const char *dir, const char *name)
{
    size_t length = strlen(dir), more = strlen(name);
    bool slash = length > 0 && !disk_is_slash(dir[length - 1]);
    char *path = malloc(length + slash + more + 1);
    if (!path)
        return NULL;
    memcpy(path, dir, length);
    if (slash)
        path[length] = '/';
    memcpy(path + length + slash, name, more + 1);
    return path;
}

char *file_folder(const char *path)
{
    const char *slash = disk_last_slash(path);
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 3);
    if (folder)
        memcpy(folder, path, length);
    if (folder)
        strcpy(folder + length, length ? "" : "./");
    return folder;
}

rapt_code file_path(const char *dir, const char *name, char **path, rapt_error *err)
{
    *path = file_join(dir, name);
    return *path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory for the path of %.60s", dir, name);
}

/* Calls make on a path in the folder for temporary files; the caller frees the path. *made is make's result, at least 0. */
static rapt_code make_temporary(const char *what, const char *name, int (*make)(char *path), int *made, char **path,
                                rapt_error *err)
{
    char file[64];
    snprintf(file, sizeof file, "rapt-%s-XXXXXX", name);
    rapt_code code = file_path(disk_temporary_folder(), file, path, err);
    if (code)
        return code;
    *made = make(*path);
    if (*made >= 0)
        return RAPT_OK;
    code = rapt_fail(err, RAPT_ERR_IO, "cannot make the temporary %s %.380s: %s; TMPDIR names another place", what, *path,
                               strerror(errno));
    free(*path);
    *path = NULL;
    return code;
}

static int make_unique_folder(char *path)
{
    return disk_make_temporary_folder(path) ? 0 : -1;
}

rapt_code file_make_temporary(const char *name, char **path, rapt_error *err)
{
    int made;
    return make_temporary("folder", name, make_unique_folder, &made, path, err);
}

rapt_code file_writer_open_temporary(file_writer *w, const char *name, char **path, rapt_error *err)
{
    *w = (file_writer){.fd = -1};
    rapt_code code = make_temporary("file", name, disk_open_temporary, &w->fd, path, err);
    w->path = *path;
    return code;
}

/* ---- what is there ------------------------------------------------------------------------------------------- */

static rapt_code fail_access(rapt_error *err, const char *path)
{
    return rapt_fail(err, errno == ENOMEM ? RAPT_ERR_MEMORY : RAPT_ERR_IO, "cannot access %.380s: %s", path, strerror(errno));
}

/* Whether this errno of stat means that nothing has the name. */
static bool means_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG;
}

rapt_code file_is_there(const char *path, bool *there, rapt_error *err)
{
    disk_entry info;
    int reason = disk_look_link(path, &info) ? 0 : errno;
    *there = !means_absent(reason);
    return reason && *there ? fail_access(err, path) : RAPT_OK;
}

rapt_code file_is_in(const char *dir, const char *name, bool *there, rapt_error *err)
{
    char *path;
    *there = true;
    rapt_code code = file_path(dir, name, &path, err);
    code = code ? code : file_is_there(path, there, err);
    free(path);
    return code;
}

rapt_code file_is_folder(const char *path, bool *folder, rapt_error *err)
{
    disk_entry info;
    int reason = disk_look(path, &info) ? 0 : errno;
    *folder = reason == 0 && info.kind == DISK_FOLDER;
    return reason && !means_absent(reason) ? fail_access(err, path) : RAPT_OK;
}
