/* io/export/export_folder.h: a folder that appears whole or not at all: its files are written into a temporary folder next to it,
 * which is renamed when it is complete. For the writers of folders. */
#ifndef IO_EXPORT_EXPORT_FOLDER_H
#define IO_EXPORT_EXPORT_FOLDER_H

#include "base/lock.h"

#include <jansson.h>

typedef struct export_folder {
    char *target;
    char *aside; /* the temporary folder ".NAME.PROCESS.tmp" */
    char *parent;
    size_t made; /* see file_make_dir_new */
    folder_lock lock; /* lock of `aside`, which base/unfinished.h removes if its holder was killed */
} export_folder;

/* Makes the temporary folder, and folders above it, and removes what killed writers have left there. An existing `path` is
 * refused (RAPT_ERR_VALUE). Call export_folder_end afterwards, even after a failure. */
rapt_code export_folder_begin(export_folder *f, const char *path, rapt_error *err);
/* If `code` is RAPT_OK, makes the folder appear; otherwise, or if that fails, removes everything that was written. Returns the
 * first failure. */
rapt_code export_folder_end(export_folder *f, rapt_code code, rapt_error *err);

/* Writes NAME, which may be in a subfolder ("target/config.json"). Takes ownership of `root`; NULL counts as out of memory. */
rapt_code export_folder_put_json(const export_folder *f, const char *name, json_t *root, rapt_error *err);

#endif
