/* ops/add_norm.c: layer norm of x, or of x + dropout(y), in one pass over the rows. For every sublayer of a block;
 * the book's AddNorm. The formulas of the backward pass stand at kernels.h's layer_norm_backward. */
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <string.h>

#define TILE_ROWS 8 /* rows of one example handled together: a dropout call serves eight */

typedef struct norm_node {
    tape_node node;
    rapt_tensor *x, *y, *gamma, *beta, *out; /* y, gamma, beta may be NULL */
    rapt_real *sum;                          /* the input of the norm: x + dropout(y), maybe in y's memory, or x's data */
    rapt_real *mean, *rstd;                  /* [norm rows] */
    rapt_tensor rows;                        /* its examples and rows are those that dropout sees */
    size_t width;
    size_t norm_width;                       /* features normalized together, a multiple or divisor of width */
    bool drops;
    kernels_dropout key;
    double eps;
} norm_node;

typedef struct norm_loop {
    rapt_tape *t;
    norm_node *n;
    rapt_real *dx, *dy; /* gradients to fill, or NULL */
    bool add_x, add_y;
    rapt_real *scratch;  /* backward: one unit for each worker */
    rapt_real *partials; /* backward: [chunks][2 * norm_width] for dgamma and dbeta */
} norm_loop;

/* The rows of a unit: as many rows of one example as are normalized together, or share a dropout call. */
static size_t unit_rows(const norm_node *n)
{
    size_t together = n->norm_width > n->width ? n->norm_width / n->width : 1;
    return together > TILE_ROWS ? together : TILE_ROWS / together * together;
}

/* The number of units of the longest example. In a ragged tensor, the last units of shorter examples are empty. */
static size_t units_of_example(const norm_node *n)
{
    return (tape_longest(&n->rows) + unit_rows(n) - 1) / unit_rows(n);
}

static size_t units_of(const norm_node *n)
{
    return tape_examples(&n->rows) * units_of_example(n);
}

typedef struct norm_span {
    size_t example, row, rows; /* rows row .. row + rows - 1 of the example */
    size_t at, size;           /* their first element, and how many */
} norm_span;

static norm_span add_norm_span_of(const norm_node *n, size_t unit)
{
    size_t per = unit_rows(n), units = units_of_example(n);
    norm_span s = {.example = unit / units, .row = unit % units * per};
    tape_rows rows = tape_rows_of(&n->rows, s.example);
    size_t left = s.row < rows.count ? rows.count - s.row : 0;
    s.rows = left < per ? left : per;
    s.at = (rows.first + s.row) * n->width;
    s.size = s.rows * n->width;
    return s;
}

static void add_norm_drop(const norm_loop *loop, norm_span s, const rapt_real *from, rapt_real *to)
{
    const norm_node *n = loop->n;
    kernels_dropout key = n->key;
    key.example = tape_example(loop->t, s.example);
    loop->t->k->dropout(&key, s.row, s.rows, n->width, from, n->width, to, n->width);
}

static void add_norm_forward_unit(const norm_loop *loop, size_t unit)
{
    const norm_node *n = loop->n;
    const kernels *k = loop->t->k;
    norm_span s = add_norm_span_of(n, unit);
    if (n->y) {
        const rapt_real *y = n->y->data + s.at;
        if (n->drops)
            add_norm_drop(loop, s, y, n->sum + s.at);
        k->add(s.size, n->x->data + s.at, n->drops ? n->sum + s.at : y, n->sum + s.at);
    }
    for (size_t i = s.at; i < s.at + s.size; i += n->norm_width)
        k->layer_norm(n->norm_width, n->sum + i, n->gamma ? n->gamma->data : NULL, n->beta ? n->beta->data : NULL,
                      (rapt_real)n->eps, n->out->data + i, &n->mean[i / n->norm_width], &n->rstd[i / n->norm_width]);
}

static void add_norm_forward_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    (void)chunk, (void)worker;
    for (size_t unit = first; unit < last; unit++)
        add_norm_forward_unit(context, unit);
}

static void add_norm_deliver(const kernels *k, size_t n, const rapt_real *from, rapt_real *to, bool add)
{
    if (to && add)
        k->add(n, to, from, to);
    else if (to)
        memcpy(to, from, n * sizeof *to);
}

