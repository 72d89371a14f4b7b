/* base/windows/windows_disk.h: what the files of this folder share about names of files. */
#ifndef BASE_WINDOWS_DISK_H
#define BASE_WINDOWS_DISK_H

#include <stdbool.h>

#include <windows.h>

/* The absolute path of an open file without links, with / between the names; the caller frees it. NULL with errno set. */
char *windows_final_path(HANDLE file);
/* Replaces the last six characters of a path by letters that nobody can guess. */
bool windows_make_name(char *path);

#endif
