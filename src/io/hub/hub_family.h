/* io/hub/hub_family.h: the model types of Hugging Face: how config.json becomes rapt's configuration, and the names of tensors.
 * For hub_model.c; a new type is a row of hub_family.c, and a hub_family in the file of similar models. */
#ifndef IO_HUB_HUB_FAMILY_H
#define IO_HUB_HUB_FAMILY_H

#include "io/hub/hub_config.h"
#include "rapt/lm.h"

/* The part of a tensor that is a parameter: all of it, or rows of matrices that are stored one after the other. */
typedef enum hub_part {
    HUB_WHOLE,
    HUB_QUERY,
    HUB_KEY,
    HUB_VALUE,
    HUB_FIRST_HALF,
    HUB_SECOND_HALF,
    HUB_HEAD_QUERY, /* rows of queries in [heads, 3, features] */
    HUB_HEAD_KEY,
    HUB_HEAD_VALUE,
    HUB_ONE_ROW, /* a vector that is stored as a matrix of one row; zeros if it is missing */
    HUB_BEHIND_TWO /* all rows except the first two */
} hub_part;

/* How its values are changed. */
typedef enum hub_fold {
    HUB_PLAIN,
    HUB_TRANSPOSED, /* weights are [in, out], as GPT-2's Conv1D has them */
    HUB_PLUS_ONE,   /* the norm multiplies by 1 + weight */
    HUB_ROTARY,     /* rows are features of heads, of which the first are rotated, in other pairs than rapt's */
    HUB_INTERLEAVED /* rows are features of heads, rotated in pairs of adjacent features, as in GGUF files of Llama */
} hub_fold;

/* Patterns of names: "#" is the number of a layer, "@" is "weight" or "bias". A whole tensor belongs to the first row with its
 * name whose parameter the model has. A parameter is read from the first of its rows' tensors that is in the files; the others
 * must be copies. */
typedef struct hub_name {
    const char *ours, *theirs;
    hub_part part;
    hub_fold fold;
} hub_name;

/* The names of tensors in files of another program. */
typedef struct hub_layout {
    const hub_name *names;     /* {0} ends them */
    const char *const *unused; /* patterns of tensors that hold no parameters; NULL ends them */
} hub_layout;

typedef struct hub_family {
    const char *type;         /* "model_type" */
    const char *architecture; /* the class in "architectures" that is read; for an encoder, the beginning of its classes */
    const char *prefix;       /* prefix of their names, except "lm_head."; files of a model without a head lack it */
    const hub_name *names;     /* {0} ends them */
    const char *const *unused; /* patterns of tensors that hold no parameters; NULL ends them */
    int32_t end_of_text; /* default of the class if no file names one; -1: none */
    void (*read)(hub_config *c, rapt_lm_config *k);               /* NULL: not a language model */
    void (*read_pair)(hub_config *c, rapt_transformer_config *k); /* NULL: not an encoder-decoder */
    void (*read_encoder)(hub_config *c, rapt_transformer_config *k); /* NULL: not an encoder alone */
    bool skips_padding; /* encoder: token 1 is padding, and takes no position in a text */
    bool tied_by_files; /* the output matrix is the embedding unless the files have both, with other values */
} hub_family;

extern const hub_family HUB_GPT2, HUB_LLAMA, HUB_MISTRAL, HUB_QWEN2, HUB_QWEN3, HUB_SMOLLM3, HUB_GRANITE,
    HUB_OLMO2, HUB_NEOX, HUB_GEMMA, HUB_GEMMA2, HUB_GEMMA3, HUB_PHI3;
extern const hub_family HUB_MARIAN, HUB_PEGASUS, HUB_BART, HUB_MBART, HUB_M2M_100, HUB_T5, HUB_MT5, HUB_UMT5;
extern const hub_family HUB_BERT, HUB_ROBERTA, HUB_XLM_ROBERTA, HUB_DISTILBERT;

/* Whether a class of "architectures" has the encoder of the family, without a head for a task of its own. */
bool hub_encoder_is_class(const hub_family *family, const char *name);

/* The activation of a dense layer that a key names, or `otherwise` if it is missing: SiLU, GELU in its forms, or ReLU. */
rapt_ffn_kind hub_activation(hub_config *c, const char *key, const char *otherwise);

/* Whether rapt trains models of a type: losses of such runs are compared with the reference's. */
bool hub_family_trains(const char *type);
/* "gpt2, llama, ..." */
const char *hub_family_trained(void);
/* NULL: rapt does not know the type. */
const hub_family *hub_family_of(const char *type);
/* "gpt2, llama, ..." */
void hub_family_list(char *text, size_t size);

#endif
