/* ops/dora_op.c: y = g u + b with g = m / n, row by row of a layer's matrix: gives the rows of V = W + scale B A, whose product
 * with x is u, the trained magnitudes m as their lengths (DoRA: Liu et al. 2024, eq. 5). For layers with adapters that lora_op.c
 * has added.
 *
 * V is never made. The length n of row i follows from n^2 = |w|^2 + 2 scale b . q, where w and b are rows of W and B, and row i
 * of Q^T = W A^T + scale/2 B A A^T is q. |w|^2 is known, because W does not change; W A^T is one product with as many rows as the
 * adapter has ranks.
 *
 * Backward: du = g dy, dm = sum over rows of dy u / n, db = sum over rows of dy. n counts as a constant, as in section 4.3 of the
 * paper and in PEFT. */
#include "ops/dora_op.h"

#include "base/min.h"
#include "ops/linear_parts.h"
#include "tape/profile_op.h"
#include "tensor/param_source.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 16, ROWS = 16 /* that are read at a time */, COLUMNS = 64 /* that a thread adds up */ };

typedef struct dora_node {
    tape_node node;
    rapt_tensor *u, *y, *m, *b; /* b: or NULL */
    const rapt_lora *lora;
    rapt_real *n, *g; /* [out] lengths of the rows of V; what features of u are multiplied by */
    rapt_real *q;     /* [rank, out], in the forward pass */
    rapt_real *dg;    /* [out], in the backward pass */
    rapt_real *du;
    bool accumulate; /* du */
    const kernels *k;
    size_t rows, out;
} dora_node;

/* ---- lengths ------------------------------------------------------------------------------------------------------ */

static double dora_row_square(size_t n, const rapt_real *x)
{
    double lanes[LANES] = {0}, sum = 0;
    for (size_t j = 0; j < n; j += LANES)
        for (size_t i = 0; i < MIN(LANES, n - j); i++)
            lanes[i] += (double)x[j + i] * (double)x[j + i];
    for (size_t i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

static rapt_real dora_length(double square)
{
    return square > 0 ? (rapt_real)sqrt(square) : 0;
}

bool dora_squares(const rapt_param *w, double *squares, rapt_real *lengths)
{
    const size_t out = w->value.shape[0], in = w->value.shape[1];
    rapt_real *read = param_has_source(w) ? malloc(ROWS * in * sizeof *read) : NULL;
    if (param_has_source(w) && !read)
        return false;
    if (!read)
        param_refresh(w, NULL);
    for (size_t first = 0; first < out; first += ROWS) {
        const size_t count = MIN(ROWS, out - first);
        if (read)
            param_source_read(w, first, count, read);
        for (size_t i = 0; i < count; i++) {
            squares[first + i] = dora_row_square(in, read ? read + i * in : w->value.data + (first + i) * in);
            lengths[first + i] = dora_length(squares[first + i]);
        }
    }
    if (read)
        param_source_leave(w);
    free(read);
    return true;
}

/* n and g of rows first .. last - 1. A row of zeros has no direction, and stays. */
static void dora_lengths(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const dora_node *n = context;
    const rapt_tensor *b = &n->lora->b->value;
    const size_t rank = b->shape[1];
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        double change = 0;
        for (size_t r = 0; r < rank; r++)
            change += (double)b->data[i * rank + r] * (double)n->q[r * n->out + i];
        n->n[i] = dora_length(n->lora->squares[i] + 2 * n->lora->scale * change);
        n->g[i] = n->n[i] > 0 ? n->m->data[i] / n->n[i] : 1;
    }
}

static void dora_measure(rapt_tape *t, dora_node *n, rapt_param *w)
{
    const rapt_tensor *a = &n->lora->a->value, *b = &n->lora->b->value;
    const size_t rank = a->shape[0], in = a->shape[1];
    const arena_mark mark = tape_mark(t);
    rapt_real *square = tape_scratch(t, rank * rank, sizeof *square); /* scale/2 A A^T */
    n->q = tape_scratch(t, rank * n->out, sizeof *n->q);
    if (!tape_failed(t))
        linear_product(t, w, rank, a->data, n->q);
    if (tape_failed(t))
        return;
    const linear_scaling scaling = {square, (rapt_real)(n->lora->scale / 2)};
    const gemm_job first = {.m = rank, .n = rank, .k = in, .a = {a->data, (ptrdiff_t)in, 1}, .b = {a->data, 1, (ptrdiff_t)in},
                            .c = square, .epilogue_fn = linear_scale, .context = &scaling};
    const gemm_job second = {.m = rank, .n = n->out, .k = rank, .a = {square, (ptrdiff_t)rank, 1},
                             .b = {b->data, 1, (ptrdiff_t)rank}, .c = n->q, .epilogue = {.accumulate = true}};
    gemm(&t->team, &first);
    gemm(&t->team, &second);
    tape_units(t, n->out, 4 * rank + 20, dora_lengths, n);
    tape_release(t, mark);
}

/* ---- backward ----------------------------------------------------------------------------------------------------- */

static void dora_input_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const dora_node *n = context;
    (void)chunk, (void)worker;
    for (size_t at = first * n->out; at < last * n->out; at += n->out)
        (n->accumulate ? n->k->mul_add : n->k->mul)(n->out, n->y->grad + at, n->g, n->du + at);
}

