/* base/lock.c: a lock file in a folder, whose lock ends with its process, and which its holder removes. For lock.h. Only the
 * holder of a file's lock removes its name, and a process that gets a lock checks that the name still leads to that file. So two
 * processes cannot hold locks of two files with the same name. */
#include "base/lock.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 100, HOST = 64, HOLDER = 128 };

static rapt_code lock_fail(rapt_error *err, const char *folder, const char *reason)
{
    return rapt_fail(err, RAPT_ERR_IO, "cannot lock the folder %.300s: %s", folder, reason);
}

/* Names the holder as the file does; only a process id and a host name are accepted. */
static rapt_code lock_fail_busy(rapt_error *err, const char *folder, int fd)
{
    char text[HOLDER + 1] = "", host[HOST + 1];
    long process;
    const ptrdiff_t size = disk_read_first(fd, text, HOLDER);
    text[size > 0 ? size : 0] = '\0';
    if (sscanf(text, "%ld %64[A-Za-z0-9._-]", &process, host) != 2)
        return rapt_fail(err, RAPT_ERR_IO, "%.300s: another process writes into this folder", folder);
    return rapt_fail(err, RAPT_ERR_IO, "%.300s: process %ld on %s writes into this folder", folder, process, host);
}

static rapt_code lock_fail_errno(rapt_error *err, const char *folder, int fd, int reason)
{
    if (reason == EWOULDBLOCK)
        return lock_fail_busy(err, folder, fd);
    if (reason == ENOLCK || reason == EOPNOTSUPP || reason == ENOSYS)
        return lock_fail(err, folder, "its file system offers no locks; choose one that does");
    return lock_fail(err, folder, strerror(reason));
}

/* Whether the name leads to the open file. Returns 0, or errno if that cannot be told. */
static int lock_has_name(int fd, const char *path, bool *same)
{
    disk_entry open_file, named;
    *same = false;
    if (!disk_look_open(fd, &open_file))
        return errno;
    if (!disk_look_link(path, &named))
        return errno == ENOENT ? 0 : errno;
    *same = open_file.named && disk_is_same(&open_file, &named);
    return 0;
}

/* For the error messages of other processes. If the disk is full, the lock still holds. */
static void write_holder(int fd)
{
    char text[HOLDER], host[HOST + 1];
    process_host(host, sizeof host);
    int size = snprintf(text, sizeof text, "%ld %s\n", process_id(), host);
    if (disk_cut(fd, 0) && disk_write(fd, text, (size_t)size) < 0)
        disk_cut(fd, 0);
}

/* *again: the file that was opened has lost its name, or the folder is gone: the last holder has just removed them. */
static rapt_code lock_try_once(folder_lock *l, bool *again, rapt_error *err)
{
    bool same;
    *again = false;
    l->fd = disk_open(l->path, DISK_LOCK);
    if (l->fd < 0) {
        *again = errno == ENOENT;
        return *again ? RAPT_OK : lock_fail(err, l->folder, strerror(errno));
    }
    if (!disk_lock(l->fd))
        return lock_fail_errno(err, l->folder, l->fd, errno);
    int reason = lock_has_name(l->fd, l->path, &same);
    if (reason)
        return lock_fail(err, l->folder, strerror(reason));
    *again = !same;
    return RAPT_OK;
}

static rapt_code make_folder(folder_lock *l, rapt_error *err)
{
    size_t made;
    rapt_code code = file_make_dir_new(l->folder, &made, err);
    if (!code && made && (!l->made || made < l->made))
        l->made = made;
    return code;
}

static void lock_clear(folder_lock *l)
{
    if (l->fd >= 0)
        disk_close(l->fd);
    if (l->folder)
        file_remove_new(l->folder, l->made);
    free(l->folder);
    free(l->path);
    *l = (folder_lock){0};
}

rapt_code folder_lock_take(folder_lock *l, const char *folder, rapt_error *err)
{
    bool again = true;
    *l = (folder_lock){.folder = file_join("", folder), .fd = -1};
    rapt_code code = l->folder ? file_path(folder, FOLDER_LOCK_FILE, &l->path, err)
                               : rapt_fail(err, RAPT_ERR_MEMORY, "%.300s: out of memory for its lock", folder);
    for (int i = 0; i < TRIES && again && !code; i++) {
        if (l->fd >= 0)
            disk_close(l->fd);
        l->fd = -1;
        code = make_folder(l, err);
        if (!code)
            code = lock_try_once(l, &again, err);
    }
    if (!code && again)
        code = lock_fail(err, folder, "other processes take it in turns");
    if (code)
        lock_clear(l);
    else
        write_holder(l->fd);
    return code;
}

void folder_lock_release(folder_lock *l)
{
    bool same;
    if (!l->path)
        return;
    if (lock_has_name(l->fd, l->path, &same) == 0 && same)
        disk_remove(l->path);
    lock_clear(l);
}
