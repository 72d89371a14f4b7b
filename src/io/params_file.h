/* io/params_file.h: parameters as safetensors entries, shared by model files and checkpoints. */
#ifndef IO_PARAMS_FILE_H
#define IO_PARAMS_FILE_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

/* The entry of a tensor's numbers (its own data, or moments of the same shape). */
safetensors_entry params_entry(const char *name, const rapt_tensor *shape, const rapt_real *data);

/* rapt_params_save with one more text in the metadata, or NULL for none. */
rapt_code params_save(const rapt_params *set, const char *path, const char *key, const char *text, rapt_error *err);

/* rapt_params_load from a file that is open. */
rapt_code params_fill(rapt_params *set, const safetensors *file, const char *path, rapt_error *err);

/* Copies the tensor `name` of a file into `to`; checks that it is there, of this type and shape. */
rapt_code params_read(const safetensors *file, const char *path, const char *name, const rapt_tensor *shape,
                      rapt_real *to, rapt_error *err);

#endif
