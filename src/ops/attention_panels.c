/* ops/attention_panels.c: packs the keys of all heads once. */
#include "ops/attention_panels.h"

#include "ops/attention_op.h"

struct attention_panels {
    const kernels_gemm *of; /* whose panels they are */
    size_t heads, d, columns;
    size_t size;            /* elements of a head, a multiple of vectors: each is aligned, as panels must be */
    rapt_real *data;        /* [examples, heads, size] */
};

typedef struct key_packing {
    const attention_panels *p;
    const rapt_tensor *k;
    const int32_t *lens;
} key_packing;

/* A unit is a head of an example. */
static void pack_heads(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const key_packing *l = context;
    const attention_panels *p = l->p;
    const size_t features = p->heads * p->d;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        const size_t example = i / p->heads, count = l->lens ? (size_t)l->lens[example] : p->columns;
        const matrix keys = {l->k->data + example * p->columns * features + i % p->heads * p->d, 1, (ptrdiff_t)features};
        panels_pack_columns(p->of, p->d, p->columns, 0, count, &keys, p->data + i * p->size);
    }
}

const attention_panels *attention_panels_pack(rapt_tape *t, arena *memory, const rapt_tensor *k, size_t d, const int32_t *lens)
{
    const size_t columns = k->shape[1], heads = k->shape[2] / d, units = k->shape[0] * heads;
    const size_t size = attention_vectors(panels_size(t->team.gemm, d, columns));
    attention_panels *p = arena_array(memory, 1, sizeof *p);
    rapt_real *data = arena_array(memory, units * size, sizeof *data);
    if (!p || !data) {
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for the keys of %zu sentences", k->shape[0]);
        return NULL;
    }
    *p = (attention_panels){t->team.gemm, heads, d, columns, size, data};
    tape_units(t, units, columns * d, pack_heads, &(key_packing){p, k, lens});
    return p;
}

const rapt_real *attention_panels_find(const attention_panels *p, const kernels_gemm *kn, size_t d, size_t example, size_t head,
                                       size_t *columns)
{
    if (!p || p->of != kn || p->d != d)
        return NULL;
    if (columns)
        *columns = p->columns;
    return p->data + (example * p->heads + head) * p->size;
}

size_t attention_panels_head(const attention_panels *p)
{
    return p ? p->size : 0;
}
