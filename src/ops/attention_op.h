/* ops/attention_op.h: the inside of the fused attention: one head of one example as matrices, forward and backward; the heads of
 * a single query together. */
#ifndef OPS_ATTENTION_OP_H
#define OPS_ATTENTION_OP_H

#include "ops/attention_panels.h"
#include "ops/mask.h"
#include "tape/tape_core.h"
#include "tensor/stored.h"

#include <math.h>

#define QUERY_TILE 70 /* queries handled together: whole row tiles for the avx512 kernels, and nearly so for the others */

/* Keys and values in place of the elements of their tensors: [batch, keys, heads / group, bytes of a row of d or dv numbers]. */
typedef struct attention_stored {
    rapt_type storage;
    const uint8_t *k, *v;
    const attention_panels *panels; /* besides the elements of k and v; or NULL */
} attention_stored;

typedef struct attention_node {
    tape_node node;
    rapt_tensor *q, *out;        /* [batch, queries, heads * d] and [.. heads * dv], or ragged */
    rapt_tensor *k, *v;          /* [batch, keys, heads / group * d] and [.. heads / group * dv], or ragged */
    attention_stored stored;     /* stored k and v, if the tensors have no elements of their own; else its k is NULL */
    size_t batch, queries, keys; /* queries and keys of the longest example; with cached rows, the most keys that an example
                                    attends to */
    size_t heads, d, dv;
    size_t group;                /* query heads that share a key-value head */
    rapt_mask mask;              /* the caller's arrays are copied: they must last until the backward pass */
    const uint8_t *pattern;      /* [2 keys] of a mask with a window (mask_fill_pattern), or NULL */
    bool masked, drops;
    const uint8_t *off;          /* [heads]: rapt_op_attention_options.off */
    kernels_dropout key;
    rapt_real scale, cap;    /* cap: 0 if there is none */
    rapt_relative_bias bias; /* added to scaled scores */
    rapt_real *row_max, *row_inv_sum; /* [batch, heads, queries] statistics of the softmax */
    rapt_attention_capture capture;
    rapt_real *weights;               /* [batch, heads, queries, keys], or NULL */
} attention_node;

typedef struct attention_loop {
    rapt_tape *t;
    const attention_node *n;
    rapt_real *scratch;
    size_t scratch_size; /* elements, for each worker */
    rapt_real *dq, *dk, *dv;
    bool add_q, add_k, add_v; /* they hold sums already */
} attention_loop;

/* One head of one example, seen as matrices. */
typedef struct attention_head {
    const attention_node *n;
    const kernels *kn;
    const kernels_gemm *gemm;
    size_t example, head, kv_head; /* kv_head: the key-value head that it shares */
    tape_rows query_rows, key_rows; /* rows of the example */
    size_t seen; /* keys that any query attends to */
    matrix q, k, v; /* [queries, d], [keys, d], [keys, dv]; k and v not of stored keys and values */
    attention_packed packed; /* keys and values from attention_panels */
    size_t columns; /* columns of K^T in panels: `seen`, or all columns of attention_panels */
    kernels_dropout key;
} attention_head;

/* A few queries together. Under a causal mask none of them sees keys after the last query's position. */
typedef struct query_tile {
    size_t first, m;
    size_t seen;  /* keys that any of them attends to */
    size_t width; /* elements of a row of scores: `seen`, then zeros up to whole vectors */
} query_tile;

/* rapt_op_attention for keys and values that are stored in another numeric type than fp32; k and v have their shapes
 * [batch, keys, feature] but no elements. Inference only. */
rapt_tensor *attention_op_stored(rapt_tape *t, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v, attention_stored stored,
                                 const rapt_op_attention_options *options);

/* Sets the example of a head. Call it once for all heads of an example. */
void attention_set_example(attention_head *h, const attention_loop *loop, size_t example);
void attention_set_head(attention_head *h, size_t head);
query_tile attention_tile(const attention_head *h, size_t first);

/* Operand B [k, n] of a GEMM of this head: read in place if there are few queries and its strides allow it; else packed into
 * `panels`. */
