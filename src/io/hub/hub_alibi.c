/* io/hub/hub_alibi.c: language models of Hugging Face transformers with ALiBi, BLOOM and MPT: their keys, defaults and
 * tensors. */
#include "io/hub/hub_decoder.h"
#include "io/hub/hub_generation.h"

static void read_bloom(hub_config *c, rapt_lm_config *k)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 250880), .positions = RAPT_POSITIONS_ALIBI, .embedding_norm = true,
                          .tied = hub_flag(c, "tie_word_embeddings", true)};
    k->layers = hub_size(c, "n_layer", hub_size(c, "num_hidden_layers", 2));
    k->context = hub_size(c, "seq_length", 2048); /* published models say how long their texts were; any length has biases */
    k->block = (rapt_block_config){.heads = hub_size(c, "n_head", hub_size(c, "num_attention_heads", 8)), .bias = true,
                                   .norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU_TANH,
                                   .norm_eps = hub_within(c, "layer_norm_epsilon", 1e-5, 1e-12, 0.1)};
    k->block.d_model = hub_size(c, "n_embed", hub_size(c, "hidden_size", 64));
    k->block.ffn = hub_size(c, "n_inner", 4 * k->block.d_model);
    k->block.kv_heads = k->block.heads;
    if (!c->code && k->block.ffn != 4 * k->block.d_model)
        hub_refuse(c, "n_inner", "such models have four times the features");
    hub_flag_is(c, "apply_residual_connection_post_layernorm", false, false);
    hub_ignore(c, (const char *const[]){"hidden_dropout", "attention_dropout", "pretraining_tp", "slow_but_exact", "offset_alibi",
                                        "skip_bias_add", "skip_bias_add_qkv", "masked_softmax_fusion", "bias_dropout_fusion",
                                        "attention_softmax_in_fp32", "unk_token_id", NULL});
}

static const place_row BLOOM_ROWS[] = {
    {"embedding.weight", "word_embeddings.weight"},
    {"embedding_norm.@", "word_embeddings_layernorm.@"},
    {"blocks.#.norm1.@", "h.#.input_layernorm.@"},
    {"blocks.#.attention.q.@", "h.#.self_attention.query_key_value.@", PLACE_HEAD_QUERY},
    {"blocks.#.attention.k.@", "h.#.self_attention.query_key_value.@", PLACE_HEAD_KEY},
    {"blocks.#.attention.v.@", "h.#.self_attention.query_key_value.@", PLACE_HEAD_VALUE},
    {"blocks.#.attention.o.@", "h.#.self_attention.dense.@"},
    {"blocks.#.norm2.@", "h.#.post_attention_layernorm.@"},
    {"blocks.#.ffn.dense1.@", "h.#.mlp.dense_h_to_4h.@"},
    {"blocks.#.ffn.dense2.@", "h.#.mlp.dense_4h_to_h.@"},
    {"norm.@", "ln_f.@"},
    {"output.weight", "/lm_head.weight"},
    {"embedding.weight", "/lm_head.weight"},
    {0}};
static const place_table BLOOM_PLACES = {BLOOM_ROWS, NULL, "transformer."};

const hub_family HUB_BLOOM = {"bloom", "BloomForCausalLM", &BLOOM_PLACES, true, 2, read_bloom};

/* The members of "attn_config", which transformers writes with keys of all configurations. It computes ALiBi whatever "alibi"
 * says; MosaicML's code does not. */
