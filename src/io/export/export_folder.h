/* io/export/export_folder.h: a folder that appears whole or not at all, and the files in it that have a format of their own:
 * files are written into a temporary folder next to it, which is renamed when it is complete. For the writers of folders. */
#ifndef IO_EXPORT_EXPORT_FOLDER_H
#define IO_EXPORT_EXPORT_FOLDER_H

#include "rapt/io.h"
#include "rapt/text.h"

#include "base/lock.h"
#include "io/place/place_tensors.h"

#include <jansson.h>

typedef struct export_folder {
    char *target;
    char *aside; /* the temporary folder ".NAME.PROCESS.tmp" */
    char *parent;
    size_t made; /* see file_make_dir_new */
    folder_lock lock; /* lock of `aside`, which base/unfinished.h removes if its holder was killed */
    char *file;       /* the last path of export_folder_file */
    rapt_code code;   /* the first failure, with `err`: from then on the functions below do nothing */
    rapt_error *err;
} export_folder;

/* Makes the temporary folder, and folders above it, and removes what killed writers have left there. An existing `path` is
 * refused (RAPT_ERR_VALUE). Call export_folder_end afterwards, even after a failure. */
void export_folder_begin(export_folder *f, const char *path, rapt_error *err);
/* Makes the folder appear; after a failure, or if that fails, removes everything that was written. Returns the first failure. */
rapt_code export_folder_end(export_folder *f);

/* Writes NAME, which may be in a subfolder ("target/config.json"). Takes ownership of `root`; NULL counts as out of memory. */
void export_folder_put_json(export_folder *f, const char *name, json_t *root);
/* The path of file NAME of the temporary folder, until the next call, for a writer whose result the caller puts into `code`;
 * NULL after a failure. */
const char *export_folder_file(export_folder *f, const char *name);

/* ---- export_tokenizer.c: every kind of tokenizer of rapt as the tokenizer.json of a Hugging Face folder, with which
 * `tokenizers` gives the same ids. For the writer of such folders. */

/* The contents of tokenizer.json. `end`: a token that follows every text, -1: none. NULL with `err` set: out of memory, or the
 * tokenizer has no such form (RAPT_ERR_VALUE). `path` is for messages. */
json_t *export_tokenizer(const rapt_tokenizer *k, int32_t end, const char *path, rapt_error *err);
/* The contents of tokenizer_config.json: for a translator with the names of its special tokens, else with the name of the token
 * that ends a text, -1: none. NULL: out of memory. */
json_t *export_tokenizer_config(const rapt_tokenizer *k, size_t max_length, bool specials, int32_t end);

/* ---- model_bin.c: CTranslate2's model.bin, version 6 of the format: u32 version; the name of the specification, u32 revision;
 * u32 count and the variables, by rising name: its name, u8 dimensions, u32 for each, u8 type, u32 bytes, the data; u32 count and
 * the aliases: a name, and the name of a variable with the same data. Texts are a u16 length with the NUL, and the bytes.
 * Little-endian. For export_ctranslate2.c. */

/* Writes the tensors, which it sorts. */
rapt_code model_bin_write(place_tensors *set, const char *path, const char *specification, uint32_t revision,
                          const rapt_export_options *o, rapt_error *err);

#endif
