/* io/export/export_folder.h: a folder that appears whole or not at all: its files are written into one beside it with another
 * name, which is renamed when all are there. For the writers of folders. */
#ifndef IO_EXPORT_EXPORT_FOLDER_H
#define IO_EXPORT_EXPORT_FOLDER_H

#include "base/lock.h"

#include <jansson.h>

typedef struct export_folder {
    char *target;
    char *aside; /* where files are written: ".NAME.PROCESS.tmp" beside it */
    char *parent;
    size_t made; /* see file_make_dir_new */
    folder_lock lock; /* of `aside`, which base/unfinished.h removes where its holder was killed */
} export_folder;

/* Makes the folder aside, and folders above it, and removes what writers that were killed have left there. What is there already
 * is refused (RAPT_ERR_VALUE). It is followed by export_folder_end, also after a failure. */
rapt_code export_folder_begin(export_folder *f, const char *path, rapt_error *err);
/* With `code` RAPT_OK makes the folder appear; else, or where that fails, removes all that was written. Returns the first
 * failure. */
rapt_code export_folder_end(export_folder *f, rapt_code code, rapt_error *err);

/* Writes NAME, which may be in a folder of its own ("target/config.json"). Takes ownership of `root`; NULL is out of memory. */
rapt_code export_folder_put_json(const export_folder *f, const char *name, json_t *root, rapt_error *err);

#endif
