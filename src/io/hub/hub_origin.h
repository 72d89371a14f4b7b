/* io/hub/hub_origin.h: what a Hugging Face folder has besides its tensors, kept with a model that was loaded from it whole: its
 * other files, and the tensor of each parameter. So a model that was trained further becomes such a folder again, even if the
 * first one is gone by then. For loading and saving. */
#ifndef IO_HUB_HUB_ORIGIN_H
#define IO_HUB_HUB_ORIGIN_H

#include "io/hub/hub_weights.h"
#include "io/model.h"

enum { HUB_ORIGIN_MAX = 24 };

/* Names of the files that are kept if a folder has them: configurations, tokenizers, licences; ended by NULL. */
extern const char *const HUB_ORIGIN_FILES[HUB_ORIGIN_MAX + 1];

typedef struct hub_file {
    char *data; /* NULL: there is no such file */
    size_t size;
} hub_file;

typedef struct hub_origin {
    place_model naming;
    const place_row **rows; /* row of each parameter's tensor; NULL: a buffer that is in no tensor */
    hub_file files[HUB_ORIGIN_MAX]; /* in the order of the names */
} hub_origin;

/* hub_fill for a model whose parameters exist. If it is not for inference, also sets m->origin, and freezes what is a buffer in
 * transformers (final_logits_bias). */
rapt_code hub_origin_fill(rapt_model *m, const place_model *of, const weights *w, const model_source *from, rapt_error *err);
/* A hub_origin, or NULL. */
void hub_origin_free(void *origin);

/* Adds what identifies the model in checkpoints to a JSON object: its type, and a hash of config.json. */
rapt_code hub_origin_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);

#endif
