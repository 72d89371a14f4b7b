/* io/export/export_ctranslate2.h: a model as a folder that CTranslate2 reads. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_CTRANSLATE2_H
#define IO_EXPORT_EXPORT_CTRANSLATE2_H

#include "io/export/export_folder.h"
#include "io/place/place.h"
#include "rapt/io.h"

/* Settings and tokenizers are checked before the folder is begun. */
rapt_code export_ctranslate2(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* Its tensors. */
extern const place_table EXPORT_CTRANSLATE2_LM, EXPORT_CTRANSLATE2_TRANSLATION;

#endif
