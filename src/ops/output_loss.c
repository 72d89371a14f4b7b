/* ops/output_loss.c: a model's output matrix and its cross-entropy in one operation, for vocabularies so large that reading and
 * writing logits takes most of the time; or the log-probability of each example. Small vocabularies go through rapt_op_linear and
 * rapt_op_cross_entropy, or rapt_op_log_probs.
 *
 * Forward: logits x w^T + b for the rows that count, then a loss for each. Backward, for one block of classes after the other,
 * while it is in the cache: d, their gradient, overwrites the logits; dx += d w, dw = d^T x, db = column sums of d. A block of
 * classes is a K block of dx's product, and 384 rows are a K block of dw's product, so the sums equal linear_op.c's, bit for
 * bit. */
#include "ops/deferred.h"
#include "ops/loss.h"
#include "tape/grad_watch.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <stdio.h>
#include <string.h>

#ifndef FEWEST_CLASSES        /* tests override it */
#define FEWEST_CLASSES 3072   /* enough blocks for all threads */
#define MAX_DEFERRED_ROWS 8   /* with more, computing dw twice, for its norm and for the step, is slower than storing it */
#endif
#define FEW_ROWS 128          /* max rows of a GEMM for which B is read in place */
#define PARTIAL_ELEMENTS ((size_t)1 << 22) /* elements of the partial sums of dx */
#define LINE (KERNELS_ALIGN / sizeof(rapt_real))
#define FETCH_NUMBERS ((size_t)1 << 16)   /* elements of a block of w that fits into the cache with the other operands */

typedef struct output_node {
    tape_node node;
    rapt_tensor *x, *b, *loss;
    rapt_param *w;
    loss_rows rows;
    size_t count;           /* number of rows that count */
    size_t *row_of;         /* [count] their indices in x */
    size_t *ends;           /* [blocks]: where each 384 rows of x end among the rows that count */
    size_t blocks;
    const rapt_real *inputs; /* [count, in] */
    size_t stride;          /* elements of a row of logits: an odd number of cache lines, so that a column uses all sets of the
                               cache */
    rapt_real *logits;      /* [count, stride], then their gradient */
    bool fits;              /* the gradient of w may be deferred */
} output_node;

static size_t output_loss_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t blocks_of(size_t elements)
{
    return (elements + KERNELS_K_BLOCK - 1) / KERNELS_K_BLOCK;
}

/* ---- forward ---------------------------------------------------------------------------------------------- */

static rapt_tensor *output_loss_check(rapt_tape *t, const char *name, const rapt_tensor *x, const rapt_tensor *w,
                                      const rapt_tensor *b, rapt_tokens labels, const rapt_loss_options *o)
{
    char op[96], text[96];
    snprintf(op, sizeof op, "%s %s", name, w->name);
    if (!loss_fits(x, labels))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%s: input %s for %zu x %zu labels", op, rapt_shape_text(x, text, sizeof text),
                              labels.batch, labels.time);
    if (w->ndim != 2 || w->shape[1] != rapt_tensor_features(x))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%s: input has %zu features, weight expects %zu", op, rapt_tensor_features(x),
                              w->ndim == 2 ? w->shape[1] : 0);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%s: bias has %zu elements, output %zu", op, rapt_tensor_size(b), w->shape[0]);
    return loss_check(t, op, labels, w->shape[0], o);
}

/* Lists the rows that count. */
static void list_rows(rapt_tape *t, output_node *n)
{
    size_t rows = rapt_tensor_rows(n->x);
    n->blocks = blocks_of(rows);
    n->row_of = tape_alloc(t, rows, sizeof *n->row_of);
    n->ends = tape_alloc(t, n->blocks, sizeof *n->ends);
    if (tape_failed(t))
        return;
    for (size_t row = 0; row < rows; row++) {
        if (loss_counts(&n->rows, row))
            n->row_of[n->count++] = row;
        n->ends[row / KERNELS_K_BLOCK] = n->count;
    }
}

/* x without the rows that don't count. */
static const rapt_real *gather_inputs(rapt_tape *t, const output_node *n)
{
    size_t in = rapt_tensor_features(n->x);
    if (n->count == rapt_tensor_rows(n->x))
        return n->x->data;
    rapt_real *to = tape_elements(t, n->count * in);
    for (size_t i = 0; to && tape_computes(t) && i < n->count; i++)
        memcpy(to + i * in, n->x->data + n->row_of[i] * in, in * sizeof *to);
    return to;
}

/* After the rows and the result. */
static void output_loss_lay_out(rapt_tape *t, output_node *n)
{
    n->stride = ((n->rows.classes + LINE - 1) / LINE | 1) * LINE;
    if (!tape_failed(t))
        list_rows(t, n);
    if (!tape_failed(t))
        n->inputs = gather_inputs(t, n);
    if (!tape_failed(t))
        n->logits = tape_elements(t, n->count * n->stride);
}

