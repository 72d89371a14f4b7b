/* io/hub/hub_decoder.c: reads the keys that decoders share. Keys and defaults come from the classes' configurations in Hugging
 * Face transformers. */
#include "io/hub/hub_decoder.h"

#include <stdio.h>
#include <string.h>

/* Refuses all activations except these two names. */
static void check_activation(hub_config *c, const char *key, const char *one, const char *other)
{
    char reason[96];
    const char *name = hub_word(c, key, one);
    snprintf(reason, sizeof reason, "of such models rapt computes %s", other);
    if (strcmp(name, one) != 0 && strcmp(name, other) != 0)
        hub_refuse(c, key, reason);
}

static void read_heads(hub_config *c, rapt_block_config *b, const hub_decoder_class *of)
{
    const bool divides = b->d_model % b->heads == 0, there = json_object_get(c->root, "num_key_value_heads") != NULL;
    b->kv_heads = hub_size(c, "num_key_value_heads", of->kv_heads && !there ? of->kv_heads : b->heads);
    b->head_dim = hub_size(c, "head_dim", of->head_dim ? of->head_dim : divides ? b->d_model / b->heads : 1);
    if (!c->code && !divides && !of->head_dim && !json_object_get(c->root, "head_dim"))
        hub_refuse(c, "num_attention_heads", "heads do not divide the features");
    if (!c->code && b->heads % b->kv_heads)
        hub_refuse(c, "num_key_value_heads", "they do not divide the heads");
}

void hub_decoder_read(hub_config *c, rapt_lm_config *k, const hub_decoder_class *of)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "num_hidden_layers", 0),
                          .context = hub_size(c, "max_position_embeddings", of->context), .positions = RAPT_POSITIONS_ROTARY};
    k->block = (rapt_block_config){.d_model = hub_size(c, "hidden_size", 0), .heads = hub_size(c, "num_attention_heads", 0),
                                   .ffn = hub_size(c, "intermediate_size", 0), .norm_place = RAPT_NORM_PLACE_PRE,
                                   .norm_kind = of->layer_norm_key ? RAPT_NORM_KIND_LAYER : RAPT_NORM_KIND_RMS,
                                   .norm_eps = hub_within(c, of->layer_norm_key ? of->layer_norm_key : "rms_norm_eps", of->eps,
                                                          1e-12, 0.1),
                                   .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = !of->layer_norm_key};
    read_heads(c, &k->block, of);
    k->tied = hub_flag(c, "tie_word_embeddings", of->tied);
    if (of->dense) {
        k->block.ffn_kind = hub_activation(c, "hidden_act", of->dense);
    } else if (of->gelu) {
        k->block.ffn_kind = RAPT_FFN_GEGLU_TANH;
        check_activation(c, "hidden_act", "gelu", "gelu_pytorch_tanh"); /* the first meant the second in older files */
        check_activation(c, "hidden_activation", "gelu_pytorch_tanh", "gelu_pytorch_tanh");
    } else {
        check_activation(c, "hidden_act", "silu", "silu");
    }
    if (of->local_theta != 0)
        hub_rope_by_layer(c, &of->rope, of->local_theta, k);
    else
        hub_rope(c, &of->rope, k);
    hub_ignore(c, (const char *const[]){"attention_dropout", NULL});
}

/* Whether a layer has sliding-window attention: as the list says, or else as the class says. */
static bool layer_slides(hub_config *c, const json_t *types, size_t i, bool otherwise)
{
    const char *type = json_string_value(json_array_get(types, i));
    const bool full = type && strcmp(type, "full_attention") == 0, slides = type && strcmp(type, "sliding_attention") == 0;
    if (types && !full && !slides)
        hub_refuse(c, "layer_types", "rapt computes full_attention and sliding_attention");
    return types ? slides : otherwise;
}

void hub_decoder_windows(hub_config *c, rapt_lm_config *k, size_t window, size_t first, size_t full_every)
{
    const json_t *types = hub_value(c, "layer_types");
    if (types && json_array_size(types) != k->layers)
        hub_refuse(c, "layer_types", "it must be a list of as many types as there are layers");
    for (size_t i = 0; i < k->layers && !c->code; i++)
        if (layer_slides(c, types, i, window && i >= first && (!full_every || (i + 1) % full_every != 0))) {
            if (!window)
                hub_refuse(c, "layer_types", "sliding_attention without a window");
            hub_decoder_add_layer(c, &k->windowed, i, types ? "layer_types" : "sliding_window");
            k->window = window;
        }
}

/* Modules without types of layers do not read the list. */
void hub_decoder_window_of_all(hub_config *c, rapt_lm_config *k, size_t window)
{
    const json_t *types = hub_value(c, "layer_types");
    for (size_t i = 0; i < json_array_size(types); i++)
        if (layer_slides(c, types, i, false) != (window > 0))
            hub_refuse(c, "layer_types", window ? "such models have \"sliding_window\" in all layers"
                                                : "such models have no window without \"sliding_window\"");
    hub_decoder_windows(c, k, window, 0, 0);
}

void hub_decoder_add_layer(hub_config *c, rapt_layer_set *set, size_t layer, const char *key)
{
    if (layer >= RAPT_LAYER_SET_MAX)
        hub_refuse(c, key, "of layers that differ, rapt takes the first 256");
    else
        set->bits[layer / 64] |= (uint64_t)1 << layer % 64;
}
