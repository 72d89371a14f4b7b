/* io/hub/hub_model.h: Hugging Face folders as models: config.json, the tensors, the tokenizer. For model.c. */
#ifndef IO_HUB_HUB_MODEL_H
#define IO_HUB_HUB_MODEL_H

#include "io/model.h"
#include "io/weights/weights.h"

/* Whether a config.json is one of Hugging Face: it names a "model_type", and not our format. */
bool hub_model_is(const json_t *config);

/* A model that config.json describes. */
typedef struct hub_summary {
    const char *program;  /* the command that runs it: "rapt translate"; NULL if the type is unknown */
    rapt_model *model;    /* the model without elements of its parameters, owned; NULL: rapt does not run it, or there is no
                             folder */
    double weights[4];    /* bytes that inference holds, by rapt_type */
    bool rounds_anew;     /* some blocks of the file have no kernels of their own, and are rounded to other integers for
                             products */
    bool unheeded[2];     /* tokenizer_config.json has an "add_bos_token", "add_eos_token" that tokenizer.json does not follow */
    rapt_kv_sizes kv;     /* for one text; zeroed unless it is a language model */
} hub_summary;

/* Whether rapt computes what config.json describes, decodes as the folder says, and reads its tokenizer, and whether the folder's
 * tensors `w` have the names, types and shapes of the model. A failure says what does not fit. Reads no values except an output
 * matrix to compare. Without a folder only config.json is checked, and `w` is NULL. */
rapt_code hub_model_check(const model_source *from, const weights *w, hub_summary *summary, rapt_error *err);

/* Fills an empty model from the folder, whose config.json is read. RAPT_ERR_VALUE: a type that rapt does not run, or another task
 * than `wanted`. */
rapt_code hub_model_load(rapt_model *m, const model_source *from, rapt_task wanted, rapt_error *err);

#endif
