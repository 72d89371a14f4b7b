/* io/gguf/gguf_folder.h: a GGUF file as the Hugging Face folder from which it was made: its configuration and the names of its
 * tensors. For readers of such folders. gguf-py/gguf/constants.py in llama.cpp defines the keys; llama.cpp's conversion folder
 * makes them from Hugging Face models. */
#ifndef IO_GGUF_GGUF_FOLDER_H
#define IO_GGUF_GGUF_FOLDER_H

#include "io/hub/hub_family.h"
#include "text/gguf/gguf_tokenizer.h"

/* A key that only rapt writes: true if the feed-forward network of a GPT-NeoX has the GELU with tanh. */
#define GGUF_KEY_GELU_TANH "rapt.gelu_tanh"

/* The contents that config.json would have, owned by the caller; *layout has the names of the file's tensors. NULL with `err`
 * set: a key is missing or not a number, an unknown key of the architecture, an unknown architecture. */
json_t *gguf_folder_config(const char *path, const hub_layout **layout, rapt_error *err);

/* The text of a file of the folder, to be freed; NULL: the folder would not have it. */
rapt_code gguf_folder_text(const char *path, const char *name, char **text, rapt_error *err);

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* A configuration that is being made. `code` is the first failure; afterwards the functions below do nothing. */
typedef struct gguf_config {
    const gguf_file *file;
    const char *architecture;
    json_t *root;
    bool *seen; /* [value_count] */
    rapt_error *err;
    rapt_code code;
} gguf_config;

typedef struct gguf_architecture {
    const char *name;         /* "general.architecture" */
    const hub_family *family; /* whose configuration it is */
    const hub_layout *layout;
    void (*read)(gguf_config *c);
} gguf_architecture;

/* gguf_architectures.c; NULL: rapt does not know it. "llama, qwen2, ..." */
const gguf_architecture *gguf_architecture_of(const char *name);
void gguf_architecture_list(char *text, size_t size);

/* gguf_names.c */
extern const hub_layout GGUF_LLAMA_NAMES, GGUF_PLAIN_NAMES, GGUF_GPT2_NAMES, GGUF_NEOX_NAMES, GGUF_GEMMA2_NAMES, GGUF_PHI3_NAMES,
    GGUF_OLMO2_NAMES, GGUF_T5_NAMES;

/* gguf_config.c: the value of a key "ARCHITECTURE.KEY", which counts as seen; NULL: there is none. */
const gguf_value *gguf_config_value(gguf_config *c, const char *key);
/* A whole number; if the value is a list, all elements must be equal. 0: it is missing, which `needed` refuses. */
size_t gguf_config_size(gguf_config *c, const char *key, bool needed);
/* A number, as the shortest decimal that is the same in fp32, which was the original; `otherwise` if it is missing. */
double gguf_config_real(gguf_config *c, const char *key, double otherwise);
bool gguf_config_flag(gguf_config *c, const char *key, bool otherwise);
/* RAPT_ERR_FORMAT, "PATH: REASON" */
void gguf_config_refuse(gguf_config *c, const char *reason);

/* Members of config.json. `value` is taken, NULL: memory ended. */
void gguf_config_put(gguf_config *c, const char *member, json_t *value);
void gguf_config_put_size(gguf_config *c, const char *member, const char *key);
void gguf_config_put_real(gguf_config *c, const char *member, const char *key); /* unless it is missing */
bool gguf_config_has(const gguf_config *c, const char *tensor);

/* gguf_rope.c: "rope_parameters" of a model whose heads have this many features. */
void gguf_config_put_rope(gguf_config *c, size_t head_dim);
/* The numbers of an fp32 tensor as a list; NULL: there is no such tensor. */
json_t *gguf_config_numbers(gguf_config *c, const char *tensor);

#endif
