/* base/lock.h: one process at a time writes into a folder.
 * For whatever makes a model folder: its files are replaced one by one, and two writers would leave some of each.
 * Not a lock for readers, nor one for single files, which appear whole anyway. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "rapt/base.h"

/* The name of the lock file, which is there as long as the lock is held, and after a crash until the next one is. */
#define FOLDER_LOCK_FILE ".rapt-lock"

typedef struct folder_lock {
    char *folder, *path; /* of the lock file; NULL: nothing is held */
    size_t made;         /* see file_make_dir_new */
    int fd;
} folder_lock;

/* Makes the folder if need be and takes its lock, or fails at once: RAPT_ERR_IO where another process or thread has it (the
 * message names process and host), and where the file system has no locks; it never proceeds without one.
 *
 * The lock is the kernel's (flock), so that it ends with its process, however that ends: a file that a crash has left blocks
 * nobody. Over NFS Linux makes it a lock of the server's, seen by all machines, unless it is mounted with local_lock. */
rapt_code folder_lock_take(folder_lock *l, const char *folder, rapt_error *err);

/* Removes the lock file, and of the folders that folder_lock_take made those that are still empty. Nothing where nothing is
 * held (a lock of zeros). */
void folder_lock_release(folder_lock *l);

#endif
