/* nn/encoder.c: the encoder block and the encoder; reads like the book's EncoderBlock and TransformerEncoder. */
#include "rapt/nn.h"

#include "nn/block.h"
#include "nn/embedding_std.h"
#include "nn/names.h"

void rapt_encoder_block_init(rapt_encoder_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    block_init_attention(&m->attention, set, name_join(prefix, "attention.").text, c);
    block_init_norm(&m->norm1, NULL, set, name_join(prefix, "norm1.").text, c);
    block_init_ffn(&m->ffn, set, name_join(prefix, "ffn.").text, c);
    block_init_norm(&m->norm2, &m->norm1, set, name_join(prefix, "norm2.").text, c);
}

rapt_tensor *rapt_encoder_block_forward(rapt_tape *t, const rapt_encoder_block *m, rapt_tensor *x,
                                        const int32_t *valid_lens)
{
    rapt_mask mask = {.valid_lens = valid_lens};
    rapt_tensor *h = rapt_add_norm_before(t, &m->norm1, x);
    rapt_tensor *y = rapt_multi_head_attention_forward(t, &m->attention, h, h, h, &mask);
    x = rapt_add_norm_after(t, &m->norm1, x, y);
    h = rapt_add_norm_before(t, &m->norm2, x);
    return rapt_add_norm_after(t, &m->norm2, x, rapt_ffn_forward(t, &m->ffn, h));
}

static void encoder_init_blocks(rapt_encoder *m, rapt_params *set, const rapt_transformer_config *c)
{
    const rapt_block_config block = block_of_stack(&c->block, 2 * c->layers);
    if (c->positions == RAPT_POSITIONS_ROTARY)
        m->rotary = block_init_rotary(set, "encoder.rotary.table", c->max_positions, &block, c->rotary_base, NULL);
    const rapt_relative_options relative = {c->relative.buckets, c->relative.farthest, true};
    if (c->positions == RAPT_POSITIONS_RELATIVE && !c->relative_in_blocks)
        rapt_relative_bias_init(&m->relative, set, "encoder.relative.", block.heads, &relative);
    if (c->positions == RAPT_POSITIONS_ALIBI)
        rapt_alibi_init(&m->relative, set, block.heads);
    m->blocks = rapt_params_alloc(set, c->layers, sizeof *m->blocks);
    m->layers = m->blocks ? c->layers : 0;
    for (size_t i = 0; i < m->layers; i++) {
        const name prefix = name_index("encoder.", i);
        rapt_encoder_block_init(&m->blocks[i], set, prefix.text, &block);
        m->blocks[i].attention.rotary = m->rotary;
        m->blocks[i].attention.scores.bias = m->relative;
        if (c->relative_in_blocks)
            rapt_relative_bias_init(&m->blocks[i].attention.scores.bias, set, name_join(prefix.text, "relative.").text,
                                    block.heads, &relative);
    }
}

void rapt_encoder_init(rapt_encoder *m, rapt_params *set, const rapt_transformer_config *c)
{
    rapt_preprocessor_options input = embedding_std_input_of_transformer(c, NULL);
    const rapt_norm_options norm = block_norm_options(&c->block);
    input.types = c->token_types;
    *m = (rapt_encoder){.has_norm = block_ends_with_norm(&c->block)};
    rapt_preprocessor_init(&m->input, set, "encoder.", c->source_vocab, c->block.d_model, c->max_positions, &input);
    encoder_init_blocks(m, set, c);
    if (m->has_norm)
        rapt_layer_norm_init(&m->norm, set, "encoder.norm.", 1, &c->block.d_model, &norm);
}

static rapt_tensor *encoder_run_block(rapt_tape *t, const void *m, const rapt_block_input *in)
{
    return rapt_encoder_block_forward(t, m, in->x, in->lens);
}

rapt_tensor *rapt_encoder_forward(rapt_tape *t, const rapt_encoder *m, rapt_tokens tokens, const int32_t *valid_lens)
{
    const int32_t *lens = valid_lens ? valid_lens : tokens.lens;
    rapt_tensor *x = rapt_preprocess(t, &m->input, tokens, 0);
    for (size_t i = 0; i < m->layers; i++)
        x = rapt_run_block(t, encoder_run_block, &m->blocks[i], (rapt_block_input){.x = x, .lens = lens});
    return m->has_norm ? rapt_layer_norm_forward(t, &m->norm, x) : x;
}