static void dora_sum_columns(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const dora_node *n = context;
    const size_t from = first * COLUMNS, count = MIN(last * COLUMNS, n->out) - from;
    (void)chunk, (void)worker;
    n->k->fill(count, 0, n->dg + from);
    for (size_t i = 0; i < n->rows; i++)
        n->k->mul_add(count, n->y->grad + i * n->out + from, n->u->data + i * n->out + from, n->dg + from);
}

/* dm += dg / n, but for rows of zeros. */
static void dora_magnitude_gradient(rapt_tape *t, const dora_node *n)
{
    rapt_real *dm = tape_grad_zeroed(t, n->m);
    for (size_t i = 0; dm && tape_computes(t) && i < n->out; i++)
        dm[i] += n->n[i] > 0 ? n->dg[i] / n->n[i] : 0;
}

static void dora_backward(rapt_tape *t, tape_node *node)
{
    dora_node *n = (dora_node *)node;
    const size_t blocks = (n->out + COLUMNS - 1) / COLUMNS;
    if (!n->y->grad_filled)
        return;
    profile_op(t, "dora", 0, 5.0 * (double)rapt_tensor_size(n->y));
    n->dg = tape_scratch(t, n->out, sizeof *n->dg);
    if (n->dg && tape_wants(t, n->m)) {
        tape_units(t, blocks, n->rows * COLUMNS / 4, dora_sum_columns, n);
        dora_magnitude_gradient(t, n);
    }
    rapt_real *db = tape_grad_zeroed(t, n->b);
    if (db && tape_computes(t))
        t->k->column_sums(n->rows, n->out, n->y->grad, n->out, db);
    if ((n->du = tape_grad(t, n->u, &n->accumulate)) != NULL)
        tape_units(t, n->rows, n->out, dora_input_rows, n);
}

/* ---- the operation ------------------------------------------------------------------------------------------------ */

static void dora_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const dora_node *n = context;
    (void)chunk, (void)worker;
    for (size_t at = first * n->out; at < last * n->out; at += n->out) {
        n->k->mul(n->out, n->u->data + at, n->g, n->y->data + at);
        if (n->b)
            n->k->add(n->out, n->y->data + at, n->b->data, n->y->data + at);
    }
}

static rapt_tensor *dora_check(rapt_tape *t, const rapt_tensor *u, const rapt_lora *m, const rapt_param *w, const rapt_param *b)
{
    const size_t out = rapt_tensor_features(u);
    if (!m->magnitude || !m->squares)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "dora %s: the adapter has no magnitudes", w->value.name);
    const rapt_tensor *length = &m->magnitude->value, *rows = &m->b->value, *columns = &m->a->value;
    if (length->ndim != 1 || length->shape[0] != out || w->value.ndim != 2 || w->value.shape[0] != out || rows->ndim != 2 ||
        rows->shape[0] != out || columns->ndim != 2 || columns->shape[0] != rows->shape[1] ||
        columns->shape[1] != w->value.shape[1] || (b && rapt_tensor_size(&b->value) != out))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "dora %s: its adapter has another shape, or it does not give %zu features",
                              w->value.name, out);
    return NULL;
}

rapt_tensor *rapt_op_dora(rapt_tape *t, rapt_tensor *u, const rapt_lora *m, rapt_param *w, rapt_param *b)
{
    if (tape_failed(t) || dora_check(t, u, m, w, b))
        return &t->poison;
    rapt_param *const read[] = {m->b, m->magnitude, b};
    tape_refresh_operand(t, m->a);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i])
            tape_refresh(t, read[i]);
    rapt_tensor *y = tape_output_like(t, u, tape_wants(t, u) || tape_wants(t, &m->magnitude->value) ||
                                                tape_wants(t, b ? &b->value : NULL));
    dora_node *n = tape_alloc(t, 1, sizeof *n);
    const size_t out = rapt_tensor_features(u);
    rapt_real *lengths = tape_alloc(t, 2 * out, sizeof *lengths);
    if (tape_failed(t))
        return &t->poison;
    y->name = u->name;
    *n = (dora_node){.u = u, .y = y, .m = &m->magnitude->value, .b = b ? &b->value : NULL, .lora = m, .n = lengths,
                     .g = lengths + out, .k = t->k, .rows = rapt_tensor_rows(u), .out = out};
    profile_op(t, "dora", 2.0 * (double)m->a->value.shape[0] * (double)rapt_tensor_size(&w->value),
               3.0 * (double)rapt_tensor_size(y) + (double)rapt_tensor_size(&w->value));
    dora_measure(t, n, w);
    if (tape_failed(t))
        return &t->poison;
    tape_units(t, n->rows, 2 * out, dora_rows, n);
    if (y->requires_grad)
        tape_record(t, &n->node, dora_backward);
    return y;
}
