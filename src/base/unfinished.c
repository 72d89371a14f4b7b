/* base/unfinished.c: removes what killed writers have left. A file is empty until its writer has locked it, so empty files are
 * left alone: otherwise a lock that is free might be one that a writer is about to take. */
#include "base/unfinished.h"

#include "base/disk.h"
#include "base/lock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 4096 };

/* Whether `name` is ".NAME", then `numbers` numbers, each after a dot, and ".tmp". */
static bool unfinished_has_form(const char *name, int numbers, long *process, size_t *size)
{
    size_t length = strlen(name);
    if (name[0] != '.' || length < 4 || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    length -= 4;
    for (int i = 0; i < numbers; i++) {
        const size_t end = length;
        while (length > 0 && isdigit((unsigned char)name[length - 1]))
            length--;
        if (length == end || length < 3 || name[length - 1] != '.')
            return false;
        length--;
    }
    *process = strtol(name + length + 1, NULL, 10);
    *size = length - 1;
    return true;
}

bool unfinished_is_file(const char *name, long *process, size_t *size)
{
    return unfinished_has_form(name, 2, process, size);
}

bool unfinished_is_folder(const char *name, long *process, size_t *size)
{
    return unfinished_has_form(name, 1, process, size);
}

/* Opens a file that this user has left. -1: it is not such a file, or somebody holds its lock. */
static int open_left(const disk_folder *folder, const char *name)
{
    disk_entry info, named;
    const int fd = disk_open_in(folder, name, DISK_LEFT);
    if (fd < 0)
        return -1;
    if (disk_look_open(fd, &info) && info.kind == DISK_FILE && info.size > 0 && info.own && disk_lock(fd) &&
        disk_look_in(folder, name, &named) && disk_is_same(&info, &named))
        return fd;
    disk_close(fd);
    return -1;
}

static void remove_left_file(const disk_folder *folder, const char *name)
{
    const int fd = open_left(folder, name);
    if (fd < 0)
        return;
    disk_remove_in(folder, name);
    disk_close(fd);
}

static void remove_left_folder(const disk_folder *folder, const char *parent, const char *name)
{
    disk_entry info;
    disk_folder *inside = disk_folder_open_in(folder, name);
    const bool own = inside && disk_folder_look(inside, &info) && info.own;
    const int held = own ? open_left(inside, FOLDER_LOCK_FILE) : -1;
    char path[LONGEST_PATH];
    const bool left = held >= 0 && snprintf(path, sizeof path, "%s%s", parent, name) < LONGEST_PATH;
    if (left)
        disk_remove_all(path);
    const bool stays = left && disk_look_link(path, &info); /* later it may be another process's */
    if (held >= 0)
        disk_close(held);
    disk_folder_close(inside);
    if (stays) /* Windows' FAT and SMB keep the name of an open file, here the lock, and so the folder until now */
        disk_remove_folder(path);
}

void unfinished_remove(const char *path)
{
    const char *slash = disk_last_slash(path), *last = slash ? slash + 1 : path, *name;
    char parent[LONGEST_PATH]; /* not allocated: nobody could be told of a failure */
    const int length = snprintf(parent, sizeof parent, "%.*s./", slash ? (int)(slash + 1 - path) : 0, path);
    disk_folder *folder = length < LONGEST_PATH ? disk_folder_open(parent) : NULL;
    long process;
    size_t size;
    while (folder && (name = disk_folder_next(folder)))
        if (unfinished_is_file(name, &process, &size) && size == strlen(last) && memcmp(name + 1, last, size) == 0)
            remove_left_file(folder, name);
        else if (unfinished_is_folder(name, &process, &size))
            remove_left_folder(folder, parent, name);
    disk_folder_close(folder);
}
