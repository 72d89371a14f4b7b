/* io/hub/hub_marian.c: Marian's translators, those of OPUS-MT among them. A row of hub_family.c. Keys and their defaults are
 * those of MarianConfig in Hugging Face transformers, tensor names those of MarianMTModel. */
#include "io/hub/hub_family.h"

#include "io/hub/hub_pair.h"

static void read_marian(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k);
    k->positions = RAPT_POSITIONS_SINUSOIDAL;
    k->sinusoid_layout = RAPT_SINUSOID_LAYOUT_HALVES;
    k->output_bias = RAPT_OUTPUT_BIAS_ALWAYS;
    k->tied = hub_flag(c, "share_encoder_decoder_embeddings", true);
    k->tied_output = hub_flag(c, "tie_word_embeddings", true);
    if (k->tied && !k->tied_output)
        hub_refuse(c, "tie_word_embeddings", "the embeddings are one matrix, and rapt ties the output to it, too");
    k->target_vocab = hub_size(c, "decoder_vocab_size", k->source_vocab);
    if (k->tied)
        k->target_vocab = k->source_vocab;
    hub_flag_is(c, "normalize_before", false, false);
    hub_flag_is(c, "normalize_embedding", false, false);
    hub_flag_is(c, "add_final_layer_norm", false, false);
    hub_flag_is(c, "static_position_embeddings", true, true);
    hub_ignore(c, (const char *const[]){"add_bias_logits", "extra_pos_embeddings", NULL}); /* of transformers 3 */
}

static const hub_name MARIAN_NAMES[] = {
    {"decoder.output.weight", "lm_head.weight", HUB_WHOLE, HUB_PLAIN},
    {"encoder.embedding.weight", "shared.weight", HUB_WHOLE, HUB_PLAIN},
    {"encoder.embedding.weight", "encoder.embed_tokens.weight", HUB_WHOLE, HUB_PLAIN},
    {"decoder.embedding.weight", "decoder.embed_tokens.weight", HUB_WHOLE, HUB_PLAIN},
    {"encoder.embedding.weight", "decoder.embed_tokens.weight", HUB_WHOLE, HUB_PLAIN},
    {"decoder.embedding.weight", "lm_head.weight", HUB_WHOLE, HUB_PLAIN},
    {"encoder.embedding.weight", "lm_head.weight", HUB_WHOLE, HUB_PLAIN},
    {"decoder.output.bias", "final_logits_bias", HUB_ONE_ROW, HUB_PLAIN},
    {"encoder.#.attention.q.@", "encoder.layers.#.self_attn.q_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.attention.k.@", "encoder.layers.#.self_attn.k_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.attention.v.@", "encoder.layers.#.self_attn.v_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.attention.o.@", "encoder.layers.#.self_attn.out_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.norm1.@", "encoder.layers.#.self_attn_layer_norm.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.ffn.dense1.@", "encoder.layers.#.fc1.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.ffn.dense2.@", "encoder.layers.#.fc2.@", HUB_WHOLE, HUB_PLAIN},
    {"encoder.#.norm2.@", "encoder.layers.#.final_layer_norm.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.self_attention.q.@", "decoder.layers.#.self_attn.q_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.self_attention.k.@", "decoder.layers.#.self_attn.k_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.self_attention.v.@", "decoder.layers.#.self_attn.v_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.self_attention.o.@", "decoder.layers.#.self_attn.out_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.norm1.@", "decoder.layers.#.self_attn_layer_norm.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.cross_attention.q.@", "decoder.layers.#.encoder_attn.q_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.cross_attention.k.@", "decoder.layers.#.encoder_attn.k_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.cross_attention.v.@", "decoder.layers.#.encoder_attn.v_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.cross_attention.o.@", "decoder.layers.#.encoder_attn.out_proj.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.norm2.@", "decoder.layers.#.encoder_attn_layer_norm.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.ffn.dense1.@", "decoder.layers.#.fc1.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.ffn.dense2.@", "decoder.layers.#.fc2.@", HUB_WHOLE, HUB_PLAIN},
    {"decoder.#.norm3.@", "decoder.layers.#.final_layer_norm.@", HUB_WHOLE, HUB_PLAIN},
    /* Folders of years ago have these, rounded to the type of all tensors, and transformers takes them as they are. */
    {"encoder.positions.table", "encoder.embed_positions.weight", HUB_WHOLE, HUB_PLAIN},
    {"decoder.positions.table", "decoder.embed_positions.weight", HUB_WHOLE, HUB_PLAIN},
    {0}};
static const char *const MARIAN_UNUSED[] = {NULL};

const hub_family HUB_MARIAN = {"marian", "MarianMTModel", "model.", MARIAN_NAMES, MARIAN_UNUSED, -1, NULL, read_marian};
