/* io/hub/hub_pair.c: see hub_pair.h. The defaults are those of the classes' configurations, which agree on these. */
#include "io/hub/hub_pair.h"

#include <string.h>

/* Tables of positions are made for all of them, whatever is in the files. */
enum { MAX_POSITIONS = 1 << 16 };

static rapt_ffn_kind read_activation(hub_config *c)
{
    static const struct {
        const char *name;
        rapt_ffn_kind kind;
    } kinds[] = {{"swish", RAPT_FFN_SILU}, {"silu", RAPT_FFN_SILU}, {"gelu", RAPT_FFN_GELU}, {"relu", RAPT_FFN_RELU},
                 {"gelu_new", RAPT_FFN_GELU_TANH}, {"gelu_pytorch_tanh", RAPT_FFN_GELU_TANH}};
    const char *name = hub_word(c, "activation_function", "gelu");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    hub_refuse(c, "activation_function", "of such models rapt computes swish, gelu, relu, gelu_new and gelu_pytorch_tanh");
    return RAPT_FFN_RELU;
}

/* Another name of a size, which must not say something else. */
static void read_alias(hub_config *c, const char *key, size_t size, const char *of)
{
    char reason[96];
    snprintf(reason, sizeof reason, "%s is %zu", of, size);
    if (hub_size(c, key, size) != size)
        hub_refuse(c, key, reason);
}

void hub_pair_read(hub_config *c, rapt_transformer_config *k)
{
    *k = (rapt_transformer_config){.source_vocab = hub_size(c, "vocab_size", 0), .layers = hub_size(c, "encoder_layers", 12),
                                   .max_positions = hub_size(c, "max_position_embeddings", 1024),
                                   .decoder_layers = hub_size(c, "decoder_layers", 12),
                                   .decoder_heads = hub_size(c, "decoder_attention_heads", 16),
                                   .decoder_ffn = hub_size(c, "decoder_ffn_dim", 4096),
                                   .scale_embedding = hub_flag(c, "scale_embedding", false), .tied = true,
                                   .positions = RAPT_POSITIONS_LEARNED};
    k->target_vocab = k->source_vocab;
    k->block = (rapt_block_config){.d_model = hub_size(c, "d_model", 1024), .heads = hub_size(c, "encoder_attention_heads", 16),
                                   .ffn = hub_size(c, "encoder_ffn_dim", 4096), .norm_eps = 1e-5, .bias = true,
                                   .ffn_kind = read_activation(c), .norm_place = RAPT_NORM_PLACE_POST};
    k->block.kv_heads = k->block.heads;
    read_alias(c, "num_hidden_layers", k->layers, "encoder_layers");
    read_alias(c, "num_attention_heads", k->block.heads, "encoder_attention_heads");
    read_alias(c, "hidden_size", k->block.d_model, "d_model");
    if (k->max_positions > MAX_POSITIONS)
        hub_refuse(c, "max_position_embeddings", "rapt takes up to 65536 positions");
    hub_flag_is(c, "is_decoder", false, false);
    hub_ignore(c, (const char *const[]){"dropout", "attention_dropout", "activation_dropout", "encoder_layerdrop",
                                        "decoder_layerdrop", "classifier_dropout", "classif_dropout", "init_std", NULL});
}
