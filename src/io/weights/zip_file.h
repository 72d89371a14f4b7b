/* io/weights/zip_file.h: the entries of a zip archive in memory, as PKWARE's APPNOTE.TXT describes it, with the 64-bit fields.
 * For files of torch.save, whose entries are stored without compression: compressed or encrypted ones are refused. */
#ifndef IO_ZIP_FILE_H
#define IO_ZIP_FILE_H

#include "rapt/base.h"

/* Points into the archive's bytes. */
typedef struct zip_entry {
    const char *name; /* without a NUL */
    size_t name_size;
    const char *data;
    size_t size;
} zip_entry;

typedef struct zip_file {
    zip_entry *entries; /* by name */
    size_t count;
} zip_file;

/* Whether these bytes begin like a zip archive. */
bool zip_begins(const char *bytes, size_t size);

/* Reads the directory of an archive. Names are unique, and each entry's data lies before the directory. Checksums are not
 * compared, because torch.save can leave them out. `path` is for messages, "PATH: reason" (RAPT_ERR_FORMAT); RAPT_ERR_MEMORY.
 * After a failure *z is empty. */
rapt_code zip_read(zip_file *z, const char *path, const char *bytes, size_t size, rapt_error *err);
/* The entry with this name; NULL: there is none. */
const zip_entry *zip_find(const zip_file *z, const char *name, size_t name_size);
void zip_free(zip_file *z);

#endif
