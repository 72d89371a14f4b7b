/* nn/lm_block.c: the block of a decoder-only language model: causal self-attention and a feed-forward network, each with a
 * residual connection and a norm. For training and for decoding; it reads like encoder.c. */
#include "rapt/lm.h"

#include "nn/block.h"
#include "nn/names.h"

void rapt_lm_block_init(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    block_init_norm(&m->norm1, NULL, set, name_join(prefix, "norm1.").text, c);
    block_init_attention(&m->attention, set, name_join(prefix, "attention.").text, c);
    block_init_norm(&m->norm2, &m->norm1, set, name_join(prefix, "norm2.").text, c);
    block_init_ffn(&m->ffn, set, name_join(prefix, "ffn.").text, c);
    m->parallel = false;
}

/* Both sublayers read x, and both results are added to it. */
static rapt_tensor *lm_block_parallel(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past)
{
    rapt_tensor *a = rapt_causal_self_attention(t, &m->attention, rapt_add_norm_before(t, &m->norm1, x), kv, past);
    rapt_tensor *h = rapt_add_norm_before(t, &m->norm2, x);
    x = rapt_add_norm_after(t, &m->norm1, x, a);
    return rapt_add_norm_after(t, &m->norm2, x, rapt_ffn_forward(t, &m->ffn, h));
}

rapt_tensor *rapt_lm_block_forward(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past)
{
    if (m->parallel)
        return lm_block_parallel(t, m, x, kv, past);
    rapt_tensor *h = rapt_add_norm_before(t, &m->norm1, x);
    rapt_tensor *y = rapt_causal_self_attention(t, &m->attention, h, kv, past);
    x = rapt_add_norm_after(t, &m->norm1, x, y);
    h = rapt_add_norm_before(t, &m->norm2, x);
    return rapt_add_norm_after(t, &m->norm2, x, rapt_ffn_forward(t, &m->ffn, h));
}
