/* nn/transformer.c: encoder and decoder put together (the book's EncoderDecoder), and weights packed for inference. */
#include "rapt/nn.h"

#include "ops/tape.h"

#include <stdlib.h>

static void check_config(rapt_params *set, const rapt_transformer_config *c)
{
    if (c->layers == 0 || c->block.d_model == 0 || c->source_vocab == 0 || c->target_vocab == 0)
        rapt_params_fail(set, RAPT_VALUE, "a model of %zu layers, d_model %zu, vocabularies %zu and %zu", c->layers,
                         c->block.d_model, c->source_vocab, c->target_vocab);
    if (c->tied && c->source_vocab != c->target_vocab)
        rapt_params_fail(set, RAPT_VALUE, "a tied model needs one vocabulary; these have %zu and %zu entries",
                         c->source_vocab, c->target_vocab);
}

static void build(rapt_transformer *m)
{
    check_config(m->params, &m->config);
    if (rapt_params_error(m->params)->code)
        return;
    rapt_encoder_init(&m->encoder, m->params, &m->config);
    rapt_decoder_init(&m->decoder, m->params, &m->config,
                      m->config.tied ? m->encoder.input.embedding.weight : NULL);
}

rapt_transformer *rapt_transformer_new(const rapt_transformer_config *config, uint64_t seed, rapt_error *err)
{
    rapt_transformer *m = calloc(1, sizeof *m);
    if (!m) {
        rapt_fail(err, RAPT_NO_MEMORY, "no memory for a model");
        return NULL;
    }
    m->config = *config;
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

rapt_tensor *rapt_transformer_forward(rapt_tape *t, const rapt_transformer *m, rapt_tokens source,
                                      const int32_t *source_lens, rapt_tokens target)
{
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, source, source_lens);
    return rapt_decoder_forward(t, &m->decoder, target, memory, source_lens);
}

static void set_encoder_dropout(rapt_encoder *m, double p)
{
    m->input.positions.dropout = p;
    for (size_t i = 0; i < m->layers; i++) {
        rapt_encoder_block *b = &m->blocks[i];
        b->attention.dropout = b->norm1.dropout = b->norm2.dropout = p;
    }
}

static void set_decoder_dropout(rapt_decoder *m, double p)
{
    m->input.positions.dropout = p;
    for (size_t i = 0; i < m->layers; i++) {
        rapt_decoder_block *b = &m->blocks[i];
        b->self_attention.dropout = b->cross_attention.dropout = p;
        b->norm1.dropout = b->norm2.dropout = b->norm3.dropout = p;
    }
}

void rapt_transformer_set_dropout(rapt_transformer *m, double dropout)
{
    m->config.block.dropout = dropout;
    set_encoder_dropout(&m->encoder, dropout);
    set_decoder_dropout(&m->decoder, dropout);
}

static rapt_code pack(rapt_params *set, const rapt_tape *t, rapt_linear *l, rapt_error *err)
{
    rapt_param *w = l->weight;
    size_t out = w->value.shape[0], in = w->value.shape[1];
    if (w->packed && w->packed_columns == t->k->nr)
        return RAPT_OK;
    rapt_real *panels = rapt_params_alloc(set, panels_size(t->k, in, out), sizeof *panels);
    if (!panels)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory to pack %s", w->value.name);
    panels_pack(t->k, in, out, (matrix){w->value.data, 1, (ptrdiff_t)in}, panels);
    w->packed = panels;
    w->packed_columns = t->k->nr;
    return RAPT_OK;
}

static rapt_code pack_attention(rapt_params *set, const rapt_tape *t, rapt_multi_head_attention *a, rapt_error *err)
{
    bool ok = !pack(set, t, &a->q, err) && !pack(set, t, &a->k, err) && !pack(set, t, &a->v, err) &&
              !pack(set, t, &a->o, err);
    return ok ? RAPT_OK : RAPT_NO_MEMORY;
}

static rapt_code pack_ffn(rapt_params *set, const rapt_tape *t, rapt_ffn *f, rapt_error *err)
{
    return pack(set, t, &f->dense1, err) || pack(set, t, &f->dense2, err) ? RAPT_NO_MEMORY : RAPT_OK;
}

rapt_code rapt_transformer_pack(rapt_transformer *m, const rapt_tape *t, rapt_error *err)
{
    bool failed = false;
    for (size_t i = 0; i < m->encoder.layers && !failed; i++) {
        rapt_encoder_block *b = &m->encoder.blocks[i];
        failed = pack_attention(m->params, t, &b->attention, err) || pack_ffn(m->params, t, &b->ffn, err);
    }
    for (size_t i = 0; i < m->decoder.layers && !failed; i++) {
        rapt_decoder_block *b = &m->decoder.blocks[i];
        failed = pack_attention(m->params, t, &b->self_attention, err) ||
                 pack_attention(m->params, t, &b->cross_attention, err) || pack_ffn(m->params, t, &b->ffn, err);
    }
    failed = failed || pack(m->params, t, &m->decoder.output, err);
    return failed ? RAPT_NO_MEMORY : RAPT_OK;
}
