/* io/export/export_hub.h: a model of a Hugging Face folder as such a folder again. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_HUB_H
#define IO_EXPORT_EXPORT_HUB_H

#include "rapt/io.h"

/* Its other files are copies of the files with which the model was loaded. A model that cannot be written is refused before the
 * folder is made. */
rapt_code export_hub(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
