/* io/hub/hub_decoder.h: keys that the configurations of decoders share. For the files of families. */
#ifndef IO_HUB_HUB_DECODER_H
#define IO_HUB_HUB_DECODER_H

#include "io/hub/hub_family.h"
#include "io/hub/hub_rope.h"

/* Defaults of a class, for missing keys. */
typedef struct hub_decoder_class {
    size_t context;
    size_t kv_heads; /* 0: as many as heads, which is also the meaning of null in any class */
    size_t head_dim; /* 0: hidden_size / num_attention_heads */
    double eps;
    bool gelu; /* GELU in its tanh form in place of SiLU */
    hub_rope_class rope;
    double local_theta; /* base of layers with a window, if they have their own; else 0 */
    bool tied;
} hub_decoder_class;

/* Reads the keys of Llama and similar models, except biases: pre-norm blocks with RMS norms, SwiGLU and rotary positions. */
void hub_decoder_read(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of);
/* Gives layers a window; 0: no layer has one. The layers are listed in "layer_types"; without it they are all from `first` on,
 * except each `full_every`-th (0: no exception). */
void hub_decoder_windows(hub_config *c, rapt_lm_config *k, size_t window, size_t first, size_t full_every);
/* Gives all layers a window; 0: none. Refuses "layer_types" that says otherwise. */
void hub_decoder_window_of_all(hub_config *c, rapt_lm_config *k, size_t window);
/* Adds a layer to a set; refuses layers from RAPT_LAYER_SET_MAX on, naming the key that asks for it. */
void hub_decoder_add_layer(hub_config *c, rapt_layer_set *set, size_t layer, const char *key);

#endif
