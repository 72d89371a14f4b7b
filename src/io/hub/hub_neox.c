/* io/hub/hub_neox.c: GPT-NeoX of Hugging Face transformers, the class of Pythia: its keys, their defaults and its tensors. */
#include "io/hub/hub_decoder.h"

static const hub_rope_class NEOX_ROPE = {10000, "rotary_emb_base", "rotary_pct", 0.25};

/* Transformers 4 writes two names of a number. */
static void refuse_other_names(hub_config *c, const char *key, const char *own)
{
    const json_t *value = hub_value(c, key);
    if (value && json_number_value(value) != hub_number(c, own, -1))
        hub_refuse(c, key, "such models have the name \"rotary_...\" for it, with another value");
}

static void read_neox(hub_config *c, rapt_lm_config *k)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "num_hidden_layers", 0),
                          .context = hub_size(c, "max_position_embeddings", 2048), .positions = RAPT_POSITIONS_ROTARY,
                          .parallel = hub_flag(c, "use_parallel_residual", true),
                          .tied = hub_flag(c, "tie_word_embeddings", false)};
    k->block = (rapt_block_config){.d_model = hub_size(c, "hidden_size", 0), .heads = hub_size(c, "num_attention_heads", 0),
                                   .ffn = hub_size(c, "intermediate_size", 0), .norm_place = RAPT_NORM_PLACE_PRE,
                                   .norm_eps = hub_within(c, "layer_norm_eps", 1e-5, 1e-12, 0.1),
                                   .bias = hub_flag(c, "attention_bias", true),
                                   .ffn_kind = hub_activation(c, "hidden_act", "gelu")};
    k->block.kv_heads = k->block.heads;
    if (!c->code && k->block.d_model % k->block.heads)
        hub_refuse(c, "num_attention_heads", "heads do not divide the features");
    k->block.head_dim = k->block.d_model / k->block.heads;
    hub_rope(c, &NEOX_ROPE, k);
    refuse_other_names(c, "rope_theta", "rotary_emb_base");
    refuse_other_names(c, "partial_rotary_factor", "rotary_pct");
    hub_ignore(c, (const char *const[]){"attention_dropout", "hidden_dropout", "classifier_dropout", "is_decoder", NULL});
}

static const place_row NEOX_ROWS[] = {
    {"embedding.weight", "embed_in.weight"},
    {"blocks.#.norm1.@", "layers.#.input_layernorm.@"},
    {"blocks.#.attention.q.@", "layers.#.attention.query_key_value.@", PLACE_HEAD_QUERY | PLACE_ROTARY},
    {"blocks.#.attention.k.@", "layers.#.attention.query_key_value.@", PLACE_HEAD_KEY | PLACE_ROTARY},
    {"blocks.#.attention.v.@", "layers.#.attention.query_key_value.@", PLACE_HEAD_VALUE},
    {"blocks.#.attention.o.@", "layers.#.attention.dense.@"},
    {"blocks.#.norm2.@", "layers.#.post_attention_layernorm.@"},
    {"blocks.#.ffn.dense1.@", "layers.#.mlp.dense_h_to_4h.@"},
    {"blocks.#.ffn.dense2.@", "layers.#.mlp.dense_4h_to_h.@"},
    {"norm.@", "final_layer_norm.@"},
    {"output.weight", "/embed_out.weight"},
    {"embedding.weight", "/embed_out.weight"},
    {0}};
static const char *const NEOX_UNUSED[] = {"layers.#.attention.bias", "layers.#.attention.masked_bias",
                                          "layers.#.attention.rotary_emb.inv_freq", NULL};
static const place_table NEOX_PLACES = {NEOX_ROWS, NEOX_UNUSED, "gpt_neox.", .biased = true};

const hub_family HUB_NEOX = {"gpt_neox", "GPTNeoXForCausalLM", &NEOX_PLACES, true, 2, read_neox};
