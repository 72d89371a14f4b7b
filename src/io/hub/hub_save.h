/* io/hub/hub_save.h: saves a model from a Hugging Face folder as such a folder, which transformers and rapt read like the first
 * one. For model.c. io/export makes such folders from models of rapt. */
#ifndef IO_HUB_HUB_SAVE_H
#define IO_HUB_HUB_SAVE_H

#include "io/safetensors.h"
#include "rapt/io.h"

/* Whether the model was loaded whole from a Hugging Face folder; otherwise says why it can't be saved (RAPT_ERR_VALUE). */
rapt_code hub_save_check(const rapt_model *m, const char *folder, rapt_error *err);

/* Writes the folder's other files unchanged, except that the type of tensors in config.json is now fp32. */
rapt_code hub_save_files(const rapt_model *m, const char *folder, rapt_error *err);

/* Writes the parameters to `path` with the names and shapes that they were read with, matrices that are tied once, in F32. */
rapt_code hub_save_params(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* The type in which the tensor of a parameter is stored if the caller wants `wanted`. */
typedef rapt_type hub_save_type(const rapt_model *m, const rapt_param *p, rapt_type wanted);
/* hub_save_check, and whether the tensors can be stored in this type (RAPT_ERR_VALUE): transposed matrices (GPT-2's) cannot have
 * blocks along their rows. */
rapt_code hub_save_check_stored(const rapt_model *m, const char *folder, hub_save_type *type, rapt_type wanted,
                                rapt_error *err);
/* hub_save_params in fewer bits, as io/stored_file.h stores them; `shown` is the path in messages about tensors. */
rapt_code hub_save_stored(const rapt_model *m, const char *path, const char *shown, hub_save_type *type,
                          const rapt_export_options *o, rapt_error *err);

/* Whether a file is exactly what hub_save_params would write; also false if memory runs out. */
bool hub_save_is_same(const rapt_model *m, const safetensors *file);

#endif