typedef struct output_loop {
    rapt_tape *t;
    const output_node *n;
    size_t first_row, rows;   /* rows that count, in this block of rows */
    size_t first_block;       /* first block of classes in this group */
    size_t group;             /* blocks of classes at most */
    rapt_real *dx, *dw, *db;  /* NULL: not needed */
    bool add_x, add_w;        /* they hold a sum already */
    rapt_real *partial;       /* [group, rows, in]: the partial sum of dx of each block of classes */
} output_loop;

static void output_loss_forward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const output_loop *l = context;
    const output_node *n = l->n;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++)
        loss_forward_row(l->t->k, &n->rows, n->row_of[i], n->logits + i * n->stride);
}

/* Logits of one block of classes. */
static void forward_block(void *context, size_t index, int worker)
{
    const output_loop *l = context;
    const output_node *n = l->n;
    const kernels_gemm *g = l->t->team.gemm;
    size_t in = n->w->value.shape[1], first = index * KERNELS_K_BLOCK;
    size_t count = output_loss_min(KERNELS_K_BLOCK, n->rows.classes - first);
    const kernels_epilogue whole = {.bias = n->b ? n->b->data + first : NULL};
    rapt_real *own = gemm_own(&l->t->team, worker);
    matrix w = {n->w->value.data + first * in, 1, (ptrdiff_t)in}, x = {n->inputs, (ptrdiff_t)in, 1};
    if (count * in <= FETCH_NUMBERS)
        deferred_prefetch(w.data, count * in);
    for (size_t k0 = 0; k0 < in; k0 += KERNELS_K_BLOCK) {
        size_t kc = output_loss_min(KERNELS_K_BLOCK, in - k0);
        const matrix a = matrix_at(x, 0, k0), block = matrix_at(w, k0, 0);
        panels_pack(g, kc, count, &block, own);
        panel_block b = panels_packed(g, kc, own);
        kernels_epilogue epilogue = panels_block_epilogue(&whole, k0, in);
        panels_multiply_block(g, n->count, count, kc, &a, &b, n->logits + first, n->stride, &epilogue);
    }
}

static rapt_loss_sums output_loss_forward(rapt_tape *t, output_node *n)
{
    size_t classes = n->rows.classes, rows = rapt_tensor_rows(n->x);
    output_loop loop = {.t = t, .n = n};
    memset(n->rows.row_nll, 0, rows * sizeof *n->rows.row_nll);
    memset(n->rows.row_loss, 0, rows * sizeof *n->rows.row_loss);
    pool_run(t->pool, blocks_of(classes), classes * n->count * n->w->value.shape[1] / 8, forward_block, &loop);
    tape_units(t, n->count, 2 * classes, output_loss_forward_rows, &loop);
    return loss_add_up(t, &n->rows, n->loss);
}

/* ---- backward --------------------------------------------------------------------------------------------- */

/* C [m x n] (+)= A [m x kc] B [kc x n] for kc up to KERNELS_K_BLOCK, on this worker. */
static void output_loss_multiply(const rapt_tape *t, int worker, size_t m, size_t n, size_t kc, const matrix *a, matrix b,
                                 rapt_real *c, bool accumulate)
{
    const kernels_gemm *g = t->team.gemm;
    const size_t max_columns = GEMM_OWN / KERNELS_K_BLOCK;
    rapt_real *own = gemm_own(&t->team, worker);
    for (size_t j = 0; j < n; j += max_columns) {
        size_t columns = output_loss_min(max_columns, n - j);
        const matrix some = matrix_at(b, 0, j);
        bool stays = m <= FEW_ROWS && panels_can_stay(g, b, columns);
        if (!stays)
            panels_pack(g, kc, columns, &some, own);
        panel_block block = stays ? panels_in_place(g, some) : panels_packed(g, kc, own);
        panels_multiply_block(g, m, columns, kc, a, &block, c + j, n, &(kernels_epilogue){.accumulate = accumulate});
    }
}

/* A block of classes and its rows: the partial sum of dx, and rows of dw. */
static void multiply_both(const output_loop *l, size_t first, size_t count, rapt_real *partial, int worker)
{
    const output_node *n = l->n;
    size_t in = n->w->value.shape[1], at = first * in;
    const rapt_real *d = n->logits + l->first_row * n->stride + first, *w = n->w->value.data + at;
    ptrdiff_t ld = (ptrdiff_t)n->stride, width = (ptrdiff_t)in;
    bool fetch = count * in <= FETCH_NUMBERS;
    if (l->dx && fetch)
        deferred_prefetch(w, count * in);
    if (l->dx)
        output_loss_multiply(l->t, worker, l->rows, in, count, &(matrix){d, ld, 1}, (matrix){w, width, 1}, partial, false);
    if (l->dw && fetch)
        deferred_prefetch(l->dw + at, count * in);
    if (l->dw)
        output_loss_multiply(l->t, worker, count, in, l->rows, &(matrix){d, 1, ld},
                             (matrix){n->inputs + l->first_row * in, width, 1}, l->dw + at, l->add_w);
}

