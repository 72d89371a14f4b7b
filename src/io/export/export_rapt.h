/* io/export/export_rapt.h: a model folder whose matrices are stored in fewer bits, for inference. For export.c. */
#ifndef IO_EXPORT_EXPORT_RAPT_H
#define IO_EXPORT_EXPORT_RAPT_H

#include "rapt/io.h"

/* rapt_model_export to RAPT_EXPORT_RAPT, of a model of rapt's own. */
rapt_code export_rapt(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

/* What a parameter of a translator or language model is stored as where `wanted` is wanted: the rows of embeddings and of the
 * output matrix, each of which stands for a token, have 8 bits at least. */
rapt_export_weights export_rapt_type(const rapt_model *m, const rapt_param *p, rapt_export_weights wanted);

#endif
