/* nn/pack.c: packs the linear layers of a model. Matrices that are only used for lookups are not packed. */
#include "nn/pack.h"

#include "nn/layers.h"
#include "nn/weight_types.h"
#include "tape/tape_core.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

typedef struct packing {
    packed_weights *p;
    const rapt_tape *t;
    pool *threads;
    uint64_t used; /* items of the list of types that fit a matrix */
    rapt_error *err;
} packing;

/* The kernels that take 16-bit numbers and blocks as they are stored. Blocks without kernels of their own use the 8-bit
 * kernels. */
static const kernels_gemm *kernels_of_stored(const kernels *k, const rapt_param *w)
{
    const kernels_quantized *q = k->quantized;
    const bool even = w->value.shape[1] % 2 == 0;
    switch (param_source_type(w)) {
    case 0: return &k->gemm;
    case KERNELS_F16: return even ? k->f16_weights : &k->gemm;
    case KERNELS_BF16: return even ? k->bf16_weights : &k->gemm;
    case KERNELS_Q4_0: return &q->q4_0;
    case KERNELS_Q4_K: return &q->q4_k;
    case KERNELS_Q5_K: return &q->q5_k;
    case KERNELS_Q6_K: return &q->q6_k;
    default: return &q->q8_0;
    }
}

/* The kernels for a weight; NULL: this build has none. */
static const kernels_gemm *kernels_of_weight(const rapt_tape *t, const rapt_param *w, bool output, uint64_t *used)
{
    rapt_type type;
    if (weight_types_find(t->weight_types, w, output, used, &type))
        return tape_gemm_of(t->k, type);
    if (t->packs == &t->k->gemm && t->k->quantized)
        return kernels_of_stored(t->k, w);
    return output && t->k->quantized && t->packs == &t->k->quantized->q4_0 ? &t->k->quantized->q8_0 : t->packs;
}

static bool pack_matrix(packing *k, const rapt_param *w, bool output)
{
    const kernels_gemm *gemm = kernels_of_weight(k->t, w, output, &k->used);
    if (!gemm)
        rapt_fail(k->err, RAPT_ERR_VALUE, "this build computes in double precision: it has neither bf16 nor quantized weights");
    return gemm && packed_weights_add(k->p, w, gemm, k->threads, k->err) == RAPT_OK;
}

static bool pack_linear(void *context, rapt_linear *l)
{
    return pack_matrix(context, l->weight, false);
}

/* Whether the list of types is right, and there is memory for the table of weights. */
static bool pack_begin(packing *k, const rapt_params *set, const rapt_tape *t, pool *threads, bool waits, rapt_error *err)
{
    rapt_type all;
    *k = (packing){.t = t, .threads = threads, .err = err};
    if (weight_types_check(t->weight_types, &all, err) == RAPT_OK)
        k->p = packed_weights_new(set, t->packs, waits, err);
    return k->p != NULL;
}

static packed_weights *pack_end(packing *k, bool all)
{
    if (all && weight_types_check_used(k->t->weight_types, k->used, k->err) == RAPT_OK)
        return k->p;
    packed_weights_free(k->p);
    return NULL;
}

packed_weights *pack_encoder_only(const rapt_encoder_only *m, const rapt_tape *t, pool *threads, rapt_error *err)
{
    packing k;
    return pack_end(&k, pack_begin(&k, m->params, t, threads, false, err) && layers_of_encoder(&m->encoder, pack_linear, &k) &&
                            (!m->head_dense.weight || (pack_matrix(&k, m->head_dense.weight, false) &&
                                                       pack_matrix(&k, m->head_output.weight, true))));
}

packed_weights *pack_transformer(const rapt_transformer *m, const rapt_tape *t, pool *threads, rapt_error *err)
{
    packing k;
    return pack_end(&k, pack_begin(&k, m->params, t, threads, false, err) && layers_of_transformer(m, pack_linear, &k) &&
                            pack_matrix(&k, m->decoder.output.weight, true));
}

packed_weights *pack_lm(const rapt_lm *m, const rapt_tape *t, pool *threads, bool waits, rapt_error *err)
{
    packing k;
    return pack_end(&k, pack_begin(&k, m->params, t, threads, waits, err) && pack_matrix(&k, m->output.weight, true) &&
                            layers_of_lm(m, pack_linear, &k));
}

bool pack_is_needed(const rapt_params *set, const rapt_tape *t)
{
    bool needed = t->packs != t->team.gemm || t->weight_types;
    for (size_t i = 0; i < rapt_params_count(set) && !needed; i++)
        needed = param_source_type(params_at(set, i)) != 0;
    return needed;
}
