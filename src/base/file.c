/* base/file.c: read, map, replace and append files; make folders.
 * For everything that loads or saves.
 * What the system has to do for that is in disk.h. */
#include "base/file.h"

#include "base/disk.h"
#include "base/near_path.h"
#include "base/pages.h"
#include "base/process.h"
#include "base/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message holds 512 bytes. For a longer path it shows the end, so that the reason still fits. */
enum { SHOWN_PATH = 380, FIRST_CAPACITY = 1 << 16, TEMPORARY_TRIES = 1000 };

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

/* Bytes to ask for at first: the size that a regular file states, and one more to meet its end in the same
 * read. */
static size_t first_capacity(const disk_entry *info, size_t max_bytes)
{
    size_t capacity = info->kind == DISK_FILE && info->size > 0 ? (size_t)info->size + 1 : FIRST_CAPACITY;
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
        ptrdiff_t got = disk_read(fd, *data + *size, capacity - *size);
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
static bool is_endless(int fd, const disk_entry *info)
{
    char byte;
    return info->kind == DISK_DEVICE && !terminal_is(fd) && disk_read(fd, &byte, 1) > 0;
}

static rapt_code read_open(int fd, const char *path, size_t max_bytes, char **data, size_t *size,
                           rapt_error *err)
{
    disk_entry info;
    if (fd < 0 || !disk_look_open(fd, &info))
        return fail_errno(err, "read", path);
    if (info.kind == DISK_FOLDER)
        return fail_path(err, RAPT_ERR_IO, "read", path, strerror(EISDIR));
    if (is_endless(fd, &info))
        return fail_path(err, RAPT_ERR_IO, "read", path, "a device, which may never end");
    if (info.kind == DISK_FILE && info.size > max_bytes)
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
        return file_read_open(DISK_IN, "standard input", max_bytes, data, size, err);
    int fd = disk_open(path, DISK_READ);
    rapt_code code = file_read_open(fd, path, max_bytes, data, size, err);
    if (fd >= 0)
        disk_close(fd);
    return code;
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ptrdiff_t put = disk_write(fd, at, size);
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
    const char *slash = disk_last_slash(path);
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
        snprintf(*name, capacity, "%.*s.%s.%ld.%d.tmp", folder, path, path + folder, process_id(), i);
        int done = make(fd, *name);
        if (done >= 0 || errno != EEXIST)
            return done;
    }
    return -1;
}

/* Not mkstemp, because the result would keep its mode 0600 after rename. The lock ends with this process. */
static int create_exclusive(int fd, const char *name)
{
    fd = disk_open(name, DISK_NEW);
    (void)(fd >= 0 && disk_lock(fd));
    return fd;
}

static int give_name(int fd, const char *name)
{
    return disk_give_name(fd, name) ? 0 : -1;
}

/* A file without a name: a process that is killed while it writes leaves nothing. */
static int open_nameless(const char *path)
{
    char *folder = file_folder(path);
    const int fd = folder ? disk_open_nameless(folder) : -1;
    free(folder);
    return fd;
}

/* After this the new directory entry survives a power cut. */
static bool sync_folder(const char *path)
{
    char *folder = file_folder(path);
    const bool done = folder && disk_sync_folder(folder);
    const int reason = errno;
    free(folder);
    errno = reason;
    return done;
}

/* The file that `path` leads to, through symbolic links, so that replacing it keeps the links. NULL with errno set. */
static char *target_of(const char *path)
{
    disk_entry info;
    return disk_look_link(path, &info) && info.kind == DISK_LINK ? disk_real_path(path) : file_join("", path);
}

/* Only a regular file can be replaced: a device or pipe would be gone. */
static rapt_code file_check_replaceable(const char *path, rapt_error *err)
{
    disk_entry info;
    if (!disk_look(path, &info) || info.kind == DISK_FILE)
        return RAPT_OK;
    return fail_path(err, RAPT_ERR_IO, "write", path, info.kind == DISK_FOLDER ? strerror(EISDIR) : "not a regular file");
}

rapt_code file_writer_open(file_writer *w, const char *path, rapt_error *err)
{
    *w = (file_writer){.path = path, .fd = -1};
    rapt_code code = file_check_replaceable(path, err);
    if (code)
        return code;
    w->target = target_of(path);
    w->fd = w->target ? open_nameless(w->target) : -1;
    if (w->target && w->fd < 0 && errno != ENOMEM)
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
    return disk_seek(w->fd, 0) ? RAPT_OK : fail_errno(err, "write", w->path);
}

