/* base/disk.h: what rapt asks of the file system. For base's own files and for whoever walks through folders; whole files are
 * read and written by file.h. Functions that fail return -1, false or NULL, and set errno as POSIX does, on every system.
 * Paths are UTF-8. On Windows both slashes separate names, and a path may be longer than 260 characters. */
#ifndef BASE_DISK_H
#define BASE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- open files, which are descriptors of the C library --------------------------------------------------------- */

enum { DISK_IN, DISK_OUT, DISK_ERROR }; /* the standard streams' descriptors */

typedef enum disk_way {
    DISK_READ,     /* waits for the writer of a pipe */
    DISK_READ_NOW, /* does not wait */
    DISK_NEW,      /* for writing; fails with EEXIST if the name is taken */
    DISK_APPEND,   /* for writing at the end; the file is made if it is not there */
    DISK_LOCK,     /* for a lock: no link, made if it is not there */
    DISK_LEFT      /* for the lock of a file that is there: no link */
} disk_way;

/* The descriptor, which programs that this one starts don't inherit. */
int disk_open(const char *path, disk_way way);
void disk_close(int file);
/* disk_close; false: what was written may be lost. */
bool disk_close_written(int file);
/* At most `size` bytes; 0 at the end. A terminal gives what was typed as UTF-8. */
ptrdiff_t disk_read(int file, void *to, size_t size);
/* disk_read of the first bytes of a file. */
ptrdiff_t disk_read_first(int file, void *to, size_t size);
/* One write, which may write less than all. */
ptrdiff_t disk_write(int file, const void *from, size_t size);
/* Where the next byte goes; -1 for what has no places. */
int64_t disk_position(int file);
bool disk_seek(int file, int64_t to);
bool disk_cut(int file, int64_t size);
/* What was written survives a power cut. */
bool disk_sync(int file);
/* The names in a folder survive one. True where the system, or the file system, has no such request. */
bool disk_sync_folder(const char *folder);
/* Takes the lock of an open file, which ends with the process; another holder gives EWOULDBLOCK. */
bool disk_lock(int file);
/* Whether a read would not wait. */
bool disk_has_arrived(int file);

/* ---- what a name leads to --------------------------------------------------------------------------------------- */

typedef enum disk_kind { DISK_FILE, DISK_FOLDER, DISK_LINK, DISK_DEVICE, DISK_OTHER /* a pipe, a socket */ } disk_kind;

typedef struct disk_entry {
    disk_kind kind;
    bool own;                /* this user's; on Windows always true: what others may not remove, their rights say */
    bool named;              /* an open file still has a name */
    uint64_t size;           /* bytes */
    uint64_t device, number; /* one pair for each file */
} disk_entry;

bool disk_look(const char *path, disk_entry *e);      /* through links */
bool disk_look_link(const char *path, disk_entry *e); /* a link itself */
bool disk_look_open(int file, disk_entry *e);
/* Whether a path leads to a regular file. */
bool disk_is_file(const char *path, disk_entry *e);
bool disk_is_same(const disk_entry *a, const disk_entry *b);
bool disk_may_read(const char *path);
bool disk_may_write(const char *path);

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Replaces a file of the name `to`. */
bool disk_rename(const char *from, const char *to);
/* disk_rename for a name that must be free (EEXIST). */
bool disk_rename_new(const char *from, const char *to);
bool disk_make_folder(const char *path);
bool disk_remove(const char *path);        /* a file */
bool disk_remove_folder(const char *path); /* an empty one */
/* A folder with all that is in it; what cannot be removed stays. */
void disk_remove_all(const char *path);

/* The absolute path without links, with / between the names; the caller frees it. */
char *disk_real_path(const char *path);
/* The last separator of names in a path; NULL: there is none. */
char *disk_last_slash(const char *path);
bool disk_is_slash(char c);
/* Bytes of a path at its begin that name no folder that could be made: "/", "C:/". */
size_t disk_root(const char *path);
bool disk_is_absolute(const char *path);
/* Bytes up to the next of the characters `between` or to the end, as strcspn counts them; the colon of a drive separates no
 * paths. */
size_t disk_list_part(const char *list, const char *between);

/* ---- files without a name --------------------------------------------------------------------------------------- */

/* Opens a file for writing in this folder, which vanishes with the process unless it gets a name. -1: the system, or the file
 * system, has no such files. */
int disk_open_nameless(const char *folder);
/* Gives it a name, if that is free (EEXIST). */
bool disk_give_name(int file, const char *name);
/* A path through which this process can open it, or a file of disk_open_temporary; the caller frees it. */
char *disk_open_path(int file);
/* That path as other processes of this machine write it; a copy of any other path. The caller frees it; NULL: out of memory. */
char *disk_path_for_others(const char *path);

/* `path` ends in XXXXXX, which is replaced by letters so that the name is new. The file has no name on return, or loses it with
 * the process. */
int disk_open_temporary(char *path);
bool disk_make_temporary_folder(char *path);
/* TMPDIR, or else the system's folder for temporary files. Borrowed. */
const char *disk_temporary_folder(void);

/* ---- folders ---------------------------------------------------------------------------------------------------- */

typedef struct disk_folder disk_folder;

disk_folder *disk_folder_open(const char *path);
/* A folder in this folder that is no link. */
disk_folder *disk_folder_open_in(const disk_folder *in, const char *name);
/* The next name, but for "." and ".."; NULL with errno 0 at the end. */
const char *disk_folder_next(disk_folder *f);
void disk_folder_close(disk_folder *f); /* NULL is fine */

/* These stay in the open folder whatever its path leads to meanwhile. */
bool disk_folder_look(const disk_folder *f, disk_entry *e); /* at the folder itself */
bool disk_look_in(const disk_folder *f, const char *name, disk_entry *e); /* at a link itself */
int disk_open_in(const disk_folder *f, const char *name, disk_way way);
bool disk_remove_in(const disk_folder *f, const char *name);

#endif
