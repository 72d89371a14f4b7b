/* io/lora/model_lora.h: models of which only the low-rank adapters are trained. Their folders are PEFT's: adapter_config.json and
 * adapter_model.safetensors. For saving and checkpoints. */
#ifndef IO_LORA_MODEL_LORA_H
#define IO_LORA_MODEL_LORA_H

#include "rapt/io.h"

#include "io/adapter/adapter_pattern.h"
#include "io/place/place.h"

#include <jansson.h>

struct hub_origin;

/* ---- lora_modules.c: the linear layers of a model's blocks under their names in its files: modules, for which adapters are
 * trained. One matrix of a Hugging Face folder may be several layers in rapt, such as query, key and value; it is one module. For
 * model_lora.c. */

enum { LORA_PARTS = 3 };

typedef struct lora_module {
    char name[PLACE_NAME];            /* "transformer.h.0.attn.c_attn" */
    rapt_linear *layers[LORA_PARTS];
    place_slice rows[LORA_PARTS];     /* the rows of a layer within the module's matrix; w and t are not set */
    size_t count;                   /* of layers */
    size_t out;                     /* rows of the module's matrix */
    bool transposed;                /* the files have the matrix as [in, out] */
    bool chosen;                    /* for an adapter */
    size_t rank;                    /* of the adapter of a chosen one */
} lora_module;

typedef struct lora_modules {
    lora_module *list; /* in the order of the blocks */
    size_t count, capacity;
} lora_modules;

/* Fills an empty list, which lora_modules_free frees, even after a failure (RAPT_ERR_MEMORY). */
rapt_code lora_modules_find(lora_modules *all, const rapt_model *m, rapt_error *err);
void lora_modules_free(lora_modules *all);

/* Chooses modules by comma-separated names: whole names, or ends of names after a dot, as PEFT matches "target_modules"; so
 * "c_proj" is two layers of each block of GPT-2. NULL, "" and "all": all modules. RAPT_ERR_VALUE: no module has a name; the
 * message lists the ends of the existing names. */
rapt_code lora_modules_choose(lora_modules *all, const char *names, rapt_error *err);

/* "target_modules" for the chosen modules: ends of names that no other module has. NULL: out of memory. */
json_t *lora_modules_targets(const lora_modules *all);

/* The beginning of the component of a name that ends before `end`: "k" in "attention.k". */
const char *lora_part_before(const char *name, const char *end);

/* Whether the module is one layer with the rows of its matrix in the same order. */
bool lora_module_is_whole(const lora_module *m);

/* Sets the name, the rows and the direction that the files have for a matrix; `o` NULL: a model of rapt. */
void lora_describe_matrix(const struct hub_origin *o, const rapt_param *weight, lora_module *m, place_slice *rows);
/* Whether the first `size` letters of `end` are the name, or its end after a dot. */
bool lora_name_ends(const char *name, const char *end, size_t size);

/* ---- lora_whole.c: matrices that are trained beside the adapters and saved whole. For model_lora.c. */

enum { LORA_WHOLE_MAX = 2 };

typedef struct lora_whole {
    char names[LORA_WHOLE_MAX][PLACE_NAME]; /* of their modules in the files: "lm_head" */
    rapt_param *matrices[LORA_WHOLE_MAX];
    size_t count;
} lora_whole;

/* Chooses among a language model's embedding and its output matrix by comma-separated names: whole names, or ends of names after
 * a dot. If both are one matrix, each name chooses both, as with PEFT's "ensure_weight_tying". NULL and "": none. RAPT_ERR_VALUE:
 * there is no such matrix, or it has another form in the files. */
rapt_code lora_whole_choose(lora_whole *w, const rapt_model *m, const char *names, rapt_error *err);
/* Whether both are one matrix. */
bool lora_whole_is_tied(const lora_whole *w);
bool lora_whole_has(const lora_whole *w, const rapt_param *p);
/* "modules_to_save": the ends of their names, or null. NULL: out of memory. */
json_t *lora_whole_json(const lora_whole *w);

/* ---- model_lora.c: the model */

/* The struct that rapt_model.lora points to. */
typedef struct lora_setup {
    rapt_lora_options o; /* alpha is not 0 */
    char *base;
    adapter_patterns ranks, alphas;
    lora_whole whole;
    lora_modules modules; /* all that the model has; those that are chosen have adapters */
} lora_setup;

/* Adds the members of adapter_config.json to a JSON object. `path` is for messages. */
rapt_code lora_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);
/* Frees rapt_model.lora; NULL is fine. */
void lora_free(void *lora);

#endif