static void read_mpt_attention(hub_config *outer, rapt_block_config *b)
{
    const json_t *object = hub_value(outer, "attn_config");
    hub_config c = {.root = object, .path = outer->path, .err = outer->err};
    if (!object)
        return;
    if (!json_is_object(object)) {
        hub_refuse(outer, "attn_config", "it must be an object");
        return;
    }
    const json_t *scale = hub_value(&c, "softmax_scale");
    b->scores.scale = scale ? hub_within(&c, "softmax_scale", 0, 1e-6, 1e6) : 0;
    if (hub_value(&c, "clip_qkv"))
        hub_refuse(&c, "clip_qkv", "rapt does not clip queries, keys and values");
    if (hub_within(&c, "alibi_bias_max", 8, 1, 1e6) != 8)
        hub_refuse(&c, "alibi_bias_max", "rapt computes slopes down to 2^-8");
    hub_flag_is(&c, "prefix_lm", false, false);
    hub_flag_is(&c, "qk_ln", false, false);
    hub_flag_is(&c, "attn_uses_sequence_id", false, false);
    hub_flag_is(&c, "alibi", true, true);
    hub_flag_is(&c, "is_encoder_decoder", false, false);
    hub_ignore(&c, hub_inert_keys);
    hub_ignore(&c, hub_generation_keys);
    hub_ignore(&c, (const char *const[]){"attn_type", "attn_pdrop", "attn_impl", "_name_or_path", "architectures", NULL});
    hub_refuse_others(&c);
    outer->code = outer->code ? outer->code : c.code;
}

static void read_mpt(hub_config *c, rapt_lm_config *k)
{
    *k = (rapt_lm_config){.vocab = hub_size(c, "vocab_size", 50368), .layers = hub_size(c, "n_layers", 24),
                          .context = hub_size(c, "max_seq_len", 2048), .positions = RAPT_POSITIONS_ALIBI,
                          .tied = hub_flag(c, "tie_word_embeddings", true)};
    k->block = (rapt_block_config){.d_model = hub_size(c, "d_model", 2048), .heads = hub_size(c, "n_heads", 16),
                                   .norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU,
                                   .norm_eps = hub_within(c, "layer_norm_epsilon", 1e-5, 1e-12, 0.1), .no_ffn_bias = true,
                                   .no_norm_bias = true};
    k->block.ffn = 4 * k->block.d_model;
    k->block.kv_heads = k->block.heads;
    if (hub_size(c, "expansion_ratio", 4) != 4 && !c->code)
        hub_refuse(c, "expansion_ratio", "such models have four times the features");
    if (hub_within(c, "embedding_fraction", 1, 0, 1) != 1 && !c->code)
        hub_refuse(c, "embedding_fraction", "rapt knows 1 only");
    if (hub_value(c, "logit_scale"))
        hub_refuse(c, "logit_scale", "rapt does not scale such models' logits");
    hub_flag_is(c, "no_bias", true, true);
    read_mpt_attention(c, &k->block);
    hub_ignore(c, (const char *const[]){"norm_type", "learned_pos_emb", "emb_pdrop", "resid_pdrop", "init_config", "init_device",
                                        "verbose", "tokenizer_name", "auto_map", NULL});
}

static const place_row MPT_ROWS[] = {
    {"embedding.weight", "wte.weight"},
    {"blocks.#.norm1.weight", "blocks.#.norm_1.weight"},
    {"blocks.#.attention.q.weight", "blocks.#.attn.Wqkv.weight", PLACE_QUERY},
    {"blocks.#.attention.k.weight", "blocks.#.attn.Wqkv.weight", PLACE_KEY},
    {"blocks.#.attention.v.weight", "blocks.#.attn.Wqkv.weight", PLACE_VALUE},
    {"blocks.#.attention.o.weight", "blocks.#.attn.out_proj.weight"},
    {"blocks.#.norm2.weight", "blocks.#.norm_2.weight"},
    {"blocks.#.ffn.dense1.weight", "blocks.#.ffn.up_proj.weight"},
    {"blocks.#.ffn.dense2.weight", "blocks.#.ffn.down_proj.weight"},
    {"norm.weight", "norm_f.weight"},
    {"output.weight", "/lm_head.weight"},
    {"embedding.weight", "/lm_head.weight"},
    {0}};
static const place_table MPT_PLACES = {MPT_ROWS, NULL, "transformer."};

const hub_family HUB_MPT = {"mpt", "MptForCausalLM", &MPT_PLACES, true, -1, read_mpt};
