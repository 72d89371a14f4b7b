/* tensor/packed_weights.h: weight matrices packed once for inference, each in the panels that its GEMM kernels read, so that no
 * product packs them again. Made from parameters that no longer change, and const from then on: tapes of several
 * threads may read it. Owned by a translator or generator; parameters do not refer to it. Matrices whose stored blocks the
 * kernels take may wait: products then read the blocks, so that a model answers before it is packed, and one caller alone uses it
 * until packed_weights_complete. */
#ifndef TENSOR_PACKED_WEIGHTS_H
#define TENSOR_PACKED_WEIGHTS_H

#include "base/arena.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "rapt/tensor.h"

typedef struct packed_weight {
    const rapt_param *param;  /* NULL: not in the table */
    const kernels_gemm *gemm; /* the kernels that read the panels */
    const rapt_real *panels;  /* panels of its transpose [in, out]; NULL: products read its stored blocks (gemm_job.stored) */
    size_t bytes;             /* that a product reads: blocks, or panels without the columns that fill up the last one */
} packed_weight;

typedef struct packed_weights {
    const kernels_gemm *made_for; /* the kernels of the tapes that may read them (tape_core.h: packs) */
    size_t bytes; /* bytes of all weights */
    bool waits;   /* matrices with stored blocks are packed by packed_weights_complete */
    const rapt_params *set;
    size_t count;
    packed_weight *weights; /* [count], by the index of a parameter in its set */
    arena memory;
} packed_weights;

/* An empty table for the parameters of a set, whose matrices with stored blocks may wait (`waits`); else the pages of their file
 * are given back, which packing reads one matrix at a time. NULL with `err` set when out of memory. */
packed_weights *packed_weights_new(const rapt_params *set, const kernels_gemm *made_for, bool waits, rapt_error *err);
void packed_weights_free(packed_weights *p);

/* Adds a matrix [out, in] of the set for these kernels, once, and packs it with the threads of a pool, from its numbers, or, if
 * the kernels take the blocks in which it is stored, from these, which then may wait (p->waits) for packed_weights_complete.
 * RAPT_ERR_MEMORY or RAPT_OK. */
rapt_code packed_weights_add(packed_weights *p, const rapt_param *w, const kernels_gemm *gemm, pool *threads, rapt_error *err);

/* Packs the matrices that wait, while no other thread reads p. RAPT_ERR_MEMORY or RAPT_OK. */
rapt_code packed_weights_complete(packed_weights *p, pool *threads, rapt_error *err);

/* The packed form of w for tapes with these kernels, or NULL. `p` may be NULL. */
static inline const packed_weight *packed_weights_find(const packed_weights *p, const rapt_param *w, const kernels_gemm *made_for)
{
    bool found = p && p->made_for == made_for && w->index < p->count && p->weights[w->index].param == w;
    return found ? &p->weights[w->index] : NULL;
}

#endif
