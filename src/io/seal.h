/* io/seal.h: binds the files of a model folder to each other. The parameters have a copy of config.json in their metadata, which
 * their own checksums cover; config.json names the tokenizers by their hashes, and the training run. So loading detects a value
 * that was edited in one file, and files of two runs in one folder.
 *
 * The copy is compared member by member: config.json may have members that an older rapt, which wrote the parameters, did not
 * know. A run that is resumed by a newer rapt writes config.json first; if it is killed then, its folder still loads. */
#ifndef IO_SEAL_H
#define IO_SEAL_H

#include "io/safetensors.h"
#include "rapt/io.h"

#include <jansson.h>

#define SEAL_KEY "config" /* in the metadata of model.safetensors and of checkpoints */

/* A model's config.json on one line, which the caller frees; `path` is for messages. */
rapt_code seal_text(const rapt_model *m, const char *path, char **text, rapt_error *err);

/* Whether a parameter file has a copy of the configuration, and both checksums, which were verified. */
bool seal_is_whole(const safetensors *file);

/* Refuses a configuration that is not the one in the metadata of `file`, naming the member. `folder` is named in the advice to
 * seal it again. RAPT_OK if the metadata have no copy. */
rapt_code seal_check(const safetensors *file, const char *file_path, const json_t *config, const char *config_path,
                     const char *folder, rapt_error *err);

/* Refuses a checkpoint whose configuration differs from the model into which it is read (RAPT_ERR_FORMAT), naming the member.
 * RAPT_OK if its metadata have no copy. */
rapt_code seal_check_model(const safetensors *file, const char *file_path, const rapt_model *m, rapt_error *err);

/* Refuses a config.json that contradicts the model that is about to be written into its folder, because a resumed run would
 * silently undo an edit. Members that only one of them has are ignored. */
rapt_code seal_check_config(const json_t *config, const char *config_path, const rapt_model *m, rapt_error *err);

/* The training run of a file's parameters; 0 if it names none. RAPT_ERR_MEMORY: out of memory. */
rapt_code seal_run(const safetensors *file, const char *path, uint64_t *run, rapt_error *err);

#endif
