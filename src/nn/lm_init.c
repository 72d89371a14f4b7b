/* nn/lm_init.c: defaults and checks of a language model's configuration. */
#include "nn/lm_init.h"

#include "nn/block.h"
#include "nn/embedding_std.h"

rapt_lm_config lm_init_defaults(const rapt_lm_config *config)
{
    rapt_lm_config c = *config;
    c.block = block_defaults(&config->block);
    c.rotary_base = c.rotary_base != 0 ? c.rotary_base : 10000;
    c.embedding_std = embedding_std_of_lm(&c);
    return c;
}

bool lm_init_has_layer(const rapt_layer_set *set, size_t layer)
{
    return layer < RAPT_LAYER_SET_MAX && set->bits[layer / 64] >> layer % 64 & 1;
}

void lm_init_check(rapt_params *set, const rapt_lm_config *c)
{
    if (!c->vocab || !c->layers || !c->block.d_model || !c->block.ffn || !c->context)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a model of %zu layers, d_model %zu, ffn %zu, vocabulary %zu, context %zu",
                         c->layers, c->block.d_model, c->block.ffn, c->vocab, c->context);
    else if (c->tied && c->output_bias)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a tied model has no output bias");
    else if (c->parallel && c->block.norm_place != RAPT_NORM_PLACE_PRE)
        rapt_params_fail(set, RAPT_ERR_VALUE, "parallel sublayers are pre-norm");
    else
        block_check(set, &c->block);
}
