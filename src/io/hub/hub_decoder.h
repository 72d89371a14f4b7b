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
    bool gelu; /* GELU in its tanh form in place of SiLU */
    hub_rope_class rope;
    double local_theta; /* of layers with a window, where they have a base of their own; else 0 */
    bool tied;
} hub_decoder_class;

/* Reads the keys of Llama and its kin, but for biases: pre-norm blocks with RMS norms, SwiGLU and rotary positions. */
void hub_decoder_read(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of);
/* Gives layers a window, 0: none has one. They are those of "layer_types", else those from `first` on but each `full_every`-th,
 * 0: all from `first` on. */
void hub_decoder_windows(hub_config *c, rapt_lm_config *k, size_t window, size_t first, size_t full_every);
/* Gives all layers a window, 0: none. Refuses "layer_types" where they say otherwise. */
void hub_decoder_window_of_all(hub_config *c, rapt_lm_config *k, size_t window);
/* Puts a layer into a set; refuses one behind RAPT_LAYER_SET_MAX, naming the key that asks for it. */
void hub_decoder_add_layer(hub_config *c, rapt_layer_set *set, size_t layer, const char *key);

#endif
