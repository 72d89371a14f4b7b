/* nn/block.c: makes the parts of a block from its description. encoder.c, decoder.c and lm_block.c run them. The default std,
 * 0.02, comes from GPT-2's code. */
#include "nn/block.h"

#include "nn/names.h"

#include <math.h>

static double block_or_else(double x, double otherwise)
{
    return x != 0 ? x : otherwise;
}

rapt_block_config block_defaults(const rapt_block_config *c)
{
    rapt_block_config full = *c;
    full.kv_heads = c->kv_heads ? c->kv_heads : c->heads;
    full.norm_eps = block_or_else(c->norm_eps, 1e-5);
    full.std = block_or_else(c->std, 0.02);
    full.output_std = block_or_else(c->output_std, full.std);
    return full;
}

/* GPT-2: the matrices that add to the residual stream are initialized smaller by the root of their number. */
rapt_block_config block_of_stack(const rapt_block_config *c, size_t sublayers)
{
    rapt_block_config full = block_defaults(c);
    full.output_std = full.std / sqrt((double)(sublayers ? sublayers : 1));
    return full;
}

rapt_block_config block_of_decoder(const rapt_transformer_config *c)
{
    rapt_block_config block = c->block;
    if (c->decoder_heads && c->decoder_heads != block.heads)
        block.heads = block.kv_heads = c->decoder_heads;
    block.ffn = c->decoder_ffn ? c->decoder_ffn : block.ffn;
    return block;
}

/* Whether a size of an input is d_model, as in whole models. */
static bool block_takes_features(const rapt_block_config *c, size_t size)
{
    return size == 0 || size == c->d_model;
}

static bool block_norms_features(const rapt_block_config *c)
{
    return c->norm_ndim == 0 || (c->norm_ndim == 1 && c->norm_shape[0] == c->d_model);
}

void block_check(rapt_params *set, const rapt_block_config *c)
{
    if (!block_head_features(c))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%zu heads do not divide d_model, %zu", c->heads, c->d_model);
    else if (!block_takes_features(c, c->query) || !block_takes_features(c, c->key) || !block_takes_features(c, c->value) ||
             !block_takes_features(c, c->ffn_input))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "blocks that take queries of %zu, keys of %zu, values of %zu and, in the "
                         "feed-forward network, %zu features (0: d_model); in a model, all of them come from a block of %zu",
                         c->query, c->key, c->value, c->ffn_input, c->d_model);
    else if (!block_norms_features(c))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "norms over %d dimensions, the first of %zu; in a model, whose sentences have any "
                         "length, they are over the features, %zu", c->norm_ndim, c->norm_shape[0], c->d_model);
}

size_t block_head_features(const rapt_block_config *c)
{
    if (c->head_dim)
        return c->head_dim;
    return c->heads && c->d_model % c->heads == 0 ? c->d_model / c->heads : 0;
}

size_t block_kv_features(const rapt_block_config *c)
{
    return block_head_features(c) * c->kv_heads;
}

bool block_ends_with_norm(const rapt_block_config *c)
{
    return c->norm_place != RAPT_NORM_PLACE_POST;
}

rapt_param *block_init_rotary(rapt_params *set, const char *table, size_t max_len, const rapt_block_config *c, double base,
                              const rapt_rotary_scaling *scaling)
{
    rapt_rotary_scaling own = scaling ? *scaling : (rapt_rotary_scaling){.kind = RAPT_ROTARY_PLAIN};
    own.features = c->rotary_dim ? c->rotary_dim : own.features;
    return rapt_rotary_init_scaled(set, table, max_len, block_head_features(c), base, &own);
}

rapt_norm_options block_norm_options(const rapt_block_config *c)
{
    return (rapt_norm_options){.kind = c->norm_kind, .no_bias = c->no_norm_bias, .eps = c->norm_eps};
}

void block_init_attention(rapt_multi_head_attention *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    const rapt_attention_options options = {.hidden = c->d_model, .heads = c->heads, .kv_heads = c->kv_heads,
                                            .head_dim = c->head_dim, .scores = c->scores, .query = c->query, .key = c->key,
                                            .value = c->value, .bias = c->bias, .no_o_bias = c->no_o_bias,
                                            .qk_norm = c->qk_norm, .qk_norm_eps = c->norm_eps,
                                            .dropout = c->dropout, .init = c->init, .std = c->std,
                                            .output_std = block_or_else(c->output_std, c->std)};
    rapt_multi_head_attention_init(m, set, prefix, &options);
}

void block_init_ffn(rapt_ffn *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    const rapt_ffn_options options = {.kind = c->ffn_kind, .no_bias = c->no_ffn_bias, .init = c->init, .std = c->std,
                                      .output_std = block_or_else(c->output_std, c->std)};
    rapt_ffn_init(m, set, prefix, c->ffn_input ? c->ffn_input : c->d_model, c->ffn, c->d_model, &options);
}

void block_init_norm(rapt_add_norm *m, const rapt_add_norm *first, rapt_params *set, const char *prefix,
                     const rapt_block_config *c)
{
    const rapt_add_norm_options options = {.norm = block_norm_options(c), .dropout = c->dropout, .place = c->norm_place,
                                           .scale = c->residual_scale};
    if (first && c->shared_norm) {
        *m = *first;
        m->name = name_keep(set, prefix);
    } else if (c->norm_ndim) {
        rapt_add_norm_init(m, set, prefix, c->norm_ndim, c->norm_shape, &options);
    } else {
        rapt_add_norm_init(m, set, prefix, 1, &c->d_model, &options);
    }
}
