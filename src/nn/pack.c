/* nn/pack.c: the linear layers of a model, packed; see pack.h. Matrices that are only used for lookups are not packed. */
#include "nn/pack.h"

#include "nn/layers.h"
#include "tape/tape_core.h"

typedef struct packing {
    packed_weights *p;
    pool *threads;
    rapt_error *err;
} packing;

static bool pack_linear(void *context, rapt_linear *l)
{
    const packing *k = context;
    return packed_weights_add(k->p, l->weight, k->threads, k->err) == RAPT_OK;
}

packed_weights *pack_encoder_only(const rapt_encoder_only *m, const rapt_tape *t, pool *threads, rapt_error *err)
{
    packing k = {packed_weights_new(m->params, t->packs, err), threads, err};
    if (k.p && layers_of_encoder(&m->encoder, pack_linear, &k))
        return k.p;
    packed_weights_free(k.p);
    return NULL;
}

packed_weights *pack_transformer(const rapt_transformer *m, const rapt_tape *t, pool *threads, rapt_error *err)
{
    packing k = {packed_weights_new(m->params, t->packs, err), threads, err};
    rapt_linear output = m->decoder.output;
    if (k.p && layers_of_transformer(m, pack_linear, &k) && pack_linear(&k, &output))
        return k.p;
    packed_weights_free(k.p);
    return NULL;
}

packed_weights *pack_lm(const rapt_lm *m, const rapt_tape *t, rapt_error *err)
{
    packing k = {packed_weights_new(m->params, t->packs, err), t->pool, err};
    rapt_linear output = m->output;
    if (k.p && pack_linear(&k, &output) && layers_of_lm(m, pack_linear, &k))
        return k.p;
    packed_weights_free(k.p);
    return NULL;
}
