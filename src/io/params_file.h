/* io/params_file.h: parameters as safetensors entries, shared by model files and checkpoints. */
#ifndef IO_PARAMS_FILE_H
#define IO_PARAMS_FILE_H

#include "base/stop.h"
#include "io/safetensors.h"
#include "rapt/tensor.h"

#define PARAMS_VERSION "1" /* version of the metadata, under "rapt_format_version" */

/* The entry for the elements of a tensor: its own data, or moments of the same shape. */
safetensors_entry params_entry(const char *name, const rapt_tensor *shape, const rapt_real *data);

/* Writes the parameters as rapt_params_save does, with `text` under `key` in the metadata, or nothing if `text` is NULL. */
rapt_code params_save(const rapt_params *set, const char *path, const char *key, const char *text, rapt_error *err);

/* params_save for entries that the caller has made. */
rapt_code params_write(const char *path, const safetensors_entry *entries, size_t count, const char *key, const char *text,
                       rapt_error *err);

/* Which matrices stay in the file, besides matrices in blocks; the file then stays open as long as the set. */
typedef enum params_staying {
    PARAMS_STAY_NONE,
    PARAMS_STAY_SMALLER, /* matrices of 16-bit numbers */
    PARAMS_STAY_ALL
} params_staying;

/* Fills all parameters from an open file, as rapt_params_load does, except matrices that stay there. `stop` is asked before each:
 * RAPT_ERR_INTERRUPTED. */
rapt_code params_fill(rapt_params *set, const safetensors *file, params_staying which, stop_check stop, const char *path,
                      rapt_error *err);

/* Checks that a file has a tensor `name` of this type and shape. */
rapt_code params_check(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape, rapt_error *err);
/* Copies the tensor `name` of a file into `to`; checks that it exists and has this type and shape. */
rapt_code params_read(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape,
                      rapt_real *to, rapt_error *err);

#endif
