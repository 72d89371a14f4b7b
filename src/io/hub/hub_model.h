/* io/hub/hub_model.h: Hugging Face folders as models: config.json, the tensors, the tokenizer. For model.c. */
#ifndef IO_HUB_HUB_MODEL_H
#define IO_HUB_HUB_MODEL_H

#include "io/model.h"
#include "io/weights/weights.h"

/* Whether a config.json is one of Hugging Face: it names a "model_type", and not our format. */
bool hub_model_is(const json_t *config);

/* A model that config.json describes. */
typedef struct hub_summary {
    const char *program;  /* what runs it: "rapt translate"; NULL where the type is not known */
    rapt_model *model;    /* all but the elements of its parameters, to be freed; NULL: it is not run, or there is no folder */
    double weights[4];    /* bytes that inference holds, by rapt_precision */
    bool rounds_anew;     /* products are made of other integers than a file stores: of blocks without kernels of their own */
    bool unheeded[2];     /* tokenizer_config.json has an "add_bos_token", "add_eos_token" that tokenizer.json does not follow */
    rapt_kv_sizes kv;     /* of one text, zeroed for another model than a language model */
} hub_summary;

/* Whether rapt computes what config.json describes, decodes as the folder says, and reads its tokenizer, and whether the folder's
 * tensors `w` have the names, types and shapes of the model's; the failure says what does not fit. No values are read, but for an
 * output matrix to compare. Without a folder config.json is all that counts, and `w` is NULL. */
rapt_code hub_model_check(const model_source *from, const weights *w, hub_summary *summary, rapt_error *err);

/* Fills an empty model from the folder, whose config.json is read. RAPT_ERR_VALUE: a type that rapt does not run, or another task
 * than `wanted`, NULL for any. */
rapt_code hub_model_load(rapt_model *m, const model_source *from, const rapt_task *wanted, rapt_error *err);

#endif
