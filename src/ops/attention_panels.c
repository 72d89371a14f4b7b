/* ops/attention_panels.c: packs the keys and values of all heads once. */
#include "ops/attention_panels.h"

#include "ops/attention_op.h"

/* Sizes are elements of a head, multiples of vectors: each head is aligned, as panels must be. */
struct attention_panels {
    const kernels_gemm *of; /* whose panels they are */
    const int32_t *lens;    /* [examples] keys of each, or NULL: `columns` */
    size_t heads, d, dv, columns;
    size_t key_size, value_size;
    rapt_real *keys;        /* [examples, heads, key_size] */
    rapt_real *values;      /* [examples, heads, value_size], or NULL: they are read in place */
};

typedef struct panels_packing {
    const attention_panels *p;
    const rapt_tensor *k, *v;
} panels_packing;

static size_t panels_rows(const attention_panels *p, size_t example)
{
    return p->lens ? (size_t)p->lens[example] : p->columns;
}

/* A unit is a head of an example. */
static void pack_heads(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const panels_packing *l = context;
    const attention_panels *p = l->p;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        const size_t example = i / p->heads, head = i % p->heads, count = panels_rows(p, example);
        const size_t k_row = p->heads * p->d, v_row = p->heads * p->dv, row = example * p->columns;
        const matrix keys = {l->k->data + row * k_row + head * p->d, 1, (ptrdiff_t)k_row};    /* [d, count] */
        const matrix values = {l->v->data + row * v_row + head * p->dv, (ptrdiff_t)v_row, 1}; /* [count, dv] */
        panels_pack_columns(p->of, p->d, p->columns, 0, count, &keys, p->keys + i * p->key_size);
        if (p->values)
            panels_pack(p->of, count, p->dv, &values, p->values + i * p->value_size);
    }
}

const attention_panels *attention_panels_pack(rapt_tape *t, arena *memory, const rapt_tensor *k, const rapt_tensor *v, size_t d,
                                              const int32_t *lens)
{
    const kernels_gemm *of = t->team.gemm;
    const size_t columns = k->shape[1], heads = k->shape[2] / d, units = k->shape[0] * heads, dv = v->shape[2] / heads;
    attention_panels *p = arena_array(memory, 1, sizeof *p);
    const bool values = !panels_can_stay(of, (matrix){.row = (ptrdiff_t)v->shape[2], .col = 1}, dv);
    if (p) {
        *p = (attention_panels){.of = of, .lens = lens, .heads = heads, .d = d, .dv = dv, .columns = columns,
                                .key_size = attention_vectors(panels_size(of, d, columns)),
                                .value_size = attention_vectors(panels_size(of, columns, dv))};
        p->keys = arena_array(memory, units * p->key_size, sizeof *p->keys);
        p->values = values ? arena_array(memory, units * p->value_size, sizeof *p->values) : NULL;
    }
    if (!p || !p->keys || (values && !p->values)) {
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for the keys and values of %zu sentences", k->shape[0]);
        return NULL;
    }
    tape_units(t, units, columns * (values ? d + dv : d), pack_heads, &(panels_packing){p, k, v});
    return p;
}

void attention_panels_find(const attention_panels *p, const kernels_gemm *kn, size_t d, size_t example, size_t head,
                           attention_packed *out)
{
    out->keys = out->values = NULL;
    if (!p || p->of != kn || p->d != d)
        return;
    out->keys = p->keys + (example * p->heads + head) * p->key_size;
    out->columns = p->columns;
    if (!p->values)
        return;
    out->values = p->values + (example * p->heads + head) * p->value_size;
    out->rows = panels_rows(p, example);
}

size_t attention_panels_head(const attention_panels *p)
{
    return p ? p->key_size : 0;
}
