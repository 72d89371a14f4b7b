/* base/unfinished.c: removes what killed writers have left. A file is empty until its writer has locked it, so empty files are
 * left alone: otherwise a lock that is free might be one that a writer is about to take. */
#define _GNU_SOURCE /* nftw */
#include "base/unfinished.h"

#include "base/lock.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 8 };

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
static int open_left(int folder, const char *name)
{
    struct stat info, named;
    const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_ino == info.st_ino && named.st_dev == info.st_dev)
        return fd;
    close(fd);
    return -1;
}

static void remove_left_file(int folder, const char *name)
{
    const int fd = open_left(folder, name);
    if (fd < 0)
        return;
    unlinkat(folder, name, 0);
    close(fd);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

static void remove_left_folder(int folder, const char *parent, const char *name)
{
    struct stat info;
    const int inside = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool own = inside >= 0 && fstat(inside, &info) == 0 && info.st_uid == geteuid();
    const int held = own ? open_left(inside, FOLDER_LOCK_FILE) : -1;
    char path[PATH_MAX];
    const int length = held >= 0 ? snprintf(path, sizeof path, "%s/%s", parent, name) : PATH_MAX;
    if (length < PATH_MAX)
        nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    if (held >= 0)
        close(held);
    if (inside >= 0)
        close(inside);
}

void unfinished_remove(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    char parent[PATH_MAX]; /* not allocated: nobody could be told of a failure */
    const int length = slash ? snprintf(parent, sizeof parent, "%.*s", (int)(slash + 1 - path), path)
                             : snprintf(parent, sizeof parent, ".");
    DIR *dir = length < PATH_MAX ? opendir(parent) : NULL;
    long process;
    size_t size;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (unfinished_is_file(e->d_name, &process, &size) && size == strlen(last) && memcmp(e->d_name + 1, last, size) == 0)
            remove_left_file(dirfd(dir), e->d_name);
        else if (unfinished_is_folder(e->d_name, &process, &size))
            remove_left_folder(dirfd(dir), parent, e->d_name);
    if (dir)
        closedir(dir);
}