panel_matrix attention_operand(const attention_head *h, size_t k, size_t n, matrix b, rapt_real *panels);
/* out [m, width] = rows [m, d] of a tile times [d, keys], a transposed matrix packed into `panels` of `columns` columns, of which
 * `seen` are used. */
void attention_times_keys(const attention_head *h, const query_tile *tile, size_t d, const matrix *rows,
                          const rapt_real *panels, rapt_real *out);
/* Scores [m, width] from K^T in panels: unscaled, or scaled and capped, with the derivative of that to `slopes` unless it is
 * NULL. */
void attention_scores(const attention_head *h, const query_tile *tile, const rapt_real *keys_t, rapt_real *scores,
                      rapt_real *slopes);
/* Dropout of a tile's weights [m, width] in place, if this pass drops. */
void attention_drop(const attention_head *h, const query_tile *tile, rapt_real *rows);
mask_row attention_mask_row(const attention_head *h, size_t query);
size_t attention_row(const attention_head *h, size_t query); /* in row_max and row_inv_sum */
matrix attention_slice(const rapt_tensor *x, const rapt_real *data, tape_rows rows, size_t head, size_t width);
/* Takes `elements` from the front of a worker's memory, aligned to a cache line, as panels must be. */
rapt_real *attention_take(rapt_real **from, size_t elements);
/* Zeroes x [rows, width], rows ld apart. */
void attention_zero(size_t rows, size_t width, rapt_real *x, size_t ld);
/* n rounded up to whole vectors. */
static inline size_t attention_vectors(size_t n)
{
    return (n + KERNELS_LANES - 1) / KERNELS_LANES * KERNELS_LANES;
}


/* The factor of scores for heads with d features. */
static inline rapt_real attention_scale(const rapt_attention_scores *s, size_t d)
{
    return (rapt_real)(s->scale != 0 ? s->scale : 1 / sqrt((double)d));
}

static inline bool attention_is_biased(const rapt_relative_bias *bias)
{
    return bias->weight || bias->slopes;
}

/* Whether the kernel `attend` can compute the scores: they are only scaled, and d features fit into one block of products. */
static inline bool attention_is_plain(const rapt_relative_bias *bias, double cap, size_t d)
{
    return !attention_is_biased(bias) && cap == 0 && d <= KERNELS_K_BLOCK;
}

static inline matrix attention_transposed(matrix a)
{
    return (matrix){.data = a.data, .row = a.col, .col = a.row};
}

/* Whether biases, if any, are of that number of heads. */
bool attention_bias_fits(const rapt_relative_bias *b, size_t heads);
/* The factor that softmax still applies to a row: 1 if scores are capped or have biases, because then they are already scaled. */
static inline rapt_real attention_rest_scale(const attention_node *n)
{
    return attention_is_biased(&n->bias) || n->cap != 0 ? 1 : n->scale;
}

/* Scales row[count] of the scores of a query at `position`, and adds the biases. */
void attention_bias_row(const attention_node *n, size_t head, size_t position, size_t count, rapt_real *row);

/* Computes the output of one head; `scratch` holds attention_forward_size() elements. */
void attention_forward_head(const attention_head *h, rapt_real *scratch);
/* Whether the kernel `attend` can compute the heads of the example: one query, at least one key, keys and values in fp32, plain
 * scores, weights that nobody captures. */
bool attention_is_single(const attention_head *h);
/* attention_forward_head of the heads first .. first + count - 1 of such an example together; count <= QUERY_TILE. */
void attention_forward_single(attention_head *h, size_t first, size_t count, rapt_real *scratch);
size_t attention_forward_size(const kernels_gemm *kn, const attention_node *n);

/* Computes the gradients of head number `item`; `scratch` holds attention_backward_size() elements. */
void attention_backward_head(const attention_loop *loop, size_t item, rapt_real *scratch);
size_t attention_backward_size(const kernels_gemm *kn, const attention_node *n);

/* The readable reference: the attention of `n` as unfused operations, each intermediate observed. p: probability of dropout.
 * n's own output, dropout key and row statistics are not used. `weights` may be NULL; else it gets the weights, captured or
 * not. */
rapt_tensor *attention_observed(rapt_tape *t, const attention_node *n, double p, rapt_tensor **weights);

#endif