static void add_norm_backward_unit(const norm_loop *loop, size_t unit, rapt_real *partial, rapt_real *dsum)
{
    const norm_node *n = loop->n;
    const kernels *k = loop->t->k;
    norm_span s = add_norm_span_of(n, unit);
    for (size_t i = 0; i < s.size; i += n->norm_width) {
        size_t row = (s.at + i) / n->norm_width;
        k->layer_norm_backward(n->norm_width, n->out->grad + s.at + i, n->sum + s.at + i,
                               n->gamma ? n->gamma->data : NULL, n->mean[row], n->rstd[row], dsum + i, partial,
                               partial && n->beta ? partial + n->norm_width : NULL);
    }
    add_norm_deliver(k, s.size, dsum, loop->dx ? loop->dx + s.at : NULL, loop->add_x);
    if (loop->dy && n->drops)
        add_norm_drop(loop, s, dsum, dsum);
    add_norm_deliver(k, s.size, dsum, loop->dy ? loop->dy + s.at : NULL, loop->add_y);
}

static void add_norm_backward_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const norm_loop *loop = context;
    size_t unit_size = unit_rows(loop->n) * loop->n->width;
    rapt_real *partial = loop->partials ? loop->partials + chunk * 2 * loop->n->norm_width : NULL;
    for (size_t unit = first; unit < last; unit++)
        add_norm_backward_unit(loop, unit, partial, loop->scratch + (size_t)worker * unit_size);
}

static size_t unit_cost(const norm_node *n)
{
    return unit_rows(n) * n->width;
}

/* Gradients of gamma and beta: each chunk of rows has a partial sum, and these are added in order. */
static void add_norm_sum_partials(rapt_tape *t, const norm_node *n, const rapt_real *partials, size_t chunks)
{
    rapt_real *dgamma = tape_grad_zeroed(t, n->gamma), *dbeta = tape_grad_zeroed(t, n->beta);
    if (dgamma && tape_computes(t))
        t->k->column_sums(chunks, n->norm_width, partials, 2 * n->norm_width, dgamma);
    if (dbeta && tape_computes(t))
        t->k->column_sums(chunks, n->norm_width, partials + n->norm_width, 2 * n->norm_width, dbeta);
}

static void add_norm_backward(rapt_tape *t, tape_node *node)
{
    norm_node *n = (norm_node *)node;
    if (!n->out->grad_filled)
        return;
    profile_op(t, n->y ? "add and norm" : "norm", 0, (double)((n->y ? 4 : 3) * rapt_tensor_size(n->x)));
    norm_loop loop = {.t = t, .n = n};
    size_t units = units_of(n), chunks = tape_chunks(units, unit_cost(n));
    size_t partial_size = n->gamma ? chunks * 2 * n->norm_width : 0;
    loop.scratch = tape_scratch(t, unit_cost(n) * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    loop.partials = partial_size ? tape_scratch(t, partial_size, sizeof *loop.partials) : NULL;
    loop.dx = tape_grad(t, n->x, &loop.add_x);
    loop.dy = tape_grad(t, n->y, &loop.add_y);
    if (tape_failed(t))
        return;
    if (loop.partials && tape_computes(t))
        memset(loop.partials, 0, partial_size * sizeof *loop.partials);
    tape_units(t, units, unit_cost(n), add_norm_backward_units, &loop);
    if (loop.partials)
        add_norm_sum_partials(t, n, loop.partials, chunks);
}

/* The number of trailing features that gamma's shape covers; 0 if it doesn't fit x. */
static size_t add_norm_width(const rapt_tensor *x, const rapt_tensor *gamma)
{
    if (!gamma)
        return rapt_tensor_features(x);
    size_t width = 1;
    for (int i = 1; i <= gamma->ndim; i++) {
        if (i > x->ndim || gamma->shape[gamma->ndim - i] != x->shape[x->ndim - i])
            return 0;
        width *= gamma->shape[gamma->ndim - i];
    }
    return width;
}

static rapt_tensor *add_norm_check(rapt_tape *t, const norm_node *n, double p)
{
    char sx[96], sy[96];
    if (n->y && !rapt_tensor_same_shape(n->x, n->y))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "add_norm: %s and %s differ", rapt_shape_text(n->x, sx, sizeof sx),
                              rapt_shape_text(n->y, sy, sizeof sy));
    if (n->norm_width == 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "layer_norm %s: the weight's shape %s does not end %s", n->gamma->name,
                              rapt_shape_text(n->gamma, sy, sizeof sy), rapt_shape_text(n->x, sx, sizeof sx));
    if (n->beta && (!n->gamma || !rapt_tensor_same_shape(n->gamma, n->beta)))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "layer_norm %s: weight and bias differ in shape",
                              n->gamma ? n->gamma->name : n->beta->name);
    if (!(p >= 0 && p < 1))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "add_norm: dropout probability %g is not in [0, 1)", p);
    return NULL;
}