static void backward_block(void *context, size_t index, int worker)
{
    const output_loop *l = context;
    const output_node *n = l->n;
    size_t first = (l->first_block + index) * KERNELS_K_BLOCK;
    size_t count = output_loss_min(KERNELS_K_BLOCK, n->rows.classes - first), end = l->first_row + l->rows;
    for (size_t i = l->first_row; i < end; i++) {
        rapt_real *d = n->logits + i * n->stride + first;
        loss_backward_row(l->t->k, &n->rows, n->row_of[i], loss_scale(&n->rows, n->loss, n->row_of[i]), first, count, d, d);
    }
    multiply_both(l, first, count, l->partial + index * l->rows * n->w->value.shape[1], worker);
    if (l->db && end == n->count)
        l->t->k->column_sums(n->count, count, n->logits + first, n->stride, l->db + first);
}

/* dx += the partial sums of all blocks of classes, in their order. */
static void output_loss_add_partials(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const output_loop *l = context;
    size_t in = l->n->w->value.shape[1];
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        rapt_real *dx = l->dx + l->n->row_of[l->first_row + i] * in;
        for (size_t j = 0; j < l->group; j++) {
            const rapt_real *part = l->partial + (j * l->rows + i) * in;
            if (l->add_x || l->first_block + j > 0)
                l->t->k->add(in, dx, part, dx);
            else
                memcpy(dx, part, in * sizeof *dx);
        }
    }
}

/* A block of rows: all classes, in groups whose partial sums fit into memory. */
static void output_loss_backward_rows(output_loop l, size_t max_blocks)
{
    rapt_tape *t = l.t;
    size_t in = l.n->w->value.shape[1], blocks = blocks_of(l.n->rows.classes);
    for (; l.first_block < blocks; l.first_block += l.group) {
        l.group = output_loss_min(max_blocks, blocks - l.first_block);
        pool_run(t->pool, l.group, l.group * KERNELS_K_BLOCK * l.rows * in / 4, backward_block, &l);
        if (l.dx)
            tape_units(t, l.rows, l.group * in, output_loss_add_partials, &l);
    }
}

/* Records dw as deferred if that is allowed and w has no deferred gradient yet. */
static bool output_loss_defer(rapt_tape *t, const output_node *n)
{
    rapt_error err = {0};
    if (deferred_check(t, n->w, &err))
        rapt_tape_fail(t, err.code, "output_loss %s", err.message);
    const bool few = t->defers && n->count <= MAX_DEFERRED_ROWS;
    const bool released = t->releases && n->count <= n->w->value.shape[1] && !n->w->value.grad_filled;
    if (tape_failed(t) || !n->fits || !(few || released) || n->w->state->deferred.dy || n->w->sparse ||
        n->w->value.grad_bf16 || !tape_wants(t, &n->w->value)) /* a gradient in bf16 is small, and a deferred one could not be
                                                                  added to it */
        return false;
    n->w->state->deferred = (deferred_grad){n->logits, n->inputs, n->stride, n->ends, n->blocks, t, t->passes, false, NULL};
    n->w->state->deferred.takes_rows = released && !few;
    grad_watch_note(t, &n->w->value);
    return true;
}

/* Allocates the gradients; rows that don't count get 0. */
static void find_gradients(rapt_tape *t, output_loop *l, bool deferred)
{
    const output_node *n = l->n;
    l->dx = tape_grad(t, n->x, &l->add_x);
    l->dw = deferred ? NULL : tape_grad(t, &n->w->value, &l->add_w);
    l->db = tape_grad_zeroed(t, n->b);
    if (!tape_computes(t))
        return;
    if (l->dw && n->w->sparse)
        memset(n->w->state->row_used, 1, n->w->value.shape[0]);
    if (l->dx && !l->add_x && n->count < rapt_tensor_rows(n->x))
        memset(l->dx, 0, rapt_tensor_size(n->x) * sizeof *l->dx);
    if (l->dw && !l->add_w && n->count == 0)
        memset(l->dw, 0, rapt_tensor_size(&n->w->value) * sizeof *l->dw);
}

static double output_loss_gemm_flops(const output_node *n)
{
    return 2.0 * (double)n->count * (double)rapt_tensor_size(&n->w->value);
}

/* The matrix, and the logits that are kept. */
static double output_loss_elements_of(const output_node *n)
{
    return (double)rapt_tensor_size(&n->w->value) + (double)n->count * (double)n->w->value.shape[0];
}

