/* nn/layers.c: visits the linear layers of a model's blocks. */
#include "nn/layers.h"

static bool layers_of_attention(rapt_multi_head_attention *a, layers_fn *fn, void *context)
{
    return fn(context, &a->q) && fn(context, &a->k) && fn(context, &a->v) && fn(context, &a->o);
}

static bool layers_of_ffn(rapt_ffn *f, layers_fn *fn, void *context)
{
    return (!f->gate.weight || fn(context, &f->gate)) && fn(context, &f->dense1) && fn(context, &f->dense2);
}

bool layers_of_lm(const rapt_lm *m, layers_fn *fn, void *context)
{
    bool all = true;
    for (size_t i = 0; i < m->layers && all; i++)
        all = layers_of_attention(&m->blocks[i].attention, fn, context) && layers_of_ffn(&m->blocks[i].ffn, fn, context);
    return all;
}

bool layers_of_encoder(const rapt_encoder *m, layers_fn *fn, void *context)
{
    bool all = true;
    for (size_t i = 0; i < m->layers && all; i++)
        all = layers_of_attention(&m->blocks[i].attention, fn, context) && layers_of_ffn(&m->blocks[i].ffn, fn, context);
    return all;
}

bool layers_of_transformer(const rapt_transformer *m, layers_fn *fn, void *context)
{
    bool all = layers_of_encoder(&m->encoder, fn, context);
    for (size_t i = 0; i < m->decoder.layers && all; i++) {
        rapt_decoder_block *b = &m->decoder.blocks[i];
        all = layers_of_attention(&b->self_attention, fn, context) && layers_of_attention(&b->cross_attention, fn, context) &&
              layers_of_ffn(&b->ffn, fn, context);
    }
    return all;
}
