/* io/export/export_class.h: the class of Hugging Face transformers that computes what a model of rapt computes, and its
 * config.json. For export_hf.c. */
#ifndef IO_EXPORT_EXPORT_CLASS_H
#define IO_EXPORT_EXPORT_CLASS_H

#include "rapt/io.h"
#include "rapt/nn.h"

#include "io/hub/hub_family.h"
#include "io/place/place_tensors.h"

#include <jansson.h>

/* ---- export_lm.c: language models. */

typedef struct export_lm_class {
    const hub_family *family; /* its names and its tensors */
    json_t *(*describe)(const rapt_lm_config *c); /* the members that only this class has; NULL: out of memory */
} export_lm_class;

/* NULL with `err` set: no class computes such a model (RAPT_ERR_VALUE, naming a setting of config.json). `path` is for the
 * message. */
const export_lm_class *export_lm_class_of(const rapt_lm_config *c, const char *path, rapt_error *err);

/* ---- export_translation.c: translators. */

/* NULL with `err` set: no class computes such a model (RAPT_ERR_VALUE, naming a setting of config.json). `path` is for the
 * message. */
const hub_family *export_translation_class_of(const rapt_transformer_config *c, const char *path, rapt_error *err);

/* The order of features that the classes' positions ask for, all sines before all cosines, to be freed; NULL: out of memory. */
size_t *export_translation_order(size_t features);
/* Adds the tensors to a set that was begun, in this order of features. */
void export_translation_add(place_tensors *set, const size_t *order);

/* The contents of config.json and of generation_config.json; NULL: out of memory. */
json_t *export_translation_config(const rapt_translation_model *m, const hub_family *of);
json_t *export_translation_generation(const rapt_translation_model *m);

/* ---- the names of activations in transformers. For its classes' configurations. */

static inline const char *export_activation(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_RELU: return "relu";
    case RAPT_FFN_GELU: return "gelu";
    case RAPT_FFN_GELU_TANH: return "gelu_new";
    case RAPT_FFN_SILU:
    case RAPT_FFN_SWIGLU:            /* of its gate */
    case RAPT_FFN_GEGLU_TANH: break; /* not ours (config_block_check_ours) */
    }
    return "silu";
}

#endif
