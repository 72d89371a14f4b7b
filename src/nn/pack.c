/* nn/pack.c: the linear layers of a model, packed; see pack.h. Matrices that are only used for lookups are not packed. */
#include "nn/pack.h"

#include "tape/tape_core.h"

static bool pack_linear(packed_weights *p, const rapt_linear *l, pool *threads, rapt_error *err)
{
    return packed_weights_add(p, l->weight, threads, err) == RAPT_OK;
}

static bool pack_attention(packed_weights *p, const rapt_multi_head_attention *a, pool *threads, rapt_error *err)
{
    return pack_linear(p, &a->q, threads, err) && pack_linear(p, &a->k, threads, err) && pack_linear(p, &a->v, threads, err) &&
           pack_linear(p, &a->o, threads, err);
}

static bool pack_ffn(packed_weights *p, const rapt_ffn *f, pool *threads, rapt_error *err)
{
    return (!f->gate.weight || pack_linear(p, &f->gate, threads, err)) && pack_linear(p, &f->dense1, threads, err) &&
           pack_linear(p, &f->dense2, threads, err);
}

packed_weights *pack_transformer(const rapt_transformer *m, const rapt_tape *t, pool *threads, rapt_error *err)
{
    packed_weights *p = packed_weights_new(m->params, t->team.gemm, err);
    bool ok = p != NULL;
    for (size_t i = 0; i < m->encoder.layers && ok; i++) {
        const rapt_encoder_block *b = &m->encoder.blocks[i];
        ok = pack_attention(p, &b->attention, threads, err) && pack_ffn(p, &b->ffn, threads, err);
    }
    for (size_t i = 0; i < m->decoder.layers && ok; i++) {
        const rapt_decoder_block *b = &m->decoder.blocks[i];
        ok = pack_attention(p, &b->self_attention, threads, err) && pack_attention(p, &b->cross_attention, threads, err) &&
             pack_ffn(p, &b->ffn, threads, err);
    }
    if (ok && pack_linear(p, &m->decoder.output, threads, err))
        return p;
    packed_weights_free(p);
    return NULL;
}

packed_weights *pack_lm(const rapt_lm *m, const rapt_tape *t, rapt_error *err)
{
    packed_weights *p = packed_weights_new(m->params, t->team.gemm, err);
    bool ok = p && pack_linear(p, &m->output, t->pool, err);
    for (size_t i = 0; i < m->layers && ok; i++)
        ok = pack_attention(p, &m->blocks[i].attention, t->pool, err) && pack_ffn(p, &m->blocks[i].ffn, t->pool, err);
    if (ok)
        return p;
    packed_weights_free(p);
    return NULL;
}
