/* io/hub/hub_family.h: the model types of Hugging Face: how config.json becomes rapt's configuration, and the places of tensors.
 * For hub_model.c; a new type is a row of hub_family.c, and a hub_family in the file of similar models. */
#ifndef IO_HUB_HUB_FAMILY_H
#define IO_HUB_HUB_FAMILY_H

#include "io/hub/hub_config.h"
#include "io/place/place.h"
#include "rapt/lm.h"

typedef struct hub_family {
    const char *type;         /* "model_type" */
    const char *architecture; /* the class in "architectures" that is read; for an encoder, the beginning of its classes */
    const place_table *places;     /* its tensors */
    bool trains;         /* rapt trains it: losses of such runs are compared with the reference's */
    int32_t end_of_text; /* default of the class if no file names one; -1: none */
    void (*read)(hub_config *c, rapt_lm_config *k);               /* NULL: not a language model */
    void (*read_pair)(hub_config *c, rapt_transformer_config *k); /* NULL: not an encoder-decoder */
    void (*read_encoder)(hub_config *c, rapt_transformer_config *k); /* NULL: not an encoder alone */
    bool scores;        /* encoder: its ForSequenceClassification is run, as a cross-encoder */
    bool skips_padding; /* encoder: token 1 is padding, and takes no position in a text */
    bool tied_by_files; /* the output matrix is the embedding unless the files have both, with other values */
} hub_family;

extern const hub_family HUB_GPT2, HUB_LLAMA, HUB_MISTRAL, HUB_QWEN2, HUB_QWEN3, HUB_SMOLLM3, HUB_GRANITE,
    HUB_OLMO2, HUB_NEOX, HUB_GEMMA, HUB_GEMMA2, HUB_GEMMA3, HUB_PHI3, HUB_STARCODER2, HUB_BLOOM, HUB_MPT;
extern const hub_family HUB_GPT; /* of which rapt's models are written, but none is read: not in hub_family_of */
extern const hub_family HUB_MARIAN, HUB_PEGASUS, HUB_BART, HUB_MBART, HUB_M2M_100, HUB_T5, HUB_MT5, HUB_UMT5;
extern const hub_family HUB_BERT, HUB_ROBERTA, HUB_XLM_ROBERTA, HUB_DISTILBERT;

/* Whether a class of "architectures" has the encoder of the family, without a head for a task of its own. */
bool hub_encoder_is_class(const hub_family *family, const char *name);
/* Whether the class that config.json names is a cross-encoder of the family: the encoder with a head that scores a text. */
bool hub_is_cross_encoder(const hub_family *family, const json_t *config);
/* Reads the keys of a cross-encoder: the labels, of which rapt has one, into *k, and how its score is computed. */
void hub_read_cross_encoder(hub_config *c, rapt_transformer_config *k, bool *sigmoid);
/* Reads the name of an activation function, "torch.nn.modules.linear.Identity"; a missing key changes nothing. */
void hub_read_activation(hub_config *c, const char *key, bool *sigmoid);

/* The activation of a dense layer that a key names, or `otherwise` if it is missing: SiLU, GELU in its forms, or ReLU. */
rapt_ffn_kind hub_activation(hub_config *c, const char *key, const char *otherwise);

/* NULL: rapt does not know the type. */
const hub_family *hub_family_of(const char *type);
/* "gpt2, llama, ...": all types, or those that rapt trains. */
typedef struct hub_type_list {
    char text[1024];
} hub_type_list;
hub_type_list hub_family_list(bool trained);

#endif
