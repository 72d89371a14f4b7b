/* train/folder/leftovers.c: removes files that a killed run had no time to name or to remove. If the file system has files
 * without names, there are hardly any (base/file.c). */
#define _GNU_SOURCE
#include "train/folder/leftovers.h"

#include "base/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* This process's own may still be written. */
static bool is_temporary(const char *name)
{
    long process;
    size_t size;
    return unfinished_is_file(name, &process, &size) && process != (long)getpid();
}

/* The other names come from language models of version 0.1; outside of a run's folder they may be the user's. */
static bool is_leftover(const char *name, bool of_run)
{
    return is_temporary(name) || (of_run && (strcmp(name, "text.tokens.before") == 0 || strcmp(name, "text.txt.before") == 0));
}

/* Closes `fd`, which may be -1. */
static void remove_in(int fd, bool of_run)
{
    struct stat info;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is_leftover(e->d_name, of_run) && fstatat(fd, e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            unlinkat(fd, e->d_name, 0);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

void leftovers_remove(const char *folder, bool of_run)
{
    const int mode = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = open(folder, mode);
    if (fd < 0)
        return;
    remove_in(openat(fd, "checkpoints", mode | O_NOFOLLOW), of_run);
    remove_in(openat(fd, "best", mode | O_NOFOLLOW), of_run);
    remove_in(openat(fd, "untrained", mode | O_NOFOLLOW), of_run);
    remove_in(fd, of_run);
}
