/* io/hub/hub_pair.c: reads the keys that encoder-decoders share. Keys and defaults come from the classes' configurations, tensor
 * names from their modules. */
#include "io/hub/hub_pair.h"

#include <string.h>

/* Limit of positions, because tables are made for all of them, whatever is in the files. */
enum { MAX_POSITIONS = 1 << 16 };

/* Reads another name of a size, which must not contradict it. */
static void read_alias(hub_config *c, const char *key, size_t size, const char *of)
{
    char reason[96];
    snprintf(reason, sizeof reason, "%s is %zu", of, size);
    if (hub_size(c, key, size) != size)
        hub_refuse(c, key, reason);
}

/* Checks keys that transformers 3 wrote, where one class had all these models. */
static void check_former_keys(hub_config *c, const rapt_transformer_config *k)
{
    const bool pre = k->block.norm_place == RAPT_NORM_PLACE_PRE, computed = k->positions == RAPT_POSITIONS_SINUSOIDAL;
    hub_flag_is(c, "normalize_before", pre, pre);
    hub_flag_is(c, "add_final_layer_norm", pre, pre);
    hub_flag_is(c, "normalize_embedding", k->embedding_norm, k->embedding_norm);
    hub_flag_is(c, "static_position_embeddings", computed, computed);
    hub_ignore(c, (const char *const[]){"add_bias_logits", "extra_pos_embeddings", "output_past", "prefix", NULL});
}

void hub_pair_read(hub_config *c, rapt_transformer_config *k, hub_pair_class of)
{
    *k = (rapt_transformer_config){.source_vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "encoder_layers", 12),
                                   .max_positions = hub_size(c, "max_position_embeddings", 1024),
                                   .decoder_layers = hub_size(c, "decoder_layers", 12),
                                   .decoder_heads = hub_size(c, "decoder_attention_heads", 16),
                                   .decoder_ffn = hub_size(c, "decoder_ffn_dim", 4096),
                                   .scale_embedding = hub_flag(c, "scale_embedding", of.scale), .tied = true,
                                   .positions = of.positions, .sinusoid_layout = of.layout,
                                   .embedding_norm = of.embedding_norm, .output_bias = of.bias};
    k->target_vocab = k->source_vocab;
    k->block = (rapt_block_config){.d_model = hub_size(c, "d_model", 1024), .heads = hub_size(c, "encoder_attention_heads", 16),
                                   .ffn = hub_size(c, "encoder_ffn_dim", 4096), .norm_eps = 1e-5, .bias = true,
                                   .ffn_kind = hub_activation(c, "activation_function", of.activation), .norm_place = of.place};
    k->block.kv_heads = k->block.heads;
    read_alias(c, "num_hidden_layers", k->layers, "encoder_layers");
    read_alias(c, "num_attention_heads", k->block.heads, "encoder_attention_heads");
    read_alias(c, "hidden_size", k->block.d_model, "d_model");
    if (k->max_positions > MAX_POSITIONS)
        hub_refuse(c, "max_position_embeddings", "rapt takes up to 65536 positions");
    hub_flag_is(c, "is_decoder", false, false);
    check_former_keys(c, k);
    hub_ignore(c, (const char *const[]){"dropout", "attention_dropout", "activation_dropout", "encoder_layerdrop",
                                        "decoder_layerdrop", "classifier_dropout", "classif_dropout", "init_std", NULL});
}

/* In the order in which export_translation.c writes a model of rapt. */
static const place_row PAIR_ROWS[] = {
    {"encoder.embedding.weight", "shared.weight", PLACE_TIED},
    {"encoder.embedding.weight", "encoder.embed_tokens.weight"},
    {"decoder.embedding.weight", "decoder.embed_tokens.weight"},
    {"encoder.embedding.weight", "decoder.embed_tokens.weight"},
    {"decoder.output.weight", "/lm_head.weight"},
    {"decoder.embedding.weight", "/lm_head.weight"},
    {"encoder.embedding.weight", "/lm_head.weight"},
    {"encoder.#.attention.q.@", "encoder.layers.#.self_attn.q_proj.@"},
    {"encoder.#.attention.k.@", "encoder.layers.#.self_attn.k_proj.@"},
    {"encoder.#.attention.v.@", "encoder.layers.#.self_attn.v_proj.@"},
    {"encoder.#.attention.o.@", "encoder.layers.#.self_attn.out_proj.@"},
    {"encoder.#.norm1.@", "encoder.layers.#.self_attn_layer_norm.@"},
    {"encoder.#.ffn.dense1.@", "encoder.layers.#.fc1.@"},
    {"encoder.#.ffn.dense2.@", "encoder.layers.#.fc2.@"},
    {"encoder.#.norm2.@", "encoder.layers.#.final_layer_norm.@"},
    {"encoder.norm.@", "encoder.layer_norm.@"},
    {"decoder.#.self_attention.q.@", "decoder.layers.#.self_attn.q_proj.@"},
    {"decoder.#.self_attention.k.@", "decoder.layers.#.self_attn.k_proj.@"},
    {"decoder.#.self_attention.v.@", "decoder.layers.#.self_attn.v_proj.@"},
    {"decoder.#.self_attention.o.@", "decoder.layers.#.self_attn.out_proj.@"},
    {"decoder.#.norm1.@", "decoder.layers.#.self_attn_layer_norm.@"},
    {"decoder.#.cross_attention.q.@", "decoder.layers.#.encoder_attn.q_proj.@"},
    {"decoder.#.cross_attention.k.@", "decoder.layers.#.encoder_attn.k_proj.@"},
    {"decoder.#.cross_attention.v.@", "decoder.layers.#.encoder_attn.v_proj.@"},
    {"decoder.#.cross_attention.o.@", "decoder.layers.#.encoder_attn.out_proj.@"},
    {"decoder.#.norm2.@", "decoder.layers.#.encoder_attn_layer_norm.@"},
    {"decoder.#.ffn.dense1.@", "decoder.layers.#.fc1.@"},
    {"decoder.#.ffn.dense2.@", "decoder.layers.#.fc2.@"},
    {"decoder.#.norm3.@", "decoder.layers.#.final_layer_norm.@"},
    {"decoder.norm.@", "decoder.layer_norm.@"},
    {"decoder.output.bias", "/final_logits_bias", PLACE_ONE_ROW},
    /* Old folders have these, rounded to the type of all tensors, and transformers uses them unchanged. */
    {"encoder.positions.table", "encoder.embed_positions.weight", PLACE_READ},
    {"decoder.positions.table", "decoder.embed_positions.weight", PLACE_READ},
    {"encoder.positions.weight", "encoder.embed_positions.weight", PLACE_BEHIND_TWO},
    {"decoder.positions.weight", "decoder.embed_positions.weight", PLACE_BEHIND_TWO},
    {"encoder.embedding_norm.@", "encoder.layernorm_embedding.@"},
    {"decoder.embedding_norm.@", "decoder.layernorm_embedding.@"},
    {0}};
static const char *const PAIR_UNUSED[] = {"encoder.version", "decoder.version", "encoder.embed_positions.weights",
                                          "decoder.embed_positions.weights", NULL};
const place_table HUB_PAIR_PLACES = {PAIR_ROWS, PAIR_UNUSED, "model.", .biased = true};
