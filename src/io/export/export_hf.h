/* io/export/export_hf.h: a model as a folder that Hugging Face transformers reads. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_HF_H
#define IO_EXPORT_EXPORT_HF_H

#include "io/export/export_folder.h"
#include "rapt/io.h"

/* Whether there is a class for the model and a form for its tokenizers is checked before the folder is begun. */
rapt_code export_hf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
