/* io/export/export_lm.h: the class of Hugging Face transformers that computes what a language model of rapt computes, and its
 * config.json. For the writer of such folders. */
#ifndef IO_EXPORT_EXPORT_LM_H
#define IO_EXPORT_EXPORT_LM_H

#include "io/hub/hub_family.h"
#include "rapt/io.h"

#include <jansson.h>

typedef struct export_lm_class {
    const hub_family *family; /* its names and its tensors */
    json_t *(*describe)(const rapt_lm_config *c); /* the members that only this class has; NULL: out of memory */
} export_lm_class;

/* NULL with `err` set: no class computes such a model (RAPT_ERR_VALUE, naming a setting of config.json). `path` is for the
 * message. */
const export_lm_class *export_lm_class_of(const rapt_lm_config *c, const char *path, rapt_error *err);

#endif
