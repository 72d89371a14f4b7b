/* base/windows/windows_folder.c: folders that are read. Windows opens no names relative to a folder for programs, so each is
 * joined to the folder's path. */
#include "base/disk.h"

#include "base/file.h"
#include "base/windows/windows_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct disk_folder {
    char *path;
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool waits; /* `found` has not been handed out */
    char *name; /* the last one that was */
};

static HANDLE begin_search(const char *path, WIN32_FIND_DATAW *found)
{
    char *all = file_join(path, "*");
    wchar_t *wide = all ? windows_path(all) : NULL;
    HANDLE search = wide ? FindFirstFileExW(wide, FindExInfoBasic, found, FindExSearchNameMatch, NULL, 0) : INVALID_HANDLE_VALUE;
    if (wide && search == INVALID_HANDLE_VALUE)
        windows_fail(GetLastError());
    const int reason = errno;
    free(wide);
    free(all);
    errno = reason;
    return search;
}

disk_folder *disk_folder_open(const char *path)
{
    if (!*path) { /* the pattern of its names would be the current folder's */
        errno = ENOENT;
        return NULL;
    }
    disk_folder *f = calloc(1, sizeof *f);
    if (!f || !(f->path = file_join("", path))) {
        free(f);
        return NULL;
    }
    f->search = begin_search(path, &f->found);
    if (f->search != INVALID_HANDLE_VALUE) {
        f->waits = true;
        return f;
    }
    const int reason = errno;
    free(f->path);
    free(f);
    errno = reason;
    return NULL;
}

disk_folder *disk_folder_open_in(const disk_folder *in, const char *name)
{
    disk_entry info;
    char *path = disk_look_in(in, name, &info) && info.kind == DISK_FOLDER ? file_join(in->path, name) : NULL;
    disk_folder *f = path ? disk_folder_open(path) : NULL;
    free(path);
    return f;
}

const char *disk_folder_next(disk_folder *f)
{
    do {
        if (!f->waits && !FindNextFileW(f->search, &f->found)) {
            const DWORD error = GetLastError();
            windows_fail(error);
            errno = error == ERROR_NO_MORE_FILES ? 0 : errno;
            return NULL;
        }
        f->waits = false;
    } while (wcscmp(f->found.cFileName, L".") == 0 || wcscmp(f->found.cFileName, L"..") == 0);
    free(f->name);
    f->name = windows_utf8(f->found.cFileName);
    errno = f->name ? 0 : ENOMEM;
    return f->name;
}

void disk_folder_close(disk_folder *f)
{
    if (!f)
        return;
    FindClose(f->search);
    free(f->name);
    free(f->path);
    free(f);
}

bool disk_folder_look(const disk_folder *f, disk_entry *e)
{
    return disk_look_link(f->path, e);
}

bool disk_look_in(const disk_folder *f, const char *name, disk_entry *e)
{
    char *path = file_join(f->path, name);
    const bool seen = path && disk_look_link(path, e);
    const int reason = errno;
    free(path);
    errno = reason;
    return seen;
}

int disk_open_in(const disk_folder *f, const char *name, disk_way way)
{
    char *path = file_join(f->path, name);
    const int file = path ? disk_open(path, way) : -1;
    const int reason = errno;
    free(path);
    errno = reason;
    return file;
}

bool disk_remove_in(const disk_folder *f, const char *name)
{
    char *path = file_join(f->path, name);
    const bool done = path && disk_remove(path);
    const int reason = errno;
    free(path);
    errno = reason;
    return done;
}

void disk_remove_all(const char *path)
{
    disk_entry info;
    const bool is_folder = disk_look_link(path, &info) && info.kind == DISK_FOLDER; /* what a link leads to stays */
    disk_folder *f = is_folder ? disk_folder_open(path) : NULL;
    for (const char *name; f && (name = disk_folder_next(f));)
        if (disk_look_in(f, name, &info) && info.kind != DISK_FILE) {
            char *below = file_join(path, name);
            if (below)
                disk_remove_all(below);
            free(below);
        } else
            disk_remove_in(f, name);
    disk_folder_close(f);
    if (!disk_remove_folder(path))
        disk_remove(path); /* a link to a file */
}
