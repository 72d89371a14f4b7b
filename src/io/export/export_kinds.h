/* io/export/export_kinds.h: the kinds of files as which a model is written. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_KINDS_H
#define IO_EXPORT_EXPORT_KINDS_H

#include "io/export/export_folder.h"
#include "io/place/place.h"
#include "rapt/io.h"

/* ---- export_ctranslate2.c: a model as a folder that CTranslate2 reads. */

/* Settings and tokenizers are checked before the folder is begun. */
rapt_code export_ctranslate2(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* Its tensors. */
extern const place_table EXPORT_CTRANSLATE2_LM, EXPORT_CTRANSLATE2_TRANSLATION;

/* ---- export_gguf.c: a language model as a GGUF file that llama.cpp runs. */

/* Settings, the tokenizer and the names of tensors are checked before the file is begun. */
rapt_code export_gguf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* ---- export_hf.c: a model as a folder that Hugging Face transformers reads. */

/* Whether there is a class for the model and a form for its tokenizers is checked before the folder is begun. */
rapt_code export_hf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* ---- export_hub.c: a model of a Hugging Face folder as such a folder again. */

/* Its other files are copies of the files with which the model was loaded. A model that cannot be written is refused before the
 * folder is made. */
rapt_code export_hub(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* ---- export_rapt.c: a model folder whose matrices are stored in fewer bits, for inference. */

/* rapt_model_export to RAPT_EXPORT_RAPT, for a model of rapt. */
rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* The type in which a parameter is stored if the caller wants `wanted`: embeddings and the output matrix have at least 8 bits,
 * because each of their rows stands for a token. */
rapt_type export_rapt_type(const rapt_model *m, const rapt_param *p, rapt_type wanted);

#endif
