/* nn/embedding_std.c: initial standard deviations of embeddings with which the first loss is about ln V.
 *
 * Scaled embeddings, sqrt(d) e, have a variance of 1 if std is 1 / sqrt(d), like sinusoidal positions. A tied matrix also makes
 * the logits from the last hidden state, whose d features have a variance of 1: the logits have a variance of d std^2, which
 * should be below 1. The residual stream makes that state contain the embedding of the input token, whose own logit is then up to
 * std * d. In a decoder that attends to a source this share is small: 1 / sqrt(2 d) starts at 1.05 ln V and converges as fast as
 * 1 / sqrt(d), which starts at up to 1.3 ln V; 2 / d converges far more slowly. In a language model it is most of the state: 2 /
 * d keeps that logit at 2, in any vocabulary, where 1 / sqrt(2 d) would start at twice ln V. */
#include "nn/embedding_std.h"

#include "nn/block.h"

#include <math.h>

double embedding_std_of_transformer(const rapt_transformer_config *c)
{
    const double d = c->block.d_model ? (double)c->block.d_model : 1;
    if (c->embedding_std != 0)
        return c->embedding_std;
    if (c->block.init == RAPT_WEIGHT_INIT_GPT2)
        return block_defaults(&c->block).std;
    if (c->tied)
        return 1 / sqrt(2 * d);
    return c->scale_embedding ? 1 / sqrt(d) : 1;
}

double embedding_std_of_lm(const rapt_lm_config *c)
{
    const double d = c->block.d_model ? (double)c->block.d_model : 1;
    if (c->embedding_std != 0)
        return c->embedding_std;
    if (c->block.init == RAPT_WEIGHT_INIT_GPT2)
        return block_defaults(&c->block).std;
    if (c->tied)
        return 2 / d;
    return c->scale_embedding ? 1 / sqrt(d) : 1;
}

/* Learned positions start as small as the embedding, before it is scaled (Gehring et al. 2017 and fairseq do so). */
rapt_preprocessor_options embedding_std_input_of_transformer(const rapt_transformer_config *c, rapt_param *shared)
{
    const double std = embedding_std_of_transformer(c);
    const bool gpt2 = c->block.init == RAPT_WEIGHT_INIT_GPT2;
    return (rapt_preprocessor_options){.embedding.std = std, .shared = shared, .positions = c->positions,
                                       .sinusoid_layout = c->sinusoid_layout,
                                       .positions_std = gpt2 ? block_defaults(&c->block).std : std,
                                       .no_scale = !c->scale_embedding, .dropout = c->block.dropout,
                                       .has_norm = c->embedding_norm, .norm = block_norm_options(&c->block)};
}

rapt_preprocessor_options embedding_std_input_of_lm(const rapt_lm_config *c)
{
    const double std = embedding_std_of_lm(c);
    const bool gpt2 = c->block.init == RAPT_WEIGHT_INIT_GPT2;
    return (rapt_preprocessor_options){.embedding.std = std, .positions = c->positions,
                                       .positions_std = gpt2 ? block_defaults(&c->block).std : std,
                                       .no_scale = !c->scale_embedding,
                                       .multiplier = c->embedding_multiplier, .dropout = c->block.dropout};
}
