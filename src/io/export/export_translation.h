/* io/export/export_translation.h: the class of Hugging Face transformers that computes what a translator of rapt computes, and
 * its config.json. For the writer of such folders. */
#ifndef IO_EXPORT_EXPORT_TRANSLATION_H
#define IO_EXPORT_EXPORT_TRANSLATION_H

#include "io/export/export_tensors.h"
#include "rapt/io.h"

#include <jansson.h>

typedef struct export_translation_class {
    const char *architecture, *type;
    bool pre; /* norms come before the sublayers */
} export_translation_class;

/* NULL with `err` set: no class computes such a model (RAPT_ERR_VALUE, naming a setting of config.json). `path` is for the
 * message. */
const export_translation_class *export_translation_class_of(const rapt_transformer_config *c, const char *path, rapt_error *err);

/* The order of features that the classes' positions ask for, all sines before all cosines, to be freed; NULL: out of memory. */
size_t *export_translation_order(size_t features);
/* Adds the tensors to a set that was begun; set->order is the order of features. */
rapt_code export_translation_add(export_tensors *set, const rapt_transformer_config *c, rapt_error *err);

/* The contents of config.json and of generation_config.json; NULL: out of memory. */
json_t *export_translation_config(const rapt_translation_model *m, const export_translation_class *of);
json_t *export_translation_generation(const rapt_translation_model *m);

#endif
