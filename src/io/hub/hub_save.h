/* io/hub/hub_save.h: a model of a Hugging Face folder as such a folder: what transformers reads, and rapt, as the first one. For
 * model.c. Models of rapt become such folders in io/export. */
#ifndef IO_HUB_HUB_SAVE_H
#define IO_HUB_HUB_SAVE_H

#include "io/safetensors.h"
#include "rapt/io.h"

/* Whether the model was loaded from a Hugging Face folder whole; else it says why it can't be saved (RAPT_ERR_VALUE). */
rapt_code hub_save_check(const rapt_model *m, const char *folder, rapt_error *err);

/* Writes the folder's other files as they were, but for the type of the tensors in config.json, which is that of fp32 now. */
rapt_code hub_save_files(const rapt_model *m, const char *folder, rapt_error *err);

/* Writes the parameters to `path` with the names and shapes that they were read with, matrices that are tied once, in F32. */
rapt_code hub_save_params(const rapt_model *m, const char *path, rapt_error *err);

/* What the tensor of a parameter is stored as where `wanted` is wanted. */
typedef rapt_export_weights hub_save_type(const rapt_model *m, const rapt_param *p, rapt_export_weights wanted);
/* hub_save_check, and whether the tensors can be stored so (RAPT_ERR_VALUE): matrices whose columns are what is multiplied
 * (GPT-2's) are no blocks along rows. */
rapt_code hub_save_check_stored(const rapt_model *m, const char *folder, hub_save_type *type, rapt_export_weights wanted,
                                rapt_error *err);
/* hub_save_params in fewer bits, as io/stored_file.h stores them; `shown` is the path in messages about tensors. */
rapt_code hub_save_stored(const rapt_model *m, const char *path, const char *shown, hub_save_type *type,
                          const rapt_export_options *o, rapt_error *err);

/* Whether a file holds just what hub_save_params would write; false where memory ends, too. */
bool hub_save_is_same(const rapt_model *m, const safetensors *file);

#endif
