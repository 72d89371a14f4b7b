/* nn/pack.c: the linear layers of a model, packed; see pack.h. Matrices that are only used for lookups are not packed. */
#include "nn/pack.h"

#include "tape/tape_core.h"

static bool pack_linear(packed_weights *p, const rapt_linear *l, rapt_error *err)
{
    return packed_weights_add(p, l->weight, err) == RAPT_OK;
}

static bool pack_attention(packed_weights *p, const rapt_multi_head_attention *a, rapt_error *err)
{
    return pack_linear(p, &a->q, err) && pack_linear(p, &a->k, err) && pack_linear(p, &a->v, err) && pack_linear(p, &a->o, err);
}

static bool pack_ffn(packed_weights *p, const rapt_ffn *f, rapt_error *err)
{
    return (!f->gate.weight || pack_linear(p, &f->gate, err)) && pack_linear(p, &f->dense1, err) &&
           pack_linear(p, &f->dense2, err);
}

packed_weights *pack_transformer(const rapt_transformer *m, const rapt_tape *t, rapt_error *err)
{
    packed_weights *p = packed_weights_new(m->params, t->team.gemm, err);
    bool ok = p != NULL;
    for (size_t i = 0; i < m->encoder.layers && ok; i++) {
        const rapt_encoder_block *b = &m->encoder.blocks[i];
        ok = pack_attention(p, &b->attention, err) && pack_ffn(p, &b->ffn, err);
    }
    for (size_t i = 0; i < m->decoder.layers && ok; i++) {
        const rapt_decoder_block *b = &m->decoder.blocks[i];
        ok = pack_attention(p, &b->self_attention, err) && pack_attention(p, &b->cross_attention, err) &&
             pack_ffn(p, &b->ffn, err);
    }
    if (ok && pack_linear(p, &m->decoder.output, err))
        return p;
    packed_weights_free(p);
    return NULL;
}

packed_weights *pack_lm(const rapt_lm *m, const rapt_tape *t, rapt_error *err)
{
    packed_weights *p = packed_weights_new(m->params, t->team.gemm, err);
    bool ok = p && pack_linear(p, &m->output, err);
    for (size_t i = 0; i < m->layers && ok; i++)
        ok = pack_attention(p, &m->blocks[i].attention, err) && pack_ffn(p, &m->blocks[i].ffn, err);
    if (ok)
        return p;
    packed_weights_free(p);
    return NULL;
}
