/* data/text_files.h: one text from the files that a recipe names. For training language models. */
#ifndef DATA_TEXT_FILES_H
#define DATA_TEXT_FILES_H

#include "base/file.h"

/* Whether `list` is more than one file: a folder, or several paths with : between them. If something has exactly this name, it is
 * one path even with a : in it. Fails if that cannot be told. */
rapt_code text_files_are_several(const char *list, bool *several, rapt_error *err);

/* Which files of folders are taken, and the order of all files. */
typedef struct text_choice {
    const char *names; /* patterns with * and ?, comma-separated; a file's name must match one of them; NULL: all files */
    bool shuffled;     /* order by a hash of each file's path within its folder; if false, by the list */
    const char *separator; /* follows each file that is not empty, the last one too; NULL: none */
} text_choice;

/* Writes all files of `list` into one: folders recursively, in the order of their entries' bytes, without hidden entries, links,
 * files that are not UTF-8 text, files that `choice` does not name, and the folder of `path` itself. Named files are taken
 * without these checks. `choice` may be NULL. Shuffled files keep their order wherever the folders are, and when files are added.
 * Errors: a named file does not exist, a file cannot be read or examined, a file is `path` itself, or the list has no text. The
 * result is in `out`: the caller ends it with file_writer_finish, which makes it appear at `path`, or file_writer_discard. On
 * failure nothing is left to end. `path` is borrowed until then. */
rapt_code text_files_join(const char *list, const text_choice *choice, const char *path, file_writer *out, rapt_error *err);

#endif
