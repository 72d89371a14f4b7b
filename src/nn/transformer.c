/* nn/transformer.c: encoder and decoder as one model (the book's EncoderDecoder). For training and translation. */
#include "rapt/nn.h"

#include "nn/block.h"
#include "nn/embedding_std.h"
#include "tape/observe_op.h"

#include <stdlib.h>

static void check_config(rapt_params *set, const rapt_transformer_config *c)
{
    if (c->layers == 0 || c->block.d_model == 0 || c->source_vocab == 0 || c->target_vocab == 0)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a model of %zu layers, d_model %zu, vocabularies %zu and %zu", c->layers,
                         c->block.d_model, c->source_vocab, c->target_vocab);
    if ((c->tied || c->tied_embeddings) && c->source_vocab != c->target_vocab)
        rapt_params_fail(set, RAPT_ERR_VALUE, "a tied model needs one vocabulary; these have %zu and %zu entries",
                         c->source_vocab, c->target_vocab);
    const rapt_block_config decoder = block_of_decoder(c);
    block_check(set, &c->block);
    block_check(set, &decoder);
}

static rapt_transformer_config transformer_defaults(const rapt_transformer_config *config)
{
    rapt_transformer_config c = *config;
    c.block = block_defaults(&config->block);
    c.rotary_base = c.rotary_base != 0 ? c.rotary_base : 10000;
    c.decoder_layers = c.decoder_layers ? c.decoder_layers : c.layers;
    c.decoder_heads = c.decoder_heads ? c.decoder_heads : c.block.heads;
    c.decoder_ffn = c.decoder_ffn ? c.decoder_ffn : c.block.ffn;
    c.embedding_std = embedding_std_of_transformer(&c);
    return c;
}

static void build(rapt_transformer *m)
{
    check_config(m->params, &m->config);
    if (rapt_params_error(m->params)->code)
        return;
    rapt_encoder_init(&m->encoder, m->params, &m->config);
    rapt_decoder_init(&m->decoder, m->params, &m->config,
                      m->config.tied || m->config.tied_embeddings ? m->encoder.input.embedding.weight : NULL);
}

rapt_transformer *rapt_transformer_new(const rapt_transformer_config *config, uint64_t seed, rapt_error *err)
{
    rapt_transformer *m = calloc(1, sizeof *m);
    if (!m) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
        return NULL;
    }
    m->config = transformer_defaults(config);
    m->params = rapt_params_new(seed, err);
    if (m->params)
        build(m);
    if (m->params && rapt_params_error(m->params)->code == RAPT_OK)
        return m;
    if (m->params)
        rapt_fail(err, rapt_params_error(m->params)->code, "%s", rapt_params_error(m->params)->message);
    rapt_transformer_free(m);
    return NULL;
}

void rapt_transformer_free(rapt_transformer *m)
{
    if (!m)
        return;
    rapt_params_free(m->params);
    free(m);
}

/* The valid lengths of the source that the decoder attends to. */
static const int32_t *memory_lens(rapt_tokens source, const int32_t *source_lens)
{
    return source_lens ? source_lens : source.lens;
}

rapt_tensor *rapt_transformer_forward(rapt_tape *t, const rapt_transformer *m, rapt_tokens source,
                                      const int32_t *source_lens, rapt_tokens target)
{
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, source, source_lens);
    return rapt_decoder_forward(t, &m->decoder, target, memory, memory_lens(source, source_lens));
}

rapt_tensor *rapt_transformer_loss(rapt_tape *t, const rapt_transformer *m, rapt_tokens source, const int32_t *source_lens,
                                   rapt_tokens target, rapt_tokens labels, const rapt_loss_options *options,
                                   rapt_loss_sums *parts)
{
    const rapt_linear *output = &m->decoder.output;
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, source, source_lens);
    rapt_tensor *hidden = rapt_decoder_hidden(t, &m->decoder, target, memory, memory_lens(source, source_lens));
    observe_scope outer = observe_enter(t, "decoder", 0);
    return observe_leave(t, outer, rapt_op_output_loss(t, hidden, output->weight, output->bias, labels, options, parts));
}

static void set_encoder_dropouts(rapt_encoder *m, rapt_dropouts p)
{
    m->input.positions.dropout = p.residual;
    for (size_t i = 0; i < m->layers; i++) {
        rapt_encoder_block *b = &m->blocks[i];
        b->attention.dropout = p.attention;
        b->norm1.dropout = b->norm2.dropout = p.residual;
        b->ffn.dropout = p.activation;
    }
}

static void set_decoder_dropouts(rapt_decoder *m, rapt_dropouts p)
{
    m->input.positions.dropout = p.residual;
    for (size_t i = 0; i < m->layers; i++) {
        rapt_decoder_block *b = &m->blocks[i];
        b->self_attention.dropout = b->cross_attention.dropout = p.attention;
        b->norm1.dropout = b->norm2.dropout = b->norm3.dropout = p.residual;
        b->ffn.dropout = p.activation;
    }
}

void rapt_transformer_set_dropouts(rapt_transformer *m, rapt_dropouts dropouts)
{
    m->config.block.dropout = dropouts.residual;
    set_encoder_dropouts(&m->encoder, dropouts);
    set_decoder_dropouts(&m->decoder, dropouts);
}
