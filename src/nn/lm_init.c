/* nn/lm_init.c: defaults and checks of a language model's configuration, and GPT-2's initial values (Radford et al.
 * 2019, section 2.3; 0.02 is in its code). See lm_init.h. */
#include "nn/lm_init.h"

#include "nn/embedding_std.h"

#include <math.h>

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

static void lm_init_fill(const rapt_lm *m, const rapt_linear *l, double std)
{
    rapt_param_fill(m->params, l->weight, (rapt_init){RAPT_INIT_NORMAL, std});
}

/* What is added to the residual stream 2 layers times starts smaller by the root of that. */
static void fill_block(const rapt_lm *m, const rapt_lm_block *b)
{
    double std = m->config.std, last = std / sqrt(2 * (double)m->layers);
    lm_init_fill(m, &b->attention.q, std);
    lm_init_fill(m, &b->attention.k, std);
    lm_init_fill(m, &b->attention.v, std);
    lm_init_fill(m, &b->attention.o, last);
    if (b->ffn.gate.weight)
        lm_init_fill(m, &b->ffn.gate, std);
    lm_init_fill(m, &b->ffn.dense1, std);
    lm_init_fill(m, &b->ffn.dense2, last);
}

void lm_init_gpt2(rapt_lm *m)
{
    for (size_t i = 0; i < m->layers; i++)
        fill_block(m, &m->blocks[i]);
    if (!m->config.tied)
        lm_init_fill(m, &m->output, m->config.std);
}
