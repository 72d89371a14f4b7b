/* nn/encoder.c: the encoder block and the encoder; reads like the book's EncoderBlock and TransformerEncoder. */
#include "rapt/nn.h"

#include "nn/embedding_std.h"
#include "nn/names.h"

void rapt_encoder_block_init(rapt_encoder_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c)
{
    const rapt_attention_options attention = {.hidden = c->d_model, .heads = c->heads, .bias = c->bias,
                                              .dropout = c->dropout, .init = c->init};
    const rapt_add_norm_options norm = {.dropout = c->dropout, .place = c->norm_place};
    const rapt_ffn_options ffn = {.init = c->init};
    rapt_multi_head_attention_init(&m->attention, set, name_join(prefix, "attention.").text, &attention);
    rapt_add_norm_init(&m->norm1, set, name_join(prefix, "norm1.").text, 1, &c->d_model, &norm);
    rapt_ffn_init(&m->ffn, set, name_join(prefix, "ffn.").text, c->d_model, c->ffn, c->d_model, &ffn);
    rapt_add_norm_init(&m->norm2, set, name_join(prefix, "norm2.").text, 1, &c->d_model, &norm);
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

void rapt_encoder_init(rapt_encoder *m, rapt_params *set, const rapt_transformer_config *c)
{
    const rapt_preprocessor_options input = {.embedding.std = embedding_std_of_transformer(c),
                                             .no_scale = !c->scale_embedding, .dropout = c->block.dropout};
    rapt_preprocessor_init(&m->input, set, "encoder.", c->source_vocab, c->block.d_model, c->max_positions, &input);
    m->blocks = rapt_params_alloc(set, c->layers, sizeof *m->blocks);
    m->layers = m->blocks ? c->layers : 0;
    for (size_t i = 0; i < m->layers; i++)
        rapt_encoder_block_init(&m->blocks[i], set, name_index("encoder.", i).text, &c->block);
    m->has_norm = c->block.norm_place == RAPT_NORM_PLACE_PRE;
    if (m->has_norm)
        rapt_layer_norm_init(&m->norm, set, "encoder.norm.", 1, &c->block.d_model, NULL);
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