static void output_loss_backward(rapt_tape *t, tape_node *node)
{
    output_node *n = (output_node *)node;
    if (!n->loss->grad_filled)
        return;
    profile_op(t, "output and loss", 2 * output_loss_gemm_flops(n), 2 * output_loss_elements_of(n));
    output_loop l = {.t = t, .n = n};
    bool deferred = output_loss_defer(t, n);
    if (!tape_failed(t))
        find_gradients(t, &l, deferred);
    size_t in = n->w->value.shape[1], elements = output_loss_min(n->count, KERNELS_K_BLOCK) * in;
    size_t max_blocks = PARTIAL_ELEMENTS / (elements ? elements : 1) + 2 * (size_t)rapt_tape_threads(t);
    max_blocks = output_loss_min(max_blocks, blocks_of(n->rows.classes));
    l.partial = tape_failed(t) ? NULL : tape_scratch(t, max_blocks * elements, sizeof *l.partial);
    for (size_t i = 0; i < n->blocks && !tape_failed(t); i++) {
        l.rows = n->ends[i] - l.first_row;
        if (l.rows == 0)
            continue;
        output_loss_backward_rows(l, max_blocks);
        l.first_row = n->ends[i];
        l.add_w = true;
    }
    if (!deferred && !tape_failed(t)) /* the logits' gradient is not read again */
        free_list_give(&t->free_list, n->logits, n->count * n->stride);
}

/* options NULL: log-probabilities. */
static rapt_tensor *fused(rapt_tape *t, const output_node *n, rapt_tokens labels, const int32_t *valid_lens,
                          const rapt_loss_options *options, rapt_loss_sums *parts)
{
    const size_t classes = n->w->value.shape[0];
    output_node *node = tape_alloc(t, 1, sizeof *node);
    if (!node)
        return &t->poison;
    *node = *n;
    if (options) {
        node->rows = loss_lay_out(t, n->x, labels, classes, options);
        node->loss = tape_output(t, 1, (size_t[]){1}, true);
    } else {
        node->rows = loss_lay_out_examples(t, n->x, labels, classes, valid_lens, true, &node->loss);
    }
    output_loss_lay_out(t, node);
    if (tape_failed(t))
        return &t->poison;
    node->loss->name = n->w->value.name;
    profile_op(t, "output and loss", output_loss_gemm_flops(node), output_loss_elements_of(node));
    rapt_loss_sums sums = output_loss_forward(t, node);
    if (parts)
        *parts = sums;
    if (node->loss->requires_grad)
        tape_record(t, &node->node, output_loss_backward);
    return node->loss;
}

static output_node output_loss_node(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b)
{
    tape_refresh_operand(t, w);
    if (b)
        tape_refresh(t, b);
    return (output_node){.x = x, .w = w, .b = b ? &b->value : NULL,
                         .fits = (t->defers || t->releases) && deferred_fits(t, w->value.shape[1])};
}

/* An observer gets logits and all gradients. */
static bool output_loss_fuses(const rapt_tape *t, const output_node *n)
{
    return n->w->value.shape[0] >= FEWEST_CLASSES && !observe_on(t);
}

rapt_tensor *rapt_op_output_loss(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_tokens labels,
                                 const rapt_loss_options *options, rapt_loss_sums *parts)
{
    rapt_tensor *bad;
    options = options ? options : &(rapt_loss_options){0};
    if (parts)
        *parts = (rapt_loss_sums){0};
    if (tape_failed(t))
        return &t->poison;
    if ((bad = output_loss_check(t, "output_loss", x, &w->value, b ? &b->value : NULL, labels, options)))
        return bad;
    output_node n = output_loss_node(t, x, w, b);
    const bool records = tape_wants(t, x) || tape_wants(t, &w->value) || tape_wants(t, n.b);
    if (records && output_loss_fuses(t, &n))
        return fused(t, &n, labels, NULL, options, parts);
    return rapt_op_cross_entropy(t, rapt_op_linear(t, x, w, b, RAPT_ACTIVATION_IDENTITY), labels, options, parts);
}

rapt_tensor *rapt_op_output_log_probs(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_tokens labels,
                                      const int32_t *valid_lens)
{
    rapt_tensor *bad;
    if (tape_failed(t))
        return &t->poison;
    if ((bad = output_loss_check(t, "output_log_probs", x, &w->value, b ? &b->value : NULL, labels, &(rapt_loss_options){0})))
        return bad;
    output_node n = output_loss_node(t, x, w, b);
    if (output_loss_fuses(t, &n)) /* also in a pass that does not record: prompts are long, and need no logits */
        return fused(t, &n, labels, valid_lens, NULL, NULL);
    return rapt_op_log_probs(t, rapt_op_linear(t, x, w, b, RAPT_ACTIVATION_IDENTITY), labels, valid_lens);
}
