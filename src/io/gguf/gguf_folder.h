/* io/gguf/gguf_folder.h: a GGUF file as the Hugging Face folder from which it was made: its configuration and the names of its
 * tensors. For readers of such folders. gguf-py/gguf/constants.py in llama.cpp defines the keys; llama.cpp's conversion folder
 * makes them from Hugging Face models. */
#ifndef IO_GGUF_GGUF_FOLDER_H
#define IO_GGUF_GGUF_FOLDER_H

#include "io/hub/hub_family.h"
#include "text/gguf/gguf_tokenizer.h"

/* A key that only rapt writes: true if the feed-forward network of a GPT-NeoX has the GELU with tanh. */
#define GGUF_KEY_GELU_TANH "rapt.gelu_tanh"

/* The contents that config.json would have, owned by the caller; *places has the names of the file's tensors. NULL with `err`
 * set: a key is missing or not a number, an unknown key of the architecture, an unknown architecture. */
json_t *gguf_folder_config(const char *path, const place_table **places, rapt_error *err);

/* The text of a file of the folder, to be freed; NULL: the folder would not have it. */
rapt_code gguf_folder_text(const char *path, const char *name, char **text, rapt_error *err);

/* ---- architectures ------------------------------------------------------------------------------------------------- */

/* What a language model has besides what every architecture computes, one bit each, and the words for messages. */
#define GGUF_SETTINGS(X)                                                                    \
    X(RMS_NORM, "\"norm_kind\": \"rms\"")                                                   \
    X(POST_NORM, "\"norm_place\": \"post\"")                                                \
    X(OUTPUT_NORM, "norms of results in place of inputs")                                   \
    X(SANDWICH_NORM, "norms of inputs and results")                                         \
    X(ROTARY, "\"positions\": \"rotary\"")                                                  \
    X(PART_ROTARY, "heads of which a part is rotated")                                      \
    X(LINEAR_ROPE, "linearly scaled rotary positions")                                      \
    X(LLAMA3_ROPE, "rotary positions that are scaled as Llama 3's")                         \
    X(OTHER_ROPE, "rotary positions that are scaled by numbers in the file")                \
    X(UNROTATED, "other layers without positions")                                          \
    X(RELU_OR_SILU, "\"ffn_kind\": \"relu\" or \"silu\"")                                   \
    X(GELU, "\"ffn_kind\": \"gelu\"")                                                       \
    X(GELU_TANH, "\"ffn_kind\": \"gelu_tanh\"")                                             \
    X(SWIGLU, "\"ffn_kind\": \"swiglu\"")                                                   \
    X(GEGLU, "a feed-forward network of GEGLU")                                             \
    X(KV_HEADS, "fewer \"kv_heads\" than \"heads\"")                                        \
    X(HEAD_DIM, "heads whose features are not \"d_model\" together")                        \
    X(QKV_BIAS, "biases of queries, keys and values")                                       \
    X(O_BIAS, "a bias of attention's output")                                               \
    X(FFN_BIAS, "biases of the feed-forward network")                                       \
    X(QK_NORM_HEAD, "norms of each head's queries and keys")                                \
    X(QK_NORM_ALL, "norms of all queries and keys")                                         \
    X(WINDOW, "a sliding window that is shorter than the context")                          \
    X(PARALLEL, "parallel residual connections")                                            \
    X(SCALED_EMBEDDING, "\"scale_embedding\": true")                                        \
    X(FACTORS, "multipliers of embeddings, residual connections or logits")                 \
    X(SCORES_SCALE, "a factor of attention scores of its own")                              \
    X(CAPS, "capped attention scores or logits")                                            \
    X(OUTPUT_BIAS, "\"output_bias\": true")                                                 \
    X(UNTIED, "\"tied\": false")

enum {
#define GGUF_SETTING_NUMBER(name, text) GGUF_NUMBER_##name,
    GGUF_SETTINGS(GGUF_SETTING_NUMBER)
#undef GGUF_SETTING_NUMBER
    GGUF_SETTING_COUNT
};
enum {
#define GGUF_SETTING_BIT(name, text) GGUF_##name = 1 << GGUF_NUMBER_##name,
    GGUF_SETTINGS(GGUF_SETTING_BIT)
#undef GGUF_SETTING_BIT
    GGUF_ALL_BIASES = GGUF_QKV_BIAS | GGUF_O_BIAS | GGUF_FFN_BIAS
};

typedef struct gguf_config gguf_config;

/* An architecture, as it is read and written. */
typedef struct gguf_architecture {
    const char *name;         /* "general.architecture" */
    const hub_family *family; /* whose configuration it is, and which is written as it */
    const hub_family *other;  /* is written as it, too; or NULL */
    const place_table *places;
    void (*read)(gguf_config *c); /* makes members of config.json of the file's keys */
    unsigned needs, may;   /* written: settings that it always has, and settings that it may have; 0: it is only read */
    size_t unrotated_step; /* every N-th layer has no positions; 0: all have */
    size_t wide_layers;    /* a model of N layers divides scores by sqrt(d_model / heads), not sqrt(head_dim) */
} gguf_architecture;

/* gguf_architectures.c: by its name, or by a type of Hugging Face that is written as it; NULL: rapt does not know it. */
const gguf_architecture *gguf_architecture_of(const char *name);
const gguf_architecture *gguf_architecture_for(const char *type);
void gguf_architecture_list(char *text, size_t size); /* "llama, qwen2, ..." */

/* gguf_names.c */
extern const place_table GGUF_LLAMA_PLACES, GGUF_PLAIN_PLACES, GGUF_OLMO2_PLACES, GGUF_PHI3_PLACES, GGUF_GPT2_PLACES,
    GGUF_NEOX_PLACES, GGUF_STARCODER2_PLACES, GGUF_T5_PLACES;

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* A configuration that is being made. `code` is the first failure; afterwards the functions below do nothing. */
struct gguf_config {
    const gguf_file *file;
    const gguf_architecture *of;
    json_t *root;
    bool *seen; /* [value_count] */
    rapt_error *err;
    rapt_code code;
};

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
