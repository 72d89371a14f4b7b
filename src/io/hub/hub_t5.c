/* io/hub/hub_t5.c: T5, FLAN-T5, MADLAD, mT5 and UMT5. Rows of hub_family.c. Keys and defaults come from T5Config, MT5Config and
 * UMT5Config in Hugging Face transformers, tensor names from their modules. */
#include "io/hub/hub_family.h"

#include <math.h>
#include <string.h>

/* There are no positions that could run out. The limit is the max number of positions of other models. */
enum { LONGEST = 65536 };

static rapt_ffn_kind read_t5_activation(hub_config *c, const char *otherwise)
{
    const char *name = hub_word(c, "feed_forward_proj", otherwise);
    if (strcmp(name, "gated-gelu") == 0)
        return RAPT_FFN_GEGLU_TANH;
    if (strcmp(name, "gated-silu") == 0)
        return RAPT_FFN_SWIGLU;
    if (strcmp(name, "relu") != 0)
        hub_refuse(c, "feed_forward_proj", "of such models rapt computes relu, gated-gelu and gated-silu");
    return RAPT_FFN_RELU;
}

/* Defaults of T5Config and MT5Config. */
typedef struct t5_class {
    size_t d_model, ffn, layers, heads;
    const char *activation;
} t5_class;

static void read_t5_kin(hub_config *c, rapt_transformer_config *k, t5_class of)
{
    const size_t layers = hub_size(c, "num_layers", of.layers);
    *k = (rapt_transformer_config){.source_vocab = hub_size(c, "vocab_size", 0), .layers = layers, .max_positions = LONGEST,
                                   .decoder_layers = hub_size(c, "num_decoder_layers", layers),
                                   .positions = RAPT_POSITIONS_RELATIVE, .output_bias = RAPT_OUTPUT_BIAS_NEVER,
                                   .tied = true, .tied_embeddings = true};
    k->target_vocab = k->source_vocab;
    k->relative.buckets = hub_size(c, "relative_attention_num_buckets", 32);
    k->relative.farthest = hub_size(c, "relative_attention_max_distance", 128);
    if (!c->code && (k->relative.buckets < 4 || k->relative.buckets > RAPT_RELATIVE_BUCKETS_MAX))
        hub_refuse(c, "relative_attention_num_buckets", "rapt takes 4 to 4096");
    if (!c->code && (k->relative.farthest <= k->relative.buckets || k->relative.farthest > RAPT_RELATIVE_FARTHEST_MAX))
        hub_refuse(c, "relative_attention_max_distance", "rapt takes more than there are buckets, up to 65536");
    k->block = (rapt_block_config){.d_model = hub_size(c, "d_model", of.d_model), .heads = hub_size(c, "num_heads", of.heads),
                                   .head_dim = hub_size(c, "d_kv", 64), .ffn = hub_size(c, "d_ff", of.ffn),
                                   .norm_kind = RAPT_NORM_KIND_RMS, .norm_place = RAPT_NORM_PLACE_PRE,
                                   .norm_eps = hub_within(c, "layer_norm_epsilon", 1e-6, 1e-12, 0.1),
                                   .ffn_kind = read_t5_activation(c, of.activation), .no_ffn_bias = true, .no_norm_bias = true,
                                   .scores.scale = 1};
    k->block.kv_heads = k->block.heads;
    hub_flag_is(c, "is_decoder", false, false);
    /* dense_act_fn and is_gated_act repeat what was read; n_positions is what T5 was trained with, and no module reads it */
    hub_ignore(c, (const char *const[]){"dropout_rate", "initializer_factor", "classifier_dropout", "dense_act_fn",
                                        "is_gated_act", "output_past", "n_positions", NULL});
}

/* Hidden states are divided before the output if the class ties it to the embedding, as its first models did. transformers 5
 * writes "tie_word_embeddings": true for all models, and the original value in another key. */
static void read_t5_scale(hub_config *c, rapt_transformer_config *k)
{
    const bool scaled = hub_flag(c, "scale_decoder_outputs", hub_flag(c, "tie_word_embeddings", true));
    k->output_scale = scaled ? 1 / sqrt((double)k->block.d_model) : 0;
}

static void read_t5(hub_config *c, rapt_transformer_config *k)
{
    read_t5_kin(c, k, (t5_class){512, 2048, 6, 8, "relu"});
    read_t5_scale(c, k);
}

static void read_mt5(hub_config *c, rapt_transformer_config *k)
{
    read_t5_kin(c, k, (t5_class){512, 1024, 8, 6, "gated-gelu"});
    hub_ignore(c, (const char *const[]){"tie_word_embeddings", NULL});
}

static void read_umt5(hub_config *c, rapt_transformer_config *k)
{
    read_mt5(c, k);
    read_t5_scale(c, k);
    k->relative_in_blocks = true;
    hub_ignore(c, (const char *const[]){"scalable_attention", NULL}); /* UMT5's module does not read it */
}

