/* nn/lm_block.c: the block of a decoder-only language model: causal self-attention and a feed-forward network, each with a
 * residual connection and a norm. For training and for decoding; it reads like encoder.c. */
#include "rapt/lm.h"

#include "nn/lm_init.h"
#include "nn/names.h"

#include <math.h>

static void lm_block_init_norm(rapt_add_norm *m, rapt_params *set, const char *prefix, const rapt_lm_config *c)
{
    rapt_add_norm_init(m, set, prefix, 1, &c->d_model, &(rapt_add_norm_options){
        .norm = {.kind = c->norm_kind, .no_bias = !c->bias, .eps = c->norm_eps}, .dropout = c->dropout, .place = c->norm_place});
}

static void lm_block_init_second_norm(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_lm_config *c)
{
    m->norm2 = m->norm1;
    if (c->shared_norm)
        m->norm2.name = name_keep(set, prefix);
    else
        lm_block_init_norm(&m->norm2, set, prefix, c);
}

void rapt_lm_block_init(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_lm_config *config,
                        rapt_param *rotary)
{
    const rapt_lm_config full = lm_init_defaults(config), *c = &full;
    /* GPT-2: 2 * layers matrices add to the residual stream; each is initialized smaller by the root of their number */
    const double last = c->std / sqrt(2 * (double)(c->layers ? c->layers : 1));
    const rapt_attention_options attention = {.hidden = c->d_model, .heads = c->heads, .kv_heads = c->kv_heads, .bias = c->bias,
                                              .dropout = c->dropout, .init = c->init, .std = c->std, .output_std = last};
    const rapt_ffn_options ffn = {.kind = c->ffn_kind, .no_bias = !c->bias, .init = c->init, .std = c->std, .output_std = last};
    lm_block_init_norm(&m->norm1, set, name_join(prefix, "norm1.").text, c);
    rapt_multi_head_attention_init(&m->attention, set, name_join(prefix, "attention.").text, &attention);
    m->attention.rotary = rotary;
    lm_block_init_second_norm(m, set, name_join(prefix, "norm2.").text, c);
    rapt_ffn_init(&m->ffn, set, name_join(prefix, "ffn.").text, c->d_model, c->ffn, c->d_model, &ffn);
}

rapt_tensor *rapt_lm_block_forward(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past)
{
    rapt_tensor *h = rapt_add_norm_before(t, &m->norm1, x);
    rapt_tensor *y = rapt_causal_self_attention(t, &m->attention, h, kv, past);
    x = rapt_add_norm_after(t, &m->norm1, x, y);
    h = rapt_add_norm_before(t, &m->norm2, x);
    return rapt_add_norm_after(t, &m->norm2, x, rapt_ffn_forward(t, &m->ffn, h));
}
