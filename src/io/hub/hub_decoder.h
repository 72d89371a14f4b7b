/* io/hub/hub_decoder.h: keys that the configurations of decoders share, rotary positions among them. For the files of
 * families. */
#ifndef IO_HUB_HUB_DECODER_H
#define IO_HUB_HUB_DECODER_H

#include "rapt/lm.h"

#include "io/hub/hub_config.h"
#include "io/hub/hub_family.h"

/* ---- hub_rope.c: rotary positions in config.json, of transformers 4 ("rope_theta", "rope_scaling") and 5
 * ("rope_parameters"). */

/* The properties of a model's class. */
typedef struct hub_rope_class {
    double theta;          /* the base if no key has one */
    const char *theta_key; /* key of the base; NULL: "rope_theta" */
    const char *share_key; /* key of the share of a head's features that is rotated; NULL: all are */
    double share;          /* the share if no key has one */
    size_t original;       /* used if "original_max_position_embeddings" outside the object is missing; 0: the one inside
                              counts */
    bool long_alone;       /* scaled positions are longrope, whose older names are "su" and "yarn" (Phi-3) */
} hub_rope_class;

/* The key that has the settings, "rope_scaling" or "rope_parameters", for messages. */
const char *hub_rope_key(const hub_config *c);

/* Reads the base, the scaling and how many features are turned into `k`, whose heads are read already. Refuses types and keys
 * that it does not know. */
void hub_rope(hub_config *c, const hub_rope_class *of, rapt_lm_config *k);
/* Reads settings in which layers with a window have their own base (`theta` if no key has one) and no scaling: of transformers 4
 * ("rope_local_base_freq") and 5 (an object for each type of layer). */
void hub_rope_by_layer(hub_config *c, const hub_rope_class *of, double theta, rapt_lm_config *k);

/* ---- hub_decoder.c: keys, and rows of tensors */

/* Rows of Llama and its kin; `norms`: how the weights of norms are stored. */
#define HUB_DECODER_EMBEDDING {"embedding.weight", "embed_tokens.weight"}
#define HUB_DECODER_INPUT_NORM(norms) {"blocks.#.norm1.weight", "layers.#.input_layernorm.weight", norms}
#define HUB_DECODER_QKV \
    {"blocks.#.attention.q.@", "layers.#.self_attn.q_proj.@"}, \
    {"blocks.#.attention.k.@", "layers.#.self_attn.k_proj.@"}, \
    {"blocks.#.attention.v.@", "layers.#.self_attn.v_proj.@"}
#define HUB_DECODER_QK_NORMS(norms) \
    {"blocks.#.attention.q_norm.weight", "layers.#.self_attn.q_norm.weight", norms}, \
    {"blocks.#.attention.k_norm.weight", "layers.#.self_attn.k_norm.weight", norms}
#define HUB_DECODER_O {"blocks.#.attention.o.@", "layers.#.self_attn.o_proj.@"}
#define HUB_DECODER_SECOND_NORM(ours, norms) {ours, "layers.#.post_attention_layernorm.weight", norms}
#define HUB_DECODER_GATE_AND_UP \
    {"blocks.#.ffn.gate.@", "layers.#.mlp.gate_proj.@"}, \
    {"blocks.#.ffn.up.@", "layers.#.mlp.up_proj.@"}
#define HUB_DECODER_DOWN {"blocks.#.ffn.down.@", "layers.#.mlp.down_proj.@"}
#define HUB_DECODER_LAST_NORM(ours, norms) {ours, "layers.#.post_feedforward_layernorm.weight", norms}
#define HUB_DECODER_END(norms) \
    {"norm.weight", "norm.weight", norms}, \
    {"output.weight", "/lm_head.weight"}, \
    {"embedding.weight", "/lm_head.weight"}
#define HUB_DECODER_UNUSED "layers.#.self_attn.rotary_emb.inv_freq"

/* Defaults of a class, for missing keys. */
typedef struct hub_decoder_class {
    size_t context;
    size_t kv_heads; /* 0: as many as heads, which is also the meaning of null in any class */
    size_t head_dim; /* 0: hidden_size / num_attention_heads */
    double eps;
    const char *layer_norm_key; /* key of eps in a class with layer norms, which have biases; NULL: RMS norms, "rms_norm_eps" */
    bool gelu;                  /* GELU in its tanh form in place of SiLU */
    const char *dense;          /* activation of a feed-forward network without a gate; NULL: it has one */
    hub_rope_class rope;
    double local_theta; /* base of layers with a window, if they have their own; else 0 */
    bool tied;
} hub_decoder_class;

/* Reads the keys of Llama and similar models, except biases of linear layers: pre-norm blocks with RMS norms, SwiGLU and rotary
 * positions, unless the class has others. */
void hub_decoder_read(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of);
/* Gives layers a window; 0: no layer has one. The layers are listed in "layer_types"; without it they are all from `first` on,
 * except each `full_every`-th (0: no exception). */
void hub_decoder_windows(hub_config *c, rapt_lm_config *k, size_t window, size_t first, size_t full_every);
/* Gives all layers a window; 0: none. Refuses "layer_types" that says otherwise. */
void hub_decoder_window_of_all(hub_config *c, rapt_lm_config *k, size_t window);
/* Adds a layer to a set; refuses layers from RAPT_LAYER_SET_MAX on, naming the key that asks for it. */
void hub_decoder_add_layer(hub_config *c, rapt_layer_set *set, size_t layer, const char *key);

#endif
