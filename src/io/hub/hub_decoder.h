/* io/hub/hub_decoder.h: what the configurations of decoders have in common. For the files of families. */
#ifndef IO_HUB_HUB_DECODER_H
#define IO_HUB_HUB_DECODER_H

#include "io/hub/hub_family.h"
#include "io/hub/hub_rope.h"

/* Defaults of a class, where a key is missing. */
typedef struct hub_decoder_class {
    size_t context;
    size_t kv_heads; /* 0: as many as heads, which null means in any class */
    size_t head_dim; /* 0: hidden_size / num_attention_heads */
    double eps;
    hub_rope_class rope;
    bool tied;
} hub_decoder_class;

/* Reads the keys of Llama and its kin, but for biases: pre-norm blocks with RMS norms, SwiGLU and rotary positions. */
void hub_decoder_read(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of);
/* GELU in its forms, or ReLU. */
rapt_ffn_kind hub_decoder_activation(hub_config *c, const char *key, const char *otherwise);
/* Refuses "layer_types" but full attention in all layers. */
void hub_decoder_full_attention(hub_config *c, const rapt_lm_config *k);
/* Puts a layer into a set; refuses one behind RAPT_LAYER_SET_MAX, naming the key that asks for it. */
void hub_decoder_add_layer(hub_config *c, rapt_layer_set *set, size_t layer, const char *key);

#endif
