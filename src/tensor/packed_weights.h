/* tensor/packed_weights.h: weight matrices packed once for inference, in the panels that one table of GEMM kernels reads, so
 * that no product packs them again. Made from parameters that no longer change, and const from then on: tapes of several
 * threads may read it. Owned by a translator or generator; parameters do not refer to it. */
#ifndef TENSOR_PACKED_WEIGHTS_H
#define TENSOR_PACKED_WEIGHTS_H

#include "base/arena.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "rapt/tensor.h"

typedef struct packed_weight {
    const rapt_param *param; /* NULL: not packed */
    const rapt_real *panels; /* of its transpose [in, out] */
} packed_weight;

typedef struct packed_weights {
    const kernels_gemm *gemm; /* the kernels that read the panels */
    size_t count;
    packed_weight *weights; /* [count], by the index of a parameter in its set */
    arena memory;
} packed_weights;

/* An empty table for `count` parameters. NULL with `err` set when out of memory. */
packed_weights *packed_weights_new(const rapt_params *set, const kernels_gemm *gemm, rapt_error *err);
void packed_weights_free(packed_weights *p);

/* Packs a matrix [out, in] of the set, once, with the threads of a pool. RAPT_ERR_MEMORY or RAPT_OK. */
rapt_code packed_weights_add(packed_weights *p, const rapt_param *w, pool *threads, rapt_error *err);

/* The panels of w as these kernels read them, or NULL. `p` may be NULL. */
static inline const rapt_real *packed_weights_find(const packed_weights *p, const rapt_param *w, const kernels_gemm *gemm)
{
    bool found = p && p->gemm == gemm && w->index < p->count && p->weights[w->index].param == w;
    return found ? p->weights[w->index].panels : NULL;
}

#endif
