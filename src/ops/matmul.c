/* ops/matmul.c: batched matrix products, over split heads: the unfused form of attention, for observed passes. The fused
 * attention avoids these copies.
 *
 * Backward of C = A B: dA = dC B^T, dB = A^T dC; of C = A B^T: dA = dC B, dB = dC^T A. */
#include "tape/profile_op.h"
#include "tape/tape_core.h"

typedef struct matmul_node {
    tape_node node;
    rapt_tensor *a, *b, *c;
    size_t batch, m, n, k;
    size_t group; /* consecutive matrices of a that share one of b */
    bool transpose_b;
} matmul_node;

static matrix item(const rapt_real *data, size_t i, size_t rows, size_t columns, bool transpose)
{
    const rapt_real *at = data + i * rows * columns;
    return transpose ? (matrix){at, 1, (ptrdiff_t)columns} : (matrix){at, (ptrdiff_t)columns, 1};
}

static void matmul_product(rapt_tape *t, size_t m, size_t n, size_t k, matrix a, matrix b, rapt_real *c, bool accumulate)
{
    gemm(&t->team, &(gemm_job){.m = m, .n = n, .k = k, .a = a, .b = b, .c = c, .epilogue = {.accumulate = accumulate}});
}

static matrix b_item(const matmul_node *s, size_t i, bool transpose)
{
    size_t j = i / s->group;
    return s->transpose_b ? item(s->b->data, j, s->n, s->k, !transpose) : item(s->b->data, j, s->k, s->n, transpose);
}

static void matmul_say(rapt_tape *t, const matmul_node *s, double times)
{
    double elements = (double)(rapt_tensor_size(s->a) + rapt_tensor_size(s->b) + rapt_tensor_size(s->c));
    profile_op(t, "matmul", times * 2 * (double)rapt_tensor_size(s->c) * (double)s->k, times * elements);
}

static void matmul_backward(rapt_tape *t, tape_node *node)
{
    matmul_node *s = (matmul_node *)node;
    bool add_a = false, add_b = false;
    if (!s->c->grad_filled)
        return;
    matmul_say(t, s, 2);
    rapt_real *da = tape_grad(t, s->a, &add_a), *db = tape_grad(t, s->b, &add_b);
    for (size_t i = 0; i < s->batch && !tape_failed(t); i++) {
        matrix dc = item(s->c->grad, i, s->m, s->n, false), dct = item(s->c->grad, i, s->m, s->n, true);
        if (da)
            matmul_product(t, s->m, s->k, s->n, dc, b_item(s, i, true), da + i * s->m * s->k, add_a);
        bool add = add_b || i % s->group > 0;
        size_t at = i / s->group * s->n * s->k;
        if (db && s->transpose_b)
            matmul_product(t, s->n, s->k, s->m, dct, item(s->a->data, i, s->m, s->k, false), db + at, add);
        else if (db)
            matmul_product(t, s->k, s->n, s->m, item(s->a->data, i, s->m, s->k, true), dc, db + at, add);
    }
}

static bool matmul_shapes_fit(const rapt_tensor *a, const rapt_tensor *b, bool transpose_b)
{
    bool fit = a->ndim == b->ndim && a->ndim >= 2;
    for (int i = 0; fit && i + 2 < a->ndim; i++)
        fit = a->shape[i] == b->shape[i] || (i == 1 && b->shape[i] > 0 && a->shape[i] % b->shape[i] == 0);
    return fit && a->shape[a->ndim - 1] == b->shape[b->ndim - (transpose_b ? 1 : 2)];
}

static matmul_node matmul_lay_out(rapt_tensor *a, rapt_tensor *b, bool transpose_b)
{
    matmul_node s = {.a = a, .b = b, .transpose_b = transpose_b, .m = a->shape[a->ndim - 2],
                     .k = a->shape[a->ndim - 1], .n = b->shape[b->ndim - (transpose_b ? 2 : 1)]};
    s.batch = rapt_tensor_size(a) / (s.m * s.k);
    s.group = a->ndim == 4 ? a->shape[1] / b->shape[1] : 1;
    return s;
}

rapt_tensor *rapt_op_matmul(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool transpose_b)
{
    char sa[96], sb[96];
    if (tape_failed(t))
        return &t->poison;
    if (!matmul_shapes_fit(a, b, transpose_b))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "matmul: %s times %s%s", rapt_shape_text(a, sa, sizeof sa),
                              rapt_shape_text(b, sb, sizeof sb), transpose_b ? " transposed" : "");
    matmul_node *s = tape_alloc(t, 1, sizeof *s);
    if (!s)
        return &t->poison;
    *s = matmul_lay_out(a, b, transpose_b);
    size_t shape[RAPT_MAX_DIMS];
    for (int i = 0; i < a->ndim; i++)
        shape[i] = i + 1 < a->ndim ? a->shape[i] : s->n;
    s->c = tape_output(t, a->ndim, shape, tape_wants(t, a) || tape_wants(t, b));
    if (!s->c)
        return &t->poison;
    matmul_say(t, s, 1);
    for (size_t i = 0; i < s->batch; i++)
        matmul_product(t, s->m, s->n, s->k, item(a->data, i, s->m, s->k, false), b_item(s, i, false),
                       s->c->data + i * s->m * s->n, false);
    if (s->c->requires_grad)
        tape_record(t, &s->node, matmul_backward);
    return s->c;
}
