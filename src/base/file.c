/* base/file.c: read, map, replace and append files; make folders.
 * For everything that loads or saves.
 * Not portable beyond POSIX: open, fsync and rename are what makes a replacement atomic. */
#define _GNU_SOURCE
#include "base/file.h"

#include "base/near_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A message holds 512 bytes. For a longer path it shows the end, so that the reason still fits. */
enum { SHOWN_PATH = 380, FIRST_CAPACITY = 1 << 16, TEMPORARY_TRIES = 1000, OPEN_PATH = 64 };

static rapt_code fail_path(rapt_error *err, rapt_code code, const char *action, const char *path, const char *reason)
{
    size_t length = strlen(path);
    const char *cut = length > SHOWN_PATH ? "..." : "";
    const char *shown = length > SHOWN_PATH ? path + length - SHOWN_PATH : path;
    return rapt_fail(err, code, "cannot %s %s%s: %s", action, cut, shown, reason);
}

static rapt_code fail_errno(rapt_error *err, const char *action, const char *path)
{
    rapt_code code = errno == ENOMEM ? RAPT_ERR_MEMORY : errno == ENOENT ? RAPT_ERR_NOT_FOUND : RAPT_ERR_IO;
    char near[NEAR_PATH_TEXT] = "", reason[2 * NEAR_PATH_TEXT];
    const bool is_missing = code == RAPT_ERR_NOT_FOUND && strcmp(action, "read") == 0;
    snprintf(reason, sizeof reason, "%s%s", strerror(errno), is_missing ? near_path(path, near) : "");
    return fail_path(err, code, action, path, reason);
}

static rapt_code fail_too_large(rapt_error *err, const char *path, size_t max_bytes)
{
    char reason[64];
    snprintf(reason, sizeof reason, "larger than %zu bytes", max_bytes);
    return fail_path(err, RAPT_ERR_VALUE, "read", path, reason);
}

static ssize_t read_some(int fd, void *to, size_t capacity)
{
    ssize_t got;
    do
        got = read(fd, to, capacity);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Bytes to ask for at first: the size that a regular file states, and one more to meet its end in the same
 * read. */
static size_t first_capacity(const struct stat *info, size_t max_bytes)
{
    size_t capacity = S_ISREG(info->st_mode) && info->st_size > 0 ? (size_t)info->st_size + 1 : FIRST_CAPACITY;
    return capacity < max_bytes ? capacity : max_bytes + 1;
}

static bool file_grow(char **data, size_t *capacity, size_t max_bytes)
{
    size_t wider = *capacity > max_bytes / 2 ? max_bytes + 1 : *capacity * 2;
    char *moved = realloc(*data, wider + 1);
    if (!moved)
        return false;
    *data = moved;
    *capacity = wider;
    return true;
}

/* Reads until the end or one byte beyond the limit, which tells "too large" from "just fits". */
static rapt_code file_read_all(int fd, const char *path, size_t capacity, size_t max_bytes, char **data, size_t *size,
                               rapt_error *err)
{
    *data = malloc(capacity + 1);
    if (!*data)
        return fail_path(err, RAPT_ERR_MEMORY, "read", path, "out of memory");
    for (*size = 0;;) {
        ssize_t got = read_some(fd, *data + *size, capacity - *size);
        if (got < 0)
            return fail_errno(err, "read", path);
        if (got == 0)
            break;
        *size += (size_t)got;
        if (*size > max_bytes)
            return fail_too_large(err, path, max_bytes);
        if (*size == capacity && !file_grow(data, &capacity, max_bytes))
            return fail_path(err, RAPT_ERR_MEMORY, "read", path, "out of memory");
    }
    (*data)[*size] = '\0';
    return RAPT_OK;
}

/* A device may be empty, like /dev/null, or never end, like /dev/zero; a terminal ends when its user says so. */
static bool is_endless(int fd, const struct stat *info)
{
    char byte;
    return S_ISCHR(info->st_mode) && !isatty(fd) && read_some(fd, &byte, 1) > 0;
}

static rapt_code read_open(int fd, const char *path, size_t max_bytes, char **data, size_t *size,
                           rapt_error *err)
{
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        return fail_errno(err, "read", path);
    if (S_ISDIR(info.st_mode))
        return fail_path(err, RAPT_ERR_IO, "read", path, strerror(EISDIR));
    if (is_endless(fd, &info))
        return fail_path(err, RAPT_ERR_IO, "read", path, "a device, which may never end");
    if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > max_bytes)
        return fail_too_large(err, path, max_bytes);
    return file_read_all(fd, path, first_capacity(&info, max_bytes), max_bytes, data, size, err);
}

