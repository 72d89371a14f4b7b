/* ops/attention_panels.h: keys that are packed once for the products of several decoding steps, in the panels that attention
 * would pack them into in each. For the states of decoders, and for attention_head.c. */
#ifndef OPS_ATTENTION_PANELS_H
#define OPS_ATTENTION_PANELS_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "rapt/tape.h"

/* K^T [d, columns] of each key-value head of each example, packed into panels (tensor/panels.h). An example has as many columns
 * as keys. */
typedef struct attention_panels attention_panels;

/* Packs k [examples, columns, heads * d] for the kernels of the tape: the first lens[example] keys of each, or all for NULL. The
 * memory is the arena's. NULL: the tape has failed, out of memory. */
const attention_panels *attention_panels_pack(rapt_tape *t, arena *memory, const rapt_tensor *k, size_t d, const int32_t *lens);

/* The panels of a head of d features, and their number of columns unless `columns` is NULL. NULL if `p` is NULL, or is packed for
 * other kernels or heads of another size: the caller must then pack the keys. */
const rapt_real *attention_panels_find(const attention_panels *p, const kernels_gemm *kn, size_t d, size_t example, size_t head,
                                       size_t *columns);
/* Elements from the panels of one head to the panels of the next; 0 for NULL. */
size_t attention_panels_head(const attention_panels *p);

#endif
