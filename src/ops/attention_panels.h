/* ops/attention_panels.h: keys and values that are packed once for the products of several decoding steps, in the panels that
 * attention would pack them into in each. For the states of decoders, and for attention_head.c. */
#ifndef OPS_ATTENTION_PANELS_H
#define OPS_ATTENTION_PANELS_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "rapt/tape.h"

/* K^T [d, columns] and V [rows, dv] of each key-value head of each example, packed into panels (tensor/panels.h): V only if the
 * kernels cannot read it in place, as in bf16. An example has as many columns, and rows, as keys. */
typedef struct attention_panels attention_panels;

/* The panels of a head. */
typedef struct attention_packed {
    const rapt_real *keys;   /* NULL: the caller must pack them */
    const rapt_real *values; /* NULL: read in place, or packed by the caller */
    size_t columns, rows;    /* that were packed: of K^T, of V */
} attention_packed;

/* Packs k [examples, keys, heads * d] and v [examples, keys, heads * dv] for the kernels of the tape: the first lens[example]
 * keys of each, or all for NULL. `lens` must last as long as the panels. The memory is the arena's. NULL: the tape has failed,
 * out of memory. */
const attention_panels *attention_panels_pack(rapt_tape *t, arena *memory, const rapt_tensor *k, const rapt_tensor *v, size_t d,
                                              const int32_t *lens);

/* Finds the panels of a head of d features: none if `p` is NULL, or is packed for other kernels or heads of another size. */
void attention_panels_find(const attention_panels *p, const kernels_gemm *kn, size_t d, size_t example, size_t head,
                           attention_packed *out);
/* Elements from the keys' panels of one head to the next head's; 0 for NULL. */
size_t attention_panels_head(const attention_panels *p);

#endif