char *file_writer_draft(const file_writer *w)
{
    return w->temporary ? file_join("", w->temporary) : disk_open_path(w->fd);
}

/* Gives the file a name in the target's folder if it has none yet, and renames it to the target. */
static bool file_appear(file_writer *w)
{
    if (w->is_new)
        return w->temporary ? disk_rename_new(w->temporary, w->target) : disk_give_name(w->fd, w->target);
    if (!w->temporary && with_temporary_name(w->target, give_name, w->fd, &w->temporary) < 0) {
        free(w->temporary);
        w->temporary = NULL;
        return false;
    }
    return disk_rename(w->temporary, w->target);
}

rapt_code file_writer_finish(file_writer *w, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (!disk_sync(w->fd) || !file_appear(w)) {
        code = fail_errno(err, "write", w->path);
        file_writer_discard(w);
        return code;
    }
    if (!disk_close_written(w->fd))
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
    disk_close(w->fd);
    if (w->temporary)
        disk_remove(w->temporary);
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
    disk_entry info;
    if (!disk_look_open(fd, &info))
        return fail_errno(err, "read", path);
    if (info.kind == DISK_FOLDER)
        return fail_path(err, RAPT_ERR_IO, "read", path, strerror(EISDIR));
    if (info.kind != DISK_FILE)
        return fail_path(err, RAPT_ERR_IO, "read", path, "not a regular file, so it cannot be mapped");
    if (info.size == 0) /* the system refuses */
        return RAPT_OK;
    errno = EFBIG;
    void *data = info.size <= SIZE_MAX / 2 ? pages_map_file(fd, (size_t)info.size) : NULL;
    if (!data)
        return fail_errno(err, "read", path);
    *m = (file_map){data, (size_t)info.size};
    return RAPT_OK;
}

rapt_code file_map_open(file_map *m, const char *path, rapt_error *err)
{
    *m = (file_map){NULL, 0};
    int fd = disk_open(path, DISK_READ_NOW);
    if (fd < 0)
        return fail_errno(err, "read", path);
    rapt_code code = map_open_file(m, fd, path, err);
    disk_close(fd);
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
    size_t page = pages_size();
    begin = begin / FILE_FOLIO * FILE_FOLIO;
    end = end < m->size ? end / page * page : m->size;
    if (begin < end)
        pages_forget((char *)m->data + begin, end - begin);
}

void file_map_close(file_map *m)
{
    if (m->size > 0)
        pages_unmap_file((void *)m->data, m->size);
    *m = (file_map){NULL, 0};
}

rapt_code file_append(const char *path, const void *data, size_t size, rapt_error *err)
{
    int fd = disk_open(path, DISK_APPEND);
    if (fd < 0)
        return fail_errno(err, "append to", path);
    ptrdiff_t put = disk_write(fd, data, size);
    rapt_code code = RAPT_OK;
    if (put < 0)
        code = fail_errno(err, "append to", path);
    else if ((size_t)put < size)
        code = fail_path(err, RAPT_ERR_IO, "append to", path, "only a part could be written (disk full?)");
    if (!disk_close_written(fd) && code == RAPT_OK)
        code = fail_errno(err, "append to", path);
    return code;
}

/* mkdir for one component of a path; errno is ENOTDIR if the name belongs to something other than a folder. */
static bool make_step(const char *path, size_t *made)
{
    disk_entry info;
    if (disk_make_folder(path)) {
        *made = *made ? *made : strlen(path);
        return true;
    }
    int reason = errno;
    if (disk_look(path, &info)) { /* if the folder exists, mkdir may fail with EEXIST, but also with EROFS or EACCES */
        errno = ENOTDIR;
        return info.kind == DISK_FOLDER;
    }
    errno = reason;
    return false;
}

static bool make_all_steps(char *path, size_t *made)
{
    for (char *at = path + disk_root(path); *at; at++) {
        const char slash = *at;
        if (!disk_is_slash(slash))
            continue;
        *at = '\0';
        const bool there = make_step(path, made);
        *at = slash;
        if (!there)
            return false;
    }
    return make_step(path, made);
}

void file_remove_new(char *path, size_t made)
{
    while (made > 0 && strlen(path) >= made) {
        disk_remove_folder(path);
        char *slash = disk_last_slash(path);
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
