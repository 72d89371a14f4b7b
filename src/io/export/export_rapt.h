/* io/export/export_rapt.h: a model folder whose matrices are stored in fewer bits, for inference. For export.c. */
#ifndef IO_EXPORT_EXPORT_RAPT_H
#define IO_EXPORT_EXPORT_RAPT_H

#include "rapt/io.h"

/* rapt_model_export to RAPT_EXPORT_RAPT, for a model of rapt. */
rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* The type in which a parameter is stored if the caller wants `wanted`: embeddings and the output matrix have at least 8 bits,
 * because each of their rows stands for a token. */
rapt_export_weights export_rapt_type(const rapt_model *m, const rapt_param *p, rapt_export_weights wanted);

#endif
