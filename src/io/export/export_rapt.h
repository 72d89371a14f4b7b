/* io/export/export_rapt.h: a model folder of rapt whose matrices are stored in fewer bits, for inference. For export.c. */
#ifndef IO_EXPORT_EXPORT_RAPT_H
#define IO_EXPORT_EXPORT_RAPT_H

#include "rapt/io.h"

/* rapt_model_export to RAPT_EXPORT_RAPT, of a model of rapt's own. */
rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
