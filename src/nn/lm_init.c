/* nn/lm_init.c: defaults and checks of a language model's configuration. See lm_init.h. The default of std, 0.02, is in
 * GPT-2's code. */
#include "nn/lm_init.h"

#include "nn/embedding_std.h"

static double or_else(double x, double otherwise)
{
    return x != 0 ? x : otherwise;
}

rapt_lm_config lm_init_defaults(const rapt_lm_config *config)
{
    rapt_lm_config c = *config;
    c.kv_heads = c.kv_heads ? c.kv_heads : c.heads;
    c.norm_eps = or_else(c.norm_eps, 1e-5);
    c.rotary_base = or_else(c.rotary_base, 10000);
    c.std = or_else(c.std, 0.02);
    c.embedding_std = embedding_std_of_lm(&c);
    return c;
}

void lm_init_check(rapt_params *set, const rapt_lm_config *c)
{
    if (!c->vocab || !c->layers || !c->d_model || !c->ffn || !c->context)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a model of %zu layers, d_model %zu, ffn %zu, vocabulary %zu, context %zu",
                         c->layers, c->d_model, c->ffn, c->vocab, c->context);
    else if (!c->heads || c->d_model % c->heads)
        rapt_params_fail(set, RAPT_ERR_SHAPE, "%zu heads do not divide d_model, %zu", c->heads, c->d_model);
    else if (c->tied && c->output_bias)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a tied model has no output bias");
}
