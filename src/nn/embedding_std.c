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

/* `tied`: the deviation of an embedding that is also the output matrix, 0 if it is not. */
static double embedding_std_of(const rapt_block_config *block, double given, double tied, bool scaled)
{
    if (given != 0)
        return given;
    if (block->init == RAPT_WEIGHT_INIT_GPT2)
        return block_defaults(block).std;
    if (tied != 0)
        return tied;
    return scaled && block->d_model ? 1 / sqrt((double)block->d_model) : 1;
}

double embedding_std_of_transformer(const rapt_transformer_config *c)
{
    const double d = c->block.d_model ? (double)c->block.d_model : 1;
    return embedding_std_of(&c->block, c->embedding_std, c->tied ? 1 / sqrt(2 * d) : 0, c->scale_embedding);
}

double embedding_std_of_lm(const rapt_lm_config *c)
{
    const double d = c->block.d_model ? (double)c->block.d_model : 1;
    return embedding_std_of(&c->block, c->embedding_std, c->tied ? 2 / d : 0, c->scale_embedding);
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
                                       .multiplier = c->embedding_multiplier, .dropout = c->block.dropout,
                                       .has_norm = c->embedding_norm, .norm = block_norm_options(&c->block)};
}
