/* tests/faults/fault_shim.c: a library to be preloaded that makes one call of the system fail, for check_faults.sh. FAULT_KIND
 * names the calls (opendir, readdir, open, stat, read, mmap, rename, fsync, link, unlink, mkdir, flock), FAULT_N is the number of
 * the one that fails, from 1, with EIO. Calls count if their path is below the folder FAULT_UNDER, including relative paths, and
 * if the C library does not make them itself. The file FAULT_HIT is made when the call has failed. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* with it, clang has several functions of the name openat, from glibc 2.41 on */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static atomic_long calls;

static bool fd_is_below(int fd)
{
    char link[64], path[4096];
    const char *under = getenv("FAULT_UNDER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    return under && size >= (long)strlen(under) && strncmp(path, under, strlen(under)) == 0;
}

static bool path_is_below(int fd, const char *path)
{
    const char *under = getenv("FAULT_UNDER"), own[] = "/proc/self/fd/";
    if (strncmp(path, own, sizeof own - 1) == 0)
        return fd_is_below(atoi(path + sizeof own - 1));
    if (path[0] == '/')
        return under && strncmp(path, under, strlen(under)) == 0;
    return fd == AT_FDCWD || fd_is_below(fd);
}

/* Counts a call of this kind; whether it is the one. */
static bool fails(const char *kind)
{
    const char *wanted = getenv("FAULT_KIND"), *number = getenv("FAULT_N"), *hit = getenv("FAULT_HIT");
    if (!wanted || !number || strcmp(wanted, kind) != 0 || atomic_fetch_add(&calls, 1) + 1 != atol(number))
        return false;
    if (hit)
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, hit, O_WRONLY | O_CREAT, 0666));
    errno = EIO;
    return true;
}

static bool path_fails(const char *kind, int fd, const char *path)
{
    return path_is_below(fd, path) && fails(kind);
}

static bool fd_fails(const char *kind, int fd)
{
    return fd_is_below(fd) && fails(kind);
}

/* ---- folders ------------------------------------------------------------------------------------------------- */

DIR *opendir(const char *path)
{
    return path_fails("opendir", AT_FDCWD, path) ? NULL : REAL(opendir)(path);
}

DIR *fdopendir(int fd)
{
    return fd_fails("opendir", fd) ? NULL : REAL(fdopendir)(fd);
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    return path_fails("opendir", AT_FDCWD, path) ? -1 : REAL(scandir)(path, list, filter, compare);
}

struct dirent *readdir(DIR *dir)
{
    return fd_fails("readdir", dirfd(dir)) ? NULL : REAL(readdir)(dir);
}

int mkdir(const char *path, mode_t mode)
{
    return path_fails("mkdir", AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}

/* ---- names --------------------------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return path_fails("open", AT_FDCWD, path) ? -1 : REAL(open)(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return path_fails("open", fd, path) ? -1 : REAL(openat)(fd, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return path_fails("open", AT_FDCWD, path) ? NULL : REAL(fopen)(path, mode);
}

int stat(const char *path, struct stat *info)
{
    return path_fails("stat", AT_FDCWD, path) ? -1 : REAL(stat)(path, info);
}

int lstat(const char *path, struct stat *info)
{
    return path_fails("stat", AT_FDCWD, path) ? -1 : REAL(lstat)(path, info);
}

int fstat(int fd, struct stat *info)
{
    return fd_fails("stat", fd) ? -1 : REAL(fstat)(fd, info);
}

int fstatat(int fd, const char *path, struct stat *info, int flags)
{
    return path_fails("stat", fd, path) ? -1 : REAL(fstatat)(fd, path, info, flags);
}

int access(const char *path, int mode)
{
    return path_fails("stat", AT_FDCWD, path) ? -1 : REAL(access)(path, mode);
}

char *realpath(const char *path, char *to)
{
    return path_fails("stat", AT_FDCWD, path) ? NULL : REAL(realpath)(path, to);
}

int rename(const char *from, const char *to)
{
    return path_fails("rename", AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}

int link(const char *from, const char *to)
{
    return path_fails("link", AT_FDCWD, to) ? -1 : REAL(link)(from, to);
}

int linkat(int from_fd, const char *from, int fd, const char *to, int flags)
{
    return path_fails("link", fd, to) ? -1 : REAL(linkat)(from_fd, from, fd, to, flags);
}

int unlink(const char *path)
{
    return path_fails("unlink", AT_FDCWD, path) ? -1 : REAL(unlink)(path);
}

/* ---- open files ------------------------------------------------------------------------------------------------ */

ssize_t read(int fd, void *to, size_t size)
{
    return fd_fails("read", fd) ? -1 : REAL(read)(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    return fd_fails("read", fd) ? -1 : REAL(pread)(fd, to, size, at);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t from)
{
    return fd >= 0 && fd_fails("mmap", fd) ? MAP_FAILED : REAL(mmap)(at, size, protection, flags, fd, from);
}

int fsync(int fd)
{
    return fd_fails("fsync", fd) ? -1 : REAL(fsync)(fd);
}

int flock(int fd, int operation)
{
    __typeof__(&flock) call = real("flock");
    return fd_fails("flock", fd) ? -1 : call(fd, operation);
}
