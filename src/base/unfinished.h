/* base/unfinished.h: files and folders that are written beside their place, under another name, until they are complete; and
 * those that a process which was killed has left. For file.c and the writers of folders.
 * Whoever writes one holds a lock (flock) that ends with its process: one that can be taken is on something left. */
#ifndef BASE_UNFINISHED_H
#define BASE_UNFINISHED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file's name is ".NAME.PROCESS.TRY.tmp", as file.c makes them; or a folder's ".NAME.PROCESS.tmp". *process is PROCESS,
 * and *size are the bytes of NAME, which may hold dots, too. */
bool unfinished_is_file(const char *name, long *process, size_t *size);
bool unfinished_is_folder(const char *name, long *process, size_t *size);

/* Removes what was left beside `path`: folders with the lock file of base/lock.h, of any NAME, and files whose NAME is that of
 * `path`. No links are followed, only what this user owns is removed, and what can't be removed stays: nothing hangs on it. */
void unfinished_remove(const char *path);

#endif