rapt_code file_read_open(int fd, const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err)
{
    *data = NULL;
    *size = 0;
    if (max_bytes > SIZE_MAX / 4) /* so that sums with spare capacity and the NUL cannot wrap */
        max_bytes = SIZE_MAX / 4;
    rapt_code code = read_open(fd, path, max_bytes, data, size, err);
    if (code != RAPT_OK) {
        free(*data);
        *data = NULL;
        *size = 0;
    }
    return code;
}

rapt_code file_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err)
{
    if (strcmp(path, "-") == 0)
        return file_read_open(STDIN_FILENO, "standard input", max_bytes, data, size, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    rapt_code code = file_read_open(fd, path, max_bytes, data, size, err);
    if (fd >= 0)
        close(fd);
    return code;
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

/* Length of the folder part of `path` with its last slash; 0 if there is none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Calls make(fd, name) for names in the folder of `path` until a name is free. Returns make's result, at least 0, and the name,
 * which the caller frees; or -1. unfinished.h removes what killed writers leave under such names. */
static int with_temporary_name(const char *path, int (*make)(int fd, const char *name), int fd, char **name)
{
    int folder = (int)folder_length(path);
    size_t capacity = strlen(path) + 64;
    *name = malloc(capacity);
    for (int i = 0; *name && i < TEMPORARY_TRIES; i++) {
        snprintf(*name, capacity, "%.*s.%s.%ld.%d.tmp", folder, path, path + folder, (long)getpid(), i);
        int done = make(fd, *name);
        if (done >= 0 || errno != EEXIST)
            return done;
    }
    return -1;
}

/* Not mkstemp, because the result would keep its mode 0600 after rename. The lock ends with this process. */
static int create_exclusive(int fd, const char *name)
{
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    (void)(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB));
    return fd;
}

/* A path through which a file without a name can be opened. */
static void open_path(int fd, char path[OPEN_PATH])
{
    snprintf(path, OPEN_PATH, "/proc/self/fd/%d", fd);
}

static int link_name(int fd, const char *name)
{
    char open_file[OPEN_PATH];
    open_path(fd, open_file);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Opens a file without a name: a process that is killed while it writes leaves nothing. -1 if the file system has no such files,
 * or if no path would lead to it later. */
static int open_nameless(const char *path)
{
    char folder[PATH_MAX] = ".";
    size_t length = folder_length(path);
    if (length >= sizeof folder || access("/proc/self/fd", X_OK) != 0)
        return -1;
    if (length > 0) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/* After this the new directory entry survives a power cut. Some file systems cannot sync folders: they say
 * EINVAL. */
static bool sync_folder(const char *path)
{
    size_t length = folder_length(path);
    char *folder = malloc(length + 1);
    if (!folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return false;
    bool done = fsync(fd) == 0 || errno == EINVAL;
    int saved = errno;
    close(fd);
    errno = saved;
    return done;
}

/* The file that `path` leads to, through symbolic links, so that replacing it keeps the links. NULL with errno set. */
static char *target_of(const char *path)
{
    struct stat info;
    char *target = malloc(strlen(path) < PATH_MAX ? PATH_MAX : strlen(path) + 1);
    if (!target || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
        return target ? strcpy(target, path) : NULL;
    if (realpath(path, target))
        return target;
    free(target);
    return NULL;
}

/* Only a regular file can be replaced: a device or pipe would be gone. */
static rapt_code file_check_replaceable(const char *path, rapt_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        return RAPT_OK;
    return fail_path(err, RAPT_ERR_IO, "write", path, S_ISDIR(info.st_mode) ? strerror(EISDIR) : "not a regular file");
}

rapt_code file_writer_open(file_writer *w, const char *path, rapt_error *err)
{
    *w = (file_writer){.path = path, .fd = -1};
    rapt_code code = file_check_replaceable(path, err);
    if (code)
        return code;
    w->target = target_of(path);
    w->fd = w->target ? open_nameless(w->target) : -1;
    if (w->target && w->fd < 0)
        w->fd = with_temporary_name(w->target, create_exclusive, -1, &w->temporary);
    if (w->fd >= 0)
        return RAPT_OK;
    code = fail_errno(err, "write", path);
    free(w->target);
    free(w->temporary);
    return code;
}

rapt_code file_writer_put(file_writer *w, const void *data, size_t size, rapt_error *err)
{
    return write_all(w->fd, data, size) ? RAPT_OK : fail_errno(err, "write", w->path);
}

rapt_code file_writer_rewind(file_writer *w, rapt_error *err)
{
    return lseek(w->fd, 0, SEEK_SET) == 0 ? RAPT_OK : fail_errno(err, "write", w->path);
}

char *file_writer_draft(const file_writer *w)
{
    char open_file[OPEN_PATH];
    open_path(w->fd, open_file);
    return file_join("", w->temporary ? w->temporary : open_file);
}

/* rename() that never replaces a file: the system call (glibc has it since 2.28), or where it is missing, a hard link. */
static bool rename_new(const char *from, const char *to)
{
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
#endif
    return link(from, to) == 0 && unlink(from) == 0;
}

/* Gives the file a name in the target's folder if it has none yet, and renames it to the target. */
static bool file_appear(file_writer *w)
{
    if (w->is_new)
        return w->temporary ? rename_new(w->temporary, w->target) : link_name(w->fd, w->target) == 0;
    if (!w->temporary && with_temporary_name(w->target, link_name, w->fd, &w->temporary) < 0) {
        free(w->temporary);
        w->temporary = NULL;
        return false;
    }
    return rename(w->temporary, w->target) == 0;
}

rapt_code file_writer_finish(file_writer *w, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (fsync(w->fd) != 0 || !file_appear(w)) {
        code = fail_errno(err, "write", w->path);
        file_writer_discard(w);
        return code;
    }
    if (close(w->fd) != 0)
        code = fail_errno(err, "write", w->path);
    else if (!sync_folder(w->target))
        code = fail_errno(err, "sync the folder of", w->path);
    free(w->temporary);
    free(w->target);
    return code;
}

rapt_code file_writer_finish_new(file_writer *w, rapt_error *err)
{
    w->is_new = true;
    return file_writer_finish(w, err);
}

void file_writer_discard(file_writer *w)
{
    close(w->fd);
    if (w->temporary)
        unlink(w->temporary);
    free(w->temporary);
    free(w->target);
}

rapt_code file_write_atomic(const char *path, const void *data, size_t size, rapt_error *err)
{
    file_writer w;
    rapt_code code = file_writer_open(&w, path, err);
    if (code != RAPT_OK)
        return code;
    code = file_writer_put(&w, data, size, err);
    if (code == RAPT_OK)
        return file_writer_finish(&w, err);
    file_writer_discard(&w);
    return code;
}

static rapt_code map_open_file(file_map *m, int fd, const char *path, rapt_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_errno(err, "read", path);
    if (S_ISDIR(info.st_mode))
        return fail_path(err, RAPT_ERR_IO, "read", path, strerror(EISDIR));
    if (!S_ISREG(info.st_mode))
        return fail_path(err, RAPT_ERR_IO, "read", path, "not a regular file, so it cannot be mapped");
    if (info.st_size == 0) /* mmap refuses */
        return RAPT_OK;
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return fail_errno(err, "read", path);
    *m = (file_map){data, (size_t)info.st_size};
    return RAPT_OK;
}

rapt_code file_map_open(file_map *m, const char *path, rapt_error *err)
{
    *m = (file_map){NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without O_NONBLOCK, a pipe without a writer would hang */
    if (fd < 0)
        return fail_errno(err, "read", path);
    rapt_code code = map_open_file(m, fd, path, err);
    close(fd);
    return code;
}

rapt_code file_map_draft(file_map *m, const file_writer *w, rapt_error *err)
{
    *m = (file_map){NULL, 0};
    return map_open_file(m, w->fd, w->path, err);
}

/* The page that contains `end` is kept, because its rest may still be needed. When one byte is read, Linux 6.18 maps the whole
 * folio around it: pages before `begin` in that folio are mapped again, even if they were given back. */
void file_map_forget(const file_map *m, size_t begin, size_t end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    begin = begin / FILE_FOLIO * FILE_FOLIO;
    end = end < m->size ? end / page * page : m->size;
    if (begin < end)
        madvise((char *)m->data + begin, end - begin, MADV_DONTNEED);
}

void file_map_close(file_map *m)
{
    if (m->size > 0)
        munmap((void *)m->data, m->size);
    *m = (file_map){NULL, 0};
}

rapt_code file_append(const char *path, const void *data, size_t size, rapt_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_errno(err, "append to", path);
    ssize_t put;
    do
        put = write(fd, data, size);
    while (put < 0 && errno == EINTR);
    rapt_code code = RAPT_OK;
    if (put < 0)
        code = fail_errno(err, "append to", path);
    else if ((size_t)put < size)
        code = fail_path(err, RAPT_ERR_IO, "append to", path, "only a part could be written (disk full?)");
    if (close(fd) != 0 && code == RAPT_OK)
        code = fail_errno(err, "append to", path);
    return code;
}

/* mkdir for one component of a path; errno is ENOTDIR if the name belongs to something other than a folder. */
static bool make_step(const char *path, size_t *made)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) {
        *made = *made ? *made : strlen(path);
        return true;
    }
    int reason = errno;
    if (stat(path, &info) == 0) { /* if the folder exists, mkdir may fail with EEXIST, but also with EROFS or EACCES */
        errno = ENOTDIR;
        return S_ISDIR(info.st_mode);
    }
    errno = reason;
    return false;
}

static bool make_all_steps(char *path, size_t *made)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        if (!make_step(path, made)) {
            *slash = '/';
            return false;
        }
    }
    return make_step(path, made);
}

void file_remove_new(char *path, size_t made)
{
    while (made > 0 && strlen(path) >= made) {
        rmdir(path);
        char *slash = strrchr(path, '/');
        *(slash ? slash : path) = '\0';
    }
}

rapt_code file_make_dir_new(const char *path, size_t *made, rapt_error *err)
{
    char *steps = file_join("", path);
    *made = 0;
    if (!steps)
        return fail_path(err, RAPT_ERR_MEMORY, "make folder", path, "out of memory");
    rapt_code code = RAPT_OK;
    if (*path == '\0') {
        errno = ENOENT;
        code = fail_errno(err, "make folder", "''");
    } else if (!make_all_steps(steps, made)) {
        code = fail_errno(err, "make folder", path);
        file_remove_new(steps, *made);
    }
    free(steps);
    return code;
}

rapt_code file_make_dir(const char *path, rapt_error *err)
{
    size_t made;
    return file_make_dir_new(path, &made, err);
}
