/* nn/attentions.c: walks over the attentions of each kind of model. */
#include "nn/attentions.h"

bool attentions_of_lm(const rapt_lm *m, attentions_fn *fn, void *context)
{
    bool all = true;
    for (size_t i = 0; i < m->layers && all; i++)
        all = fn(context, &m->blocks[i].attention);
    return all;
}

bool attentions_of_encoder(const rapt_encoder *m, attentions_fn *fn, void *context)
{
    bool all = true;
    for (size_t i = 0; i < m->layers && all; i++)
        all = fn(context, &m->blocks[i].attention);
    return all;
}

bool attentions_of_transformer(const rapt_transformer *m, attentions_fn *fn, void *context)
{
    bool all = attentions_of_encoder(&m->encoder, fn, context);
    for (size_t i = 0; i < m->decoder.layers && all; i++) {
        rapt_decoder_block *b = &m->decoder.blocks[i];
        all = fn(context, &b->self_attention) && fn(context, &b->cross_attention);
    }
    return all;
}
