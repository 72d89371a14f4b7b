/* base/lock.h: lets one process at a time write into a folder. For code that makes a model folder: files are replaced one by one,
 * and two writers would leave a mixture. Not a lock for readers, nor for single files, which appear whole anyway. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "rapt/base.h"

/* The name of the lock file. It exists while the lock is held, and after a crash until the next lock is released. */
#define FOLDER_LOCK_FILE ".rapt-lock"

typedef struct folder_lock {
    char *folder, *path; /* folder and path of the lock file; NULL: no lock is held */
    size_t made;         /* see file_make_dir_new */
    int fd;
} folder_lock;

/* Makes the folder if need be and takes its lock, or fails at once with RAPT_ERR_IO: another process or thread has the lock (the
 * message names process and host), or the file system has no locks. It never succeeds without a lock.
 *
 * The kernel holds the lock (flock), so it ends with its process, however that ends: a file that a crash has left blocks nobody.
 * Over NFS, Linux makes it a lock on the server that all machines see, unless the file system is mounted with local_lock. */
rapt_code folder_lock_take(folder_lock *l, const char *folder, rapt_error *err);

/* Removes the lock file, and the folders that folder_lock_take made if they are still empty. Does nothing if no lock is held
 * (zeroed). */
void folder_lock_release(folder_lock *l);

#endif
