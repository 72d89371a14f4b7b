/* base/posix/posix_disk.c: open files and names, by the calls of POSIX and, where Linux has better ones, by those. */
#define _GNU_SOURCE
#include "base/posix/posix_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#define OWN_FILES "/proc/self/" /* as other processes of this machine don't call them */

enum { OPEN_PATH = 64 };

/* ---- open files ------------------------------------------------------------------------------------------------- */

int posix_flags(disk_way way)
{
    static const int flags[] = {
        [DISK_READ] = O_RDONLY,
        [DISK_READ_NOW] = O_RDONLY | O_NONBLOCK,
        [DISK_NEW] = O_WRONLY | O_CREAT | O_EXCL,
        [DISK_APPEND] = O_WRONLY | O_APPEND | O_CREAT,
        [DISK_LOCK] = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
        [DISK_LEFT] = O_RDWR | O_NOFOLLOW | O_NONBLOCK,
    };
    return flags[way] | O_CLOEXEC;
}

int disk_open(const char *path, disk_way way)
{
    return open(path, posix_flags(way), 0666);
}

void disk_close(int file)
{
    close(file);
}

bool disk_close_written(int file)
{
    return close(file) == 0;
}

ptrdiff_t disk_read(int file, void *to, size_t size)
{
    ssize_t got;
    do
        got = read(file, to, size);
    while (got < 0 && errno == EINTR);
    return got;
}

ptrdiff_t disk_read_first(int file, void *to, size_t size)
{
    return pread(file, to, size, 0);
}

ptrdiff_t disk_write(int file, const void *from, size_t size)
{
    ssize_t put;
    do
        put = write(file, from, size);
    while (put < 0 && errno == EINTR);
    return put;
}

int64_t disk_position(int file)
{
    return lseek(file, 0, SEEK_CUR);
}

bool disk_seek(int file, int64_t to)
{
    return lseek(file, to, SEEK_SET) == to;
}

bool disk_cut(int file, int64_t size)
{
    return ftruncate(file, size) == 0;
}

/* fsync of macOS leaves what the disk itself keeps in its memory; not every file system can do more. */
bool disk_sync(int file)
{
#ifdef F_FULLFSYNC
    if (fcntl(file, F_FULLFSYNC) == 0)
        return true;
#endif
    return fsync(file) == 0;
}

/* Some file systems cannot sync folders: they say EINVAL. */
bool disk_sync_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool done = fsync(file) == 0 || errno == EINVAL;
    int saved = errno;
    close(file);
    errno = saved;
    return done;
}

bool disk_lock(int file)
{
    int busy;
    do
        busy = flock(file, LOCK_EX | LOCK_NB);
    while (busy && errno == EINTR);
    return !busy;
}

bool disk_has_arrived(int file)
{
    struct pollfd p = {.fd = file, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static disk_kind posix_kind_of(mode_t mode)
{
    return S_ISREG(mode)   ? DISK_FILE
           : S_ISDIR(mode) ? DISK_FOLDER
           : S_ISLNK(mode) ? DISK_LINK
           : S_ISCHR(mode) ? DISK_DEVICE
                           : DISK_OTHER;
}

disk_entry posix_entry(const struct stat *info)
{
    return (disk_entry){.kind = posix_kind_of(info->st_mode), .own = info->st_uid == geteuid(), .named = info->st_nlink > 0,
                        .size = info->st_size > 0 ? (uint64_t)info->st_size : 0, .device = (uint64_t)info->st_dev,
                        .number = (uint64_t)info->st_ino};
}

static bool posix_take_entry(int failed, const struct stat *info, disk_entry *e)
{
    if (!failed)
        *e = posix_entry(info);
    return !failed;
}

bool disk_look(const char *path, disk_entry *e)
{
    struct stat info;
    return posix_take_entry(stat(path, &info), &info, e);
}

bool disk_look_link(const char *path, disk_entry *e)
{
    struct stat info;
    return posix_take_entry(lstat(path, &info), &info, e);
}

bool disk_look_open(int file, disk_entry *e)
{
    struct stat info;
    return posix_take_entry(fstat(file, &info), &info, e);
}

bool disk_may_read(const char *path)
{
    return access(path, R_OK) == 0;
}

bool disk_may_write(const char *path)
{
    return access(path, W_OK) == 0;
}

bool disk_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

/* The system call (glibc has it since 2.28), or where it is missing, a hard link. */
bool disk_rename_new(const char *from, const char *to)
{
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
#endif
    return link(from, to) == 0 && unlink(from) == 0;
}

bool disk_make_folder(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool disk_remove(const char *path)
{
    return unlink(path) == 0;
}

bool disk_remove_folder(const char *path)
{
    return rmdir(path) == 0;
}

char *disk_real_path(const char *path)
{
    return realpath(path, NULL);
}

char *disk_last_slash(const char *path)
{
    return strrchr(path, '/');
}

bool disk_is_slash(char c)
{
    return c == '/';
}

size_t disk_root(const char *path)
{
    return *path == '/';
}

bool disk_is_absolute(const char *path)
{
    return *path == '/';
}

size_t disk_list_part(const char *list, const char *between)
{
    return strcspn(list, between);
}

/* ---- files without a name --------------------------------------------------------------------------------------- */

int disk_open_nameless(const char *folder)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) /* through which it gets a name later */
        return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
#endif
    (void)folder;
    errno = EOPNOTSUPP;
    return -1;
}

static void posix_open_path(int file, char path[OPEN_PATH])
{
    snprintf(path, OPEN_PATH, OWN_FILES "fd/%d", file);
}

char *disk_open_path(int file)
{
    char *path = malloc(OPEN_PATH);
    if (path)
        posix_open_path(file, path);
    return path;
}

bool disk_give_name(int file, const char *name)
{
    char path[OPEN_PATH];
    posix_open_path(file, path);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

char *disk_path_for_others(const char *path)
{
    const size_t own = strlen(OWN_FILES), capacity = strlen(path) + 32;
    char *copy = malloc(capacity);
    if (copy && strncmp(path, OWN_FILES, own) == 0)
        snprintf(copy, capacity, "/proc/%ld/%s", (long)getpid(), path + own);
    else if (copy)
        memcpy(copy, path, strlen(path) + 1);
    return copy;
}

int disk_open_temporary(char *path)
{
    const int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

bool disk_make_temporary_folder(char *path)
{
    return mkdtemp(path) != NULL;
}

const char *disk_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}
