/* nn/encoder_only.c: an encoder as a model of its own, such as BERT. For embeddings of texts; the readers of other programs'
 * models make it. */
#include "rapt/nn.h"

#include "nn/block.h"

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
