/* io/hub/hub_starcoder2.c: StarCoder2 of Hugging Face transformers: its keys, their defaults and its tensors. */
#include "io/hub/hub_decoder.h"

#include <string.h>

static const hub_decoder_class STARCODER2 = {.context = 4096, .kv_heads = 2, .eps = 1e-5, .layer_norm_key = "norm_epsilon",
                                             .dense = "gelu_pytorch_tanh", .rope = {.theta = 10000}, .tied = true};

/* Keys of the published files that no module reads. */
static void refuse_other_word(hub_config *c, const char *key, const char *wanted)
{
    if (strcmp(hub_word(c, key, wanted), wanted) != 0)
        hub_refuse(c, key, "rapt does not compute such models");
}

static void read_starcoder2(hub_config *c, rapt_lm_config *k)
{
    hub_decoder_read(c, k, &STARCODER2);
    k->block.bias = hub_flag(c, "use_bias", true);
    k->block.no_ffn_bias = !k->block.bias;
    refuse_other_word(c, "norm_type", "layer_norm");
    refuse_other_word(c, "mlp_type", "default");
    hub_decoder_window_of_all(c, k, hub_value(c, "sliding_window") ? hub_size(c, "sliding_window", 0) : 0);
    hub_ignore(c, (const char *const[]){"residual_dropout", "embedding_dropout", NULL});
}

static const place_row STARCODER2_ROWS[] = {
    HUB_DECODER_EMBEDDING,
    {"blocks.#.norm1.@", "layers.#.input_layernorm.@"},
    HUB_DECODER_QKV,
    HUB_DECODER_O,
    {"blocks.#.norm2.@", "layers.#.post_attention_layernorm.@"},
    {"blocks.#.ffn.dense1.@", "layers.#.mlp.c_fc.@"},
    {"blocks.#.ffn.dense2.@", "layers.#.mlp.c_proj.@"},
    {"norm.@", "norm.@"},
    {"output.weight", "/lm_head.weight"},
    {"embedding.weight", "/lm_head.weight"},
    {0}};
static const char *const STARCODER2_UNUSED[] = {HUB_DECODER_UNUSED, NULL};
static const place_table STARCODER2_PLACES = {STARCODER2_ROWS, STARCODER2_UNUSED, "model."};

const hub_family HUB_STARCODER2 = {"starcoder2", "Starcoder2ForCausalLM", &STARCODER2_PLACES, true, 50256, read_starcoder2};
