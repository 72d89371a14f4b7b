/* io/model.h: model folders: what each task stores, and what the tasks share. For model.c, the tasks, and commands that describe
 * a model; each task's file has the table of its members. */
#ifndef IO_MODEL_H
#define IO_MODEL_H

#include "base/stop.h"
#include "io/adapter/adapter.h"
#include "io/config_json.h"
#include "io/params_file.h"
#include "io/safetensors.h"
#include "io/model_core.h"

#define MODEL_RUN "run" /* the member that names the training run */
#define MODEL_WEIGHTS_FILE "model.safetensors"

/* A folder that is being read, or a GGUF file, which is read as a Hugging Face folder. */
typedef struct model_source {
    const char *folder;
    char *config_path, *weights_path;
    json_t *config;
    safetensors *weights;
    bool inference; /* matrices stay in the files: all of a Hugging Face folder; of rapt's own, those in fewer bits, and all of
                       models whose translator packs them */
    bool held;      /* the same, for the base of adapters that are trained */
    bool packs;     /* a model of such a task; set when the task is known */
    const struct place_table *places; /* GGUF file: the names of its tensors; NULL: the family's names */
    adapter *add; /* to the matrices, or NULL */
    bool sealing; /* seal and hashes are not checked: the folder is being sealed again */
    stop_check stop; /* asked before each parameter */
} model_source;

static inline bool model_source_stays(const model_source *from)
{
    return from->inference || from->held;
}

/* The properties of a task's folders. */
typedef struct model_task {
    const char *what;    /* "a language model" */
    const char *program; /* the command that runs it */
    /* Adds the task's own members of config.json to a JSON object; refuses models that `load` would refuse. */
    rapt_code (*describe)(const rapt_model *m, json_t *root, const char *path, rapt_error *err);
    rapt_code (*save_tokenizers)(const rapt_model *m, const char *folder, rapt_error *err);
    rapt_code (*load)(rapt_model *m, const model_source *from, rapt_error *err); /* fills an empty model */
} model_task;

extern const model_task model_translation, model_language_model, model_encoder, model_cross_encoder;

const model_task *model_task_of(rapt_task task);

/* Adds all that config.json holds to a JSON object. `path` is for messages. */
rapt_code model_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);

/* Reads the task, and the training run of the model (0 if config.json names none). Other formats and newer versions are
 * refused. */
rapt_code model_read_header(const json_t *root, const char *path, rapt_task *task, uint64_t *run, rapt_error *err);

/* The name of the file of its parameters: model.safetensors, or adapter_model.safetensors. */
const char *model_weights_name(const rapt_model *m);

/* Refuses a folder whose config.json, if there is one, says otherwise than the model: see seal_check_config. */
rapt_code model_check_folder(const rapt_model *m, const char *folder, rapt_error *err);

/* The file with the chat template of a language model, if it has one. */
#define MODEL_CHAT_TEMPLATE "chat_template.jinja"

/* Sets the end-of-text tokens of a language model whose tokenizer and network are set: <|endoftext|> and <|im_end|>, if they are
 * in the vocabulary. */
void model_default_end_of_text(rapt_model *m);
/* The token that ends a reply of a language model where no chat template does: the tokenizer's "eos_token", as in TRL, or the
 * first end of text; -1: it has none. */
int32_t model_end_of_reply(const rapt_model *m);

/* The hash by which config.json names a tokenizer, in hexadecimal digits. */
void model_hash(const rapt_tokenizer *k, char text[CONFIG_HASH_TEXT]);
rapt_code model_save_tokenizer(const rapt_tokenizer *k, const char *folder, const char *name, rapt_error *err);

/* What a model requires of a tokenizer. */
typedef struct model_vocabulary {
    size_t entries;
    bool at_least; /* the tokenizer may have more */
    const char *hash;
} model_vocabulary;

/* RAPT_ERR_FORMAT if the number of entries of a tokenizer is not what the model needs; `path` is for the message. */
rapt_code model_check_entries(const rapt_tokenizer *k, const model_vocabulary *wanted, const char *path, rapt_error *err);
/* NULL with `err` set: it cannot be read, has another size, or is not the tokenizer with which the model was trained. */
rapt_tokenizer *model_load_tokenizer(const model_source *from, const char *name, const model_vocabulary *wanted,
                                     rapt_error *err);

/* Which matrices stay in rapt's own parameter file: matrices in blocks always, others in a model for inference. */
params_staying model_stays(const model_source *from);
/* The seed of the parameters that params_fill fills: if some stay in the file, matrices have no values of their own. */
uint64_t model_seed(const model_source *from);

/* Refuses a parameter file of less than `min_bytes` (or if it stores fewer bits, of less than that in the smallest blocks), so
 * that a damaged configuration does not allocate a model that the file cannot hold. */
rapt_code model_check_weights(const model_source *from, double min_bytes, rapt_error *err);

#endif
