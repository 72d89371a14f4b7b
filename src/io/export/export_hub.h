/* io/export/export_hub.h: a model of a Hugging Face folder as such a folder again. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_HUB_H
#define IO_EXPORT_EXPORT_HUB_H

#include "rapt/io.h"

/* Its other files are those that the model was loaded with. What cannot be written is refused before the folder is begun. */
rapt_code export_hub(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
