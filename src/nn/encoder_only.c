/* nn/encoder_only.c: an encoder as a model of its own, such as BERT, perhaps with a head over the first token. For embeddings of
 * texts and scores of pairs; the readers of other programs' models make it. */
#include "rapt/nn.h"

#include "nn/block.h"
#include "tape/tape_core.h"

#include <stdlib.h>

static void encoder_only_build(rapt_encoder_only *m)
{
    const rapt_transformer_config *c = &m->config;
    if (c->layers == 0 || c->block.d_model == 0 || c->source_vocab == 0)
        rapt_params_fail(m->params, RAPT_ERR_VALUE, "an encoder of %zu layers, d_model %zu and a vocabulary of %zu", c->layers,
                         c->block.d_model, c->source_vocab);
    block_check(m->params, &c->block);
    if (rapt_params_error(m->params)->code == RAPT_OK)
        rapt_encoder_init(&m->encoder, m->params, c);
    if (c->labels && rapt_params_error(m->params)->code == RAPT_OK) {
        rapt_linear_init(&m->head_dense, m->params, "head.dense.", c->block.d_model, c->block.d_model, NULL);
        rapt_linear_init(&m->head_output, m->params, "head.output.", c->block.d_model, c->labels, NULL);
    }
}

/* The first row of each text, [batch, d_model], of the ragged rows, or of [batch, time, d_model]. */
static rapt_tensor *rows_of_first_tokens(rapt_tape *t, rapt_tensor *x)
{
    const size_t batch = tape_failed(t) ? 0 : tape_examples(x);
    rapt_tensor **rows = batch ? tape_alloc(t, batch, sizeof *rows) : NULL;
    if (!rows)
        return x;
    rapt_tensor *flat = rapt_op_reshape(t, x, 2, (size_t[]){rapt_tensor_rows(x), rapt_tensor_features(x)}, NULL);
    for (size_t i = 0; i < batch; i++)
        rows[i] = rapt_op_slice(t, flat, 0, tape_rows_of(x, i).first, 1);
    return rapt_op_concat(t, batch, rows, 0);
}

rapt_tensor *rapt_encoder_only_labels(rapt_tape *t, const rapt_encoder_only *m, rapt_tokens tokens)
{
    if (!m->head_dense.weight)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "the encoder has no head");
    rapt_tensor *x = rows_of_first_tokens(t, rapt_encoder_forward(t, &m->encoder, tokens, NULL));
    x = rapt_linear_forward(t, &m->head_dense, x);
    x = m->config.head_relu ? rapt_op_relu(t, x) : rapt_op_tanh(t, x);
    return rapt_linear_forward(t, &m->head_output, x);
}

rapt_encoder_only *rapt_encoder_only_new(const rapt_transformer_config *config, uint64_t seed, rapt_error *err)
{
    rapt_encoder_only *m = calloc(1, sizeof *m);
    rapt_params *set = m ? rapt_params_new(seed, err) : NULL;
    if (!set) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
        free(m);
        return NULL;
    }
    m->params = set;
    m->config = *config;
    m->config.block = block_defaults(&config->block);
    m->config.rotary_base = config->rotary_base != 0 ? config->rotary_base : 10000;
    encoder_only_build(m);
    if (rapt_params_error(set)->code == RAPT_OK)
        return m;
    rapt_fail(err, rapt_params_error(set)->code, "%s", rapt_params_error(set)->message);
    rapt_encoder_only_free(m);
    return NULL;
}

void rapt_encoder_only_free(rapt_encoder_only *m)
{
    if (!m)
        return;
    rapt_params_free(m->params);
    free(m);
}
