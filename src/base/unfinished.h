/* base/unfinished.h: files and folders that have a temporary name in the same folder until they are complete, and their removal
 * after a process was killed. For file.c and the writers of folders. A writer holds a lock, which ends with its process;
 * if the lock can be taken, the writer is gone. */
#ifndef BASE_UNFINISHED_H
#define BASE_UNFINISHED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file's name is ".NAME.PROCESS.TRY.tmp", as file.c makes them, or a folder's name ".NAME.PROCESS.tmp". *process is
 * PROCESS, *size the number of bytes of NAME, which may itself hold dots. */
bool unfinished_is_file(const char *name, long *process, size_t *size);
bool unfinished_is_folder(const char *name, long *process, size_t *size);

/* Removes leftovers in the folder of `path`: folders of any NAME that have the lock file of base/lock.h, and files whose NAME is
 * the name of `path`. Follows no links and removes only what this user owns. What cannot be removed stays, without an error,
 * because it does no harm. */
void unfinished_remove(const char *path);

#endif
