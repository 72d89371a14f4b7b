/* rapt/io.h: model folders: `config.json`, `model.safetensors`, and the tokenizers: `source.tokenizer.json` and
 * `target.tokenizer.json` of a translation model, `tokenizer.json` of a language model.
 *
 * PyTorch's safetensors reader opens `model.safetensors` as it is; linear weights are [out, in] as nn.Linear has them.
 */
#ifndef RAPT_IO_H
#define RAPT_IO_H

#include "rapt/lm.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_FORMAT_VERSION 1 /* of model folders; readers refuse newer ones */

typedef enum rapt_task { RAPT_TRANSLATION, RAPT_LANGUAGE_MODEL } rapt_task;

/* A model with all it needs; what the task doesn't use is NULL. All of it is owned. */
typedef struct rapt_model {
    rapt_task task;
    rapt_params *params;              /* of net or lm */
    /* translation */
    rapt_transformer *net;
    rapt_tokenizer *source, *target;  /* the same object in a model with one vocabulary */
    size_t max_len;                   /* tokens of a source sentence that it was trained for, <eos> included */
    bool pad_to_max;                  /* trained on rows of max_len tokens (the book): translations stop there */
    bool by_sentence;                 /* trained on single sentences: lines of several are translated one by one */
    rapt_language detokenize;         /* translations are words that are put together as in this language */
    bool capitalize;                  /* they have small letters, and get capitals where sentences begin */
    /* language model */
    rapt_lm *lm;
    rapt_tokenizer *tokenizer;        /* may have more ids than the model: see rapt_lm_config.vocab */
} rapt_model;

/* Reads a folder. NULL with `err` set: missing, truncated or corrupt files, a tokenizer that doesn't fit. Files of numbers, here
 * and in rapt_params_load, are mapped while they are read: they must not be written over meanwhile. Another file may take their
 * place, as it does where rapt writes one. */
rapt_model *rapt_model_load(const char *folder, rapt_error *err);
/* The same, for one task only: a model of another one is refused with a word on what it is ("models/gpt is a language
 * model; rapt generate runs it"). */
rapt_model *rapt_model_load_task(const char *folder, rapt_task task, rapt_error *err);
void rapt_model_free(rapt_model *m);

/* Writes a folder that rapt_model_load reads, and makes it if need be. */
rapt_code rapt_model_save(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes config.json and the tokenizers into a folder that exists. */
rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes the parameters, and the buffers that are not transient, as a safetensors file. Atomic. */
rapt_code rapt_params_save(const rapt_params *set, const char *path, rapt_error *err);
/* Fills every parameter from a file; sizes and names must fit, none may be missing or left over. */
rapt_code rapt_params_load(rapt_params *set, const char *path, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