/* In UMT5 each layer has biases, in the others only the first. */
static const place_row T5_ROWS[] = {
    {"decoder.output.weight", "lm_head.weight"},
    {"encoder.embedding.weight", "shared.weight"},
    {"encoder.embedding.weight", "encoder.embed_tokens.weight"},
    {"encoder.embedding.weight", "decoder.embed_tokens.weight"},
    {"encoder.embedding.weight", "lm_head.weight"},
    {"encoder.relative.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"encoder.#.relative.weight", "encoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"encoder.#.attention.q.weight", "encoder.block.#.layer.0.SelfAttention.q.weight"},
    {"encoder.#.attention.k.weight", "encoder.block.#.layer.0.SelfAttention.k.weight"},
    {"encoder.#.attention.v.weight", "encoder.block.#.layer.0.SelfAttention.v.weight"},
    {"encoder.#.attention.o.weight", "encoder.block.#.layer.0.SelfAttention.o.weight"},
    {"encoder.#.norm1.weight", "encoder.block.#.layer.0.layer_norm.weight"},
    {"encoder.#.ffn.dense1.weight", "encoder.block.#.layer.1.DenseReluDense.wi.weight"},
    {"encoder.#.ffn.dense2.weight", "encoder.block.#.layer.1.DenseReluDense.wo.weight"},
    {"encoder.#.ffn.gate.weight", "encoder.block.#.layer.1.DenseReluDense.wi_0.weight"},
    {"encoder.#.ffn.up.weight", "encoder.block.#.layer.1.DenseReluDense.wi_1.weight"},
    {"encoder.#.ffn.down.weight", "encoder.block.#.layer.1.DenseReluDense.wo.weight"},
    {"encoder.#.norm2.weight", "encoder.block.#.layer.1.layer_norm.weight"},
    {"encoder.norm.weight", "encoder.final_layer_norm.weight"},
    {"decoder.relative.weight", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"decoder.#.relative.weight", "decoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"decoder.#.self_attention.q.weight", "decoder.block.#.layer.0.SelfAttention.q.weight"},
    {"decoder.#.self_attention.k.weight", "decoder.block.#.layer.0.SelfAttention.k.weight"},
    {"decoder.#.self_attention.v.weight", "decoder.block.#.layer.0.SelfAttention.v.weight"},
    {"decoder.#.self_attention.o.weight", "decoder.block.#.layer.0.SelfAttention.o.weight"},
    {"decoder.#.norm1.weight", "decoder.block.#.layer.0.layer_norm.weight"},
    {"decoder.#.cross_attention.q.weight", "decoder.block.#.layer.1.EncDecAttention.q.weight"},
    {"decoder.#.cross_attention.k.weight", "decoder.block.#.layer.1.EncDecAttention.k.weight"},
    {"decoder.#.cross_attention.v.weight", "decoder.block.#.layer.1.EncDecAttention.v.weight"},
    {"decoder.#.cross_attention.o.weight", "decoder.block.#.layer.1.EncDecAttention.o.weight"},
    {"decoder.#.norm2.weight", "decoder.block.#.layer.1.layer_norm.weight"},
    {"decoder.#.ffn.dense1.weight", "decoder.block.#.layer.2.DenseReluDense.wi.weight"},
    {"decoder.#.ffn.dense2.weight", "decoder.block.#.layer.2.DenseReluDense.wo.weight"},
    {"decoder.#.ffn.gate.weight", "decoder.block.#.layer.2.DenseReluDense.wi_0.weight"},
    {"decoder.#.ffn.up.weight", "decoder.block.#.layer.2.DenseReluDense.wi_1.weight"},
    {"decoder.#.ffn.down.weight", "decoder.block.#.layer.2.DenseReluDense.wo.weight"},
    {"decoder.#.norm3.weight", "decoder.block.#.layer.2.layer_norm.weight"},
    {"decoder.norm.weight", "decoder.final_layer_norm.weight"},
    {0}};
/* In T5's first files; cross-attention does not use it. */
static const char *const T5_UNUSED[] = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", NULL};

static const place_table T5_PLACES = {T5_ROWS, T5_UNUSED};

const hub_family HUB_T5 = {"t5", "T5ForConditionalGeneration", &T5_PLACES, false, -1, NULL, read_t5,
                           .tied_by_files = true};
const hub_family HUB_MT5 = {"mt5", "MT5ForConditionalGeneration", &T5_PLACES, false, -1, NULL, read_mt5,
                            .tied_by_files = true};
const hub_family HUB_UMT5 = {"umt5", "UMT5ForConditionalGeneration", &T5_PLACES, false, -1, NULL, read_umt5,
                             .tied_by_files = true};
