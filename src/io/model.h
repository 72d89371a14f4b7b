/* io/model.h: the inside of model folders: what each task puts into one, and what the tasks have in common.
 * For model.c, the tasks, and programs that tell of a model; the table of a task's members is in its own file. */
#ifndef IO_MODEL_H
#define IO_MODEL_H

#include "io/config_json.h"
#include "rapt/io.h"

/* What is different about the folders of a task. */
typedef struct model_task {
    const char *what;    /* "a language model" */
    const char *program; /* what runs it */
    /* Adds all that config.json holds but format, version and task; refuses what `load` would refuse. */
    rapt_code (*describe)(const rapt_model *m, json_t *root, const char *path, rapt_error *err);
    rapt_code (*save_tokenizers)(const rapt_model *m, const char *folder, rapt_error *err);
    /* Fills an empty model. `path` is that of config.json. */
    rapt_code (*load)(rapt_model *m, const json_t *root, const char *path, const char *folder, rapt_error *err);
} model_task;

extern const model_task model_translation, model_language_model;

/* Adds all that config.json holds. `path` is for messages. */
rapt_code model_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);

/* How a model names a tokenizer. */
void model_hash(const rapt_tokenizer *k, char text[CONFIG_HASH_TEXT]);
rapt_code model_save_tokenizer(const rapt_tokenizer *k, const char *folder, const char *name, rapt_error *err);

/* What a model asks of a tokenizer. */
typedef struct model_vocabulary {
    size_t entries;
    bool at_least; /* the tokenizer may have more */
    const char *hash;
} model_vocabulary;

/* Whether a tokenizer has entries enough; `path` is for the message. */
rapt_code model_check_entries(const rapt_tokenizer *k, const model_vocabulary *wanted, const char *path, rapt_error *err);
/* NULL with `err` set: not readable, of another size, or another one than the model was trained with. */
rapt_tokenizer *model_load_tokenizer(const char *folder, const char *name, const model_vocabulary *wanted, rapt_error *err);

/* The path of the folder's parameters, which the caller frees, if that file holds `least` bytes or more: a damaged
 * configuration must not cost memory for a model that the file can't hold. */
char *model_weights(const char *folder, double least, rapt_error *err);

#endif
