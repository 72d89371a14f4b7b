/* base/file.h: whole files in and out, with errors that name the path and the reason.
 * For everything that loads or saves: texts, vocabularies, model folders, reports.
 * Not a stream layer: a file is read or mapped whole, and appears whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "rapt/base.h"

/* n GiB as a limit of sizes; on 32-bit machines at most half of the address space. */
#define FILE_GIB(n) ((size_t)((uint64_t)(n) << 30 < SIZE_MAX / 2 ? (uint64_t)(n) << 30 : SIZE_MAX / 2))

/* Messages read "cannot read PATH: REASON". Codes: RAPT_ERR_NOT_FOUND for a missing file or folder, RAPT_ERR_MEMORY, and
 * RAPT_ERR_IO for other errors of the system (no permission, a directory, disk full). */

/* Reads all of `path` into `*data`, which the caller frees; data[size] is a NUL that `*size` does not count. "-" is standard
 * input. Pipes and terminals are read to their end; other devices are refused unless they are empty. More than `max_bytes` is an
 * error (RAPT_ERR_VALUE), and reading ends there. On failure `*data` is NULL. */
rapt_code file_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* file_read for files that rapt or a tool has made: anything but a regular file is refused (RAPT_ERR_IO) without waiting for it.
 * "-" is a file of that name. */
rapt_code file_read_regular(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* file_read from an open file descriptor, which stays open; `path` is for messages. If `fd` is negative, errno says why it could
 * not be opened. */
rapt_code file_read_open(int fd, const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err);

/* Replaces `path` by `size` bytes, or leaves it as it was: a temporary file in the same folder is written, fsynced and renamed,
 * then the folder is fsynced. A symbolic link is followed, and stays. An existing `path` that is not a regular file is refused
 * (RAPT_ERR_IO). The temporary file is removed on every failure. If the file system allows it, the temporary file has no name
 * until it is complete, so that even a killed process leaves nothing. */
rapt_code file_write_atomic(const char *path, const void *data, size_t size, rapt_error *err);

/* file_write_atomic for files that are too large for memory, written in portions. After file_writer_open, end with
 * file_writer_finish or file_writer_finish_new, which make the file appear or fail, or with file_writer_discard. */
typedef struct file_writer {
    const char *path; /* borrowed */
    char *target;     /* the file that `path` leads to */
    char *temporary;  /* NULL: the file has no name yet */
    int fd;
    bool is_new;      /* an existing file is not replaced */
} file_writer;

rapt_code file_writer_open(file_writer *w, const char *path, rapt_error *err);
rapt_code file_writer_put(file_writer *w, const void *data, size_t size, rapt_error *err);
/* Goes back to the start of the file, for a header that depends on what follows it. */
rapt_code file_writer_rewind(file_writer *w, rapt_error *err);
/* A path at which this process can read what was written so far, until the writer ends; the caller frees it. NULL: out of
 * memory. */
char *file_writer_draft(const file_writer *w);
rapt_code file_writer_finish(file_writer *w, rapt_error *err);
/* file_writer_finish for a new file: if the path exists by then, it stays, and the writer fails (RAPT_ERR_IO, "File exists"). */
rapt_code file_writer_finish_new(file_writer *w, rapt_error *err);
void file_writer_discard(file_writer *w);
/* Opens a writer whose file is in the folder for temporary files and has no name, so that nothing stays however the process ends.
 * file_map_draft reads what was written; file_writer_discard ends the writer. *path is where the file was, for messages; the
 * caller frees it after the writer. */
rapt_code file_writer_open_temporary(file_writer *w, const char *name, char **path, rapt_error *err);

/* A file as read-only memory; it may be larger than the machine's memory. Only a regular file can be mapped (RAPT_ERR_IO for
 * others). It must not be truncated while it is mapped; replacing it by another file does no harm. */
typedef struct file_map {
    const char *data; /* NULL for an empty file */
    size_t size;
} file_map;

rapt_code file_map_open(file_map *m, const char *path, rapt_error *err);
/* Maps what a writer of file_writer_open_temporary has written; the map may outlive the writer. */
rapt_code file_map_draft(file_map *m, const file_writer *w, rapt_error *err);
#define FILE_FOLIO ((size_t)2 << 20) /* max bytes, aligned, that Linux maps at once */
/* Gives back the memory of bytes begin .. end - 1, and of the bytes before them in the same FILE_FOLIO bytes. They are read from
 * the file again when they are needed, which costs only time. For long files that are read once. */
void file_map_forget(const file_map *m, size_t begin, size_t end);
void file_map_close(file_map *m);

/* Appends `size` bytes to `path` in one write, so that lines of several writers don't mix; creates it. */
rapt_code file_append(const char *path, const void *data, size_t size, rapt_error *err);

/* Makes the folder `path` and the folders above it; one that is there is fine. */
rapt_code file_make_dir(const char *path, rapt_error *err);
/* file_make_dir; *made is the length of the shortest prefix of `path` that names a folder which did not exist; 0 if all existed.
 * On failure no new folder is left. */
rapt_code file_make_dir_new(const char *path, size_t *made, rapt_error *err);
/* Removes those folders again unless they are not empty. Truncates `path` on the way, so that it allocates nothing. */
void file_remove_new(char *path, size_t made);

/* Whether `path` names anything: a file, a folder, a device, or a link, even a broken one. Fails if that cannot be told (no
 * permission, a disk that doesn't answer): "not there" and "can't tell" are different answers. *there is then true, so that a
 * careless caller overwrites nothing. */
rapt_code file_is_there(const char *path, bool *there, rapt_error *err);
/* Whether `path` leads to a folder. Fails if that cannot be told, with *folder false. */
rapt_code file_is_folder(const char *path, bool *folder, rapt_error *err);

/* file_is_there for file_join(dir, name). */
rapt_code file_is_in(const char *dir, const char *name, bool *there, rapt_error *err);

/* "dir/name", or NULL on out-of-memory; the caller frees it. An empty `dir` gives `name`. */
char *file_join(const char *dir, const char *name);
/* The folder of `path` with its slash, "./" if it has none. NULL on out-of-memory; the caller frees it. */
char *file_folder(const char *path);
/* Sets *path to file_join(dir, name), which the caller frees. On RAPT_ERR_MEMORY, with `err` naming both, it is NULL. */
rapt_code file_path(const char *dir, const char *name, char **path, rapt_error *err);

/* Makes a folder "rapt-NAME-XXXXXX" in the folder for temporary files, with letters for the X. The caller removes it and frees
 * *path. */
rapt_code file_make_temporary(const char *name, char **path, rapt_error *err);

#endif
