/* base/file.h: whole files in and out, with errors that name the path and the reason.
 * For everything that loads or saves: texts, vocabularies, model folders, reports.
 * Not a stream layer: a file is read or mapped whole, and appears whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "rapt/base.h"

/* n GiB as a limit of sizes: half of the addresses where these are 32 bits wide. */
#define FILE_GIB(n) ((size_t)((uint64_t)(n) << 30 < SIZE_MAX / 2 ? (uint64_t)(n) << 30 : SIZE_MAX / 2))

/* Messages read "cannot read PATH: REASON". Codes: RAPT_ERR_NOT_FOUND for a missing file or folder,
 * RAPT_ERR_MEMORY, and RAPT_ERR_IO for whatever else the system says (no permission, a directory, disk full). */

/* Reads all of `path` into `*data`, which the caller frees; data[size] is a NUL that `*size` does not count.
 * "-" is standard input. Pipes and terminals are read to their end; other devices, but for empty ones, are refused. More than
 * `max_bytes` is an error (RAPT_ERR_VALUE), found without reading on. On failure `*data` is NULL. */
rapt_code file_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* file_read for files that rapt or a tool has made, which are regular ones: others are refused (RAPT_ERR_IO) without waiting for
 * them. "-" is a file of that name. */
rapt_code file_read_regular(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* file_read of an open file descriptor, which stays open; `path` is for messages. `fd` below 0: errno says why it could not be
 * opened. */
rapt_code file_read_open(int fd, const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* Replaces `path` by `size` bytes, or leaves it as it was: a temporary file in the same folder is written, fsynced and
 * renamed, then the folder is fsynced. A symbolic link is followed, and stays. What is there and no regular file is
 * refused (RAPT_ERR_IO). The temporary file is removed on every failure; where the file system allows it, it has no name
 * until it is complete, so that a process that is killed leaves nothing either. */
rapt_code file_write_atomic(const char *path, const void *data, size_t size, rapt_error *err);

/* file_write_atomic for what is too large to lie in memory: portions one after the other. file_writer_open is followed by
 * one of file_writer_finish and file_writer_finish_new, which make the file appear or fail, or file_writer_discard. */
typedef struct file_writer {
    const char *path; /* borrowed */
    char *target;     /* where it leads */
    char *temporary;  /* NULL: the file has no name yet */
    int fd;
    bool is_new;      /* what is there is not replaced */
} file_writer;

rapt_code file_writer_open(file_writer *w, const char *path, rapt_error *err);
rapt_code file_writer_put(file_writer *w, const void *data, size_t size, rapt_error *err);
/* Goes back to the start of the file, for a header that says what came after it. */
rapt_code file_writer_rewind(file_writer *w, rapt_error *err);
/* A path at which this process can read what was put so far, until the writer ends; the caller frees it. NULL on
 * out-of-memory. */
char *file_writer_draft(const file_writer *w);
rapt_code file_writer_finish(file_writer *w, rapt_error *err);
/* The same for a new file: what has the path by then stays, and the writer fails (RAPT_ERR_IO, "File exists"). */
rapt_code file_writer_finish_new(file_writer *w, rapt_error *err);
void file_writer_discard(file_writer *w);
/* A writer whose file is in the folder for temporary ones and has lost its name, so that however the process ends nothing stays.
 * What was put is read by file_map_draft; file_writer_discard ends it. *path is where it was, for messages: the caller frees it
 * after the writer. */
rapt_code file_writer_open_temporary(file_writer *w, const char *name, char **path, rapt_error *err);

/* A file as read-only memory: it may be larger than the machine's. Only a regular file can be mapped (RAPT_ERR_IO for
 * others). It must not be cut off while it is mapped; replacing it by another file does no harm. */
typedef struct file_map {
    const char *data; /* NULL for an empty file */
    size_t size;
} file_map;

rapt_code file_map_open(file_map *m, const char *path, rapt_error *err);
/* What file_writer_open_temporary's writer has put; it outlasts the writer. */
rapt_code file_map_draft(file_map *m, const file_writer *w, rapt_error *err);
#define FILE_FOLIO ((size_t)2 << 20) /* bytes, aligned, that Linux maps at once at most */
/* Gives the memory of bytes begin .. end - 1 back, and what lies before them in the same FILE_FOLIO bytes: they are read from the
 * file again when they are needed, which costs time only. For long files that are read once. */
void file_map_forget(const file_map *m, size_t begin, size_t end);
void file_map_close(file_map *m);

/* Appends `size` bytes to `path` in one write, so that lines of several writers don't mix; creates it. */
rapt_code file_append(const char *path, const void *data, size_t size, rapt_error *err);

/* Makes the folder `path` and the folders above it; one that is there is fine. */
rapt_code file_make_dir(const char *path, rapt_error *err);
/* file_make_dir; *made is the length of the shortest part of `path` that names a folder which was not there, 0 where all were.
 * On failure none of those is left. */
rapt_code file_make_dir_new(const char *path, size_t *made, rapt_error *err);
/* Removes those folders again, but for what is not empty; cuts `path` short on the way, so that it allocates nothing. */
void file_remove_new(char *path, size_t made);

/* Whether `path` names anything: file, folder, device, or a link, wherever it leads. Where that can't be told (no permission,
 * a disk that doesn't answer) it fails: "not there" and "can't tell" are two answers. *there is true then, so that nothing is
 * written over. */
rapt_code file_is_there(const char *path, bool *there, rapt_error *err);
/* Whether what `path` leads to is a folder; fails where that cannot be told, with *folder false. */
rapt_code file_is_folder(const char *path, bool *folder, rapt_error *err);

/* "dir/name", or NULL on out-of-memory; the caller frees it. An empty `dir` gives `name`. */
char *file_join(const char *dir, const char *name);
/* Sets *path to file_join(dir, name), which the caller frees. On RAPT_ERR_MEMORY, with `err` naming both, it is NULL. */
rapt_code file_path(const char *dir, const char *name, char **path, rapt_error *err);

/* The folder for temporary files: TMPDIR, else /tmp. Borrowed. */
const char *file_temporary_folder(void);
/* Makes a folder "rapt-NAME-XXXXXX" there, with letters for the X. *path is the caller's, who removes the folder and frees it. */
rapt_code file_make_temporary(const char *name, char **path, rapt_error *err);

#endif