/* Sets `rows`: the examples and rows of x, as dropout counts them; one example if the norm spans several dimensions. */
static void add_norm_lay_out(norm_node *n)
{
    n->rows = *n->x;
    n->width = rapt_tensor_features(n->x);
    if (n->norm_width > tape_longest(n->x) * n->width) /* normalized over the batch as well */
        n->rows = (rapt_tensor){.ndim = 2, .shape = {rapt_tensor_rows(n->x), n->width}};
}

/* `overwrite`: computes the sum in y's memory if that is safe. */
static rapt_tensor *add_norm_run(rapt_tape *t, norm_node n, bool overwrite)
{
    size_t norm_rows = rapt_tensor_size(n.x) / n.norm_width;
    n.sum = !n.y ? n.x->data : overwrite && n.x->data != n.y->data && tape_may_overwrite(t, n.y) ? n.y->data : NULL;
    n.out = tape_output_like(t, n.x, tape_wants(t, n.x) || tape_wants(t, n.y) || tape_wants(t, n.gamma) ||
                                         tape_wants(t, n.beta));
    n.mean = tape_elements(t, norm_rows);
    n.rstd = tape_elements(t, norm_rows);
    if (!n.sum)
        n.sum = tape_elements(t, rapt_tensor_size(n.x));
    norm_node *node = tape_alloc(t, 1, sizeof *node);
    if (tape_failed(t))
        return &t->poison;
    n.out->name = n.gamma ? n.gamma->name : NULL;
    *node = n;
    norm_loop loop = {.t = t, .n = node};
    profile_op(t, n.y ? "add and norm" : "norm", 0, (double)((n.y ? 4 : 2) * rapt_tensor_size(n.x)));
    tape_units(t, units_of(node), unit_cost(node), add_norm_forward_units, &loop);
    if (n.out->requires_grad)
        tape_record(t, &node->node, add_norm_backward);
    return n.out;
}

static rapt_tensor *add_norm_checked(rapt_tape *t, norm_node n, rapt_residual residual)
{
    rapt_tensor *bad;
    if (tape_failed(t))
        return &t->poison;
    n.norm_width = add_norm_width(n.x, n.gamma);
    if ((bad = add_norm_check(t, &n, residual.dropout)))
        return bad;
    add_norm_lay_out(&n);
    n.drops = n.y && residual.dropout > 0 && t->pass.training;
    if (n.drops)
        n.key = tape_dropout(t, residual.dropout);
    return add_norm_run(t, n, residual.overwrite_y);
}

static rapt_tensor *add_norm_value_of(const rapt_tape *t, rapt_param *p)
{
    if (p)
        tape_refresh(t, p);
    return p ? &p->value : NULL;
}

rapt_tensor *rapt_op_layer_norm(rapt_tape *t, rapt_tensor *x, rapt_param *gamma, rapt_param *beta, double eps)
{
    static const char biased[] = "(x - mean(x)) / sqrt(var(x) + eps) * gamma + beta",
                      plain[] = "(x - mean(x)) / sqrt(var(x) + eps) * gamma";
    norm_node n = {.x = x, .gamma = add_norm_value_of(t, gamma), .beta = add_norm_value_of(t, beta), .eps = eps};
    rapt_tensor *y = add_norm_checked(t, n, (rapt_residual){0});
    observe_from(t, (observe_source){.inputs = {x}, .parameters = {n.gamma, n.beta}, .constant = eps});
    return observe_tensor(t, "output", beta ? biased : plain, OBSERVE_ROWS, y);
}

rapt_tensor *rapt_op_add_norm(rapt_tape *t, rapt_tensor *x, rapt_tensor *y, rapt_param *gamma, rapt_param *beta,
                              double eps, rapt_residual residual)
{
    if (observe_here(t))
        return rapt_op_layer_norm(t, rapt_op_residual(t, x, y, residual), gamma, beta, eps);
    norm_node n = {.x = x, .y = y, .gamma = add_norm_value_of(t, gamma), .beta = add_norm_value_of(t, beta), .eps = eps};
    return add_norm_checked(t, n, residual);
}
