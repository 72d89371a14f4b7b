/* base/posix/posix_folder.c: folders that are read, and names in them, relative to the open folder: its path may lead elsewhere
 * meanwhile. */
#define _GNU_SOURCE /* nftw */
#include "base/posix/posix_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 8 };

/* An open folder is the C library's own, behind another name: nothing is allocated here, and so nothing can lack. */
static DIR *names_of(const disk_folder *f)
{
    return (DIR *)f;
}

static disk_folder *posix_folder_of(int file)
{
    DIR *names = file >= 0 ? fdopendir(file) : NULL;
    const int reason = errno;
    if (!names && file >= 0)
        close(file);
    errno = reason;
    return (disk_folder *)names;
}

disk_folder *disk_folder_open(const char *path)
{
    return posix_folder_of(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

disk_folder *disk_folder_open_in(const disk_folder *in, const char *name)
{
    return posix_folder_of(openat(dirfd(names_of(in)), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

const char *disk_folder_next(disk_folder *f)
{
    struct dirent *e;
    do {
        errno = 0;
        e = readdir(names_of(f));
    } while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
    return e ? e->d_name : NULL;
}

void disk_folder_close(disk_folder *f)
{
    if (f)
        closedir(names_of(f));
}

bool disk_folder_look(const disk_folder *f, disk_entry *e)
{
    return disk_look_open(dirfd(names_of(f)), e);
}

bool disk_look_in(const disk_folder *f, const char *name, disk_entry *e)
{
    struct stat info;
    if (fstatat(dirfd(names_of(f)), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    *e = posix_entry(&info);
    return true;
}

int disk_open_in(const disk_folder *f, const char *name, disk_way way)
{
    return openat(dirfd(names_of(f)), name, posix_flags(way), 0666);
}

bool disk_remove_in(const disk_folder *f, const char *name)
{
    return unlinkat(dirfd(names_of(f)), name, 0) == 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void disk_remove_all(const char *path)
{
    nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
