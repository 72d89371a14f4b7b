/* data/text_files.h: one text from the files that a recipe names. For training language models. */
#ifndef DATA_TEXT_FILES_H
#define DATA_TEXT_FILES_H

#include "base/file.h"

/* Whether `list` is more than one file: a folder, or several paths with : between them. Something of that very name is
 * one path, whatever it holds. Fails where that cannot be told. */
rapt_code text_files_are_several(const char *list, bool *several, rapt_error *err);

/* Which files of folders are taken, and in what order all files stand. */
typedef struct text_choice {
    const char *names; /* patterns with * and ?, comma-separated, one of which a file's name matches; NULL: all files */
    bool shuffled;     /* in the order of a hash of each file's path within its folder, else in that of the list */
    const char *separator; /* follows each file that is not empty, the last one too; NULL: none */
} text_choice;

/* Writes all files of `list` into one: folders in the order of their entries' bytes, with what is in them, but for hidden
 * entries, links, files that are not UTF-8 text, those that `choice` does not name, and the folder of `path` itself. Named
 * files are taken as they are. `choice` may be NULL. Shuffled, a file has its place wherever the folders lie, and keeps it among
 * the others when files are added. Errors: a named file that is not there, any that cannot be read or examined, one that is
 * `path` itself, and a list without any text. The result lies in `out`: the caller calls file_writer_finish, and it appears at
 * `path`, or file_writer_discard. On failure nothing is left to end. `path` is borrowed until then. */
rapt_code text_files_join(const char *list, const text_choice *choice, const char *path, file_writer *out, rapt_error *err);

#endif
