/* ops/rotary_op.c: rotary positions: pairs of features of every head, rotated by an angle that grows with the position. For
 * queries and keys of self-attention. The module nn/rotary.c makes the table of cosines and sines.
 *
 * Backward: the transposed rotation, that is, back by the same angle. */
#include "ops/rotary_op.h"

#include "tape/observe_op.h"
#include "tape/profile_op.h"
#include "tensor/param_source.h"

typedef struct rotary_node {
    tape_node node;
    rapt_tensor *x, *y;
    const rapt_real *table; /* row of position `first` */
    const rapt_cached_row *rows; /* rows of examples that begin at different positions, which count from `first`; or NULL */
    size_t d;               /* features of a head */
} rotary_node;

typedef struct rotary_loop {
    const kernels *k;
    const rotary_node *r;
    const rapt_real *from;
    rapt_real *to;
    rapt_real direction;
    rapt_real *scratch; /* a row for each worker if the result is added, or NULL */
} rotary_loop;

static void turn_row(const rotary_loop *loop, size_t row, size_t position, int worker)
{
    const rotary_node *r = loop->r;
    size_t width = rapt_tensor_features(r->x), at = row * width;
    rapt_real *to = loop->to + at, *turned = loop->scratch ? loop->scratch + (size_t)worker * width : to;
    loop->k->rotary(width / r->d, r->d / 2, loop->direction, loop->from + at, r->table + position * r->d, turned);
    if (loop->scratch)
        loop->k->add(width, to, turned, to);
}

/* A unit is a position of an example. In a ragged tensor, the last units of shorter examples are empty. */
static void rotary_turn_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rotary_loop *loop = context;
    size_t longest = tape_longest(loop->r->x);
    (void)chunk;
    for (size_t unit = first; unit < last; unit++) {
        const size_t example = unit / longest, at = unit % longest, past = loop->r->rows ? loop->r->rows[example].past : 0;
        tape_rows rows = tape_rows_of(loop->r->x, example);
        if (at < rows.count)
            turn_row(loop, rows.first + at, past + at, worker);
    }
}

static void rotary_turn(rapt_tape *t, rotary_loop loop)
{
    const rapt_tensor *x = loop.r->x;
    profile_op(t, "rotary", 0, 2.0 * (double)rapt_tensor_size(x));
    tape_units(t, tape_examples(x) * tape_longest(x), rapt_tensor_features(x), rotary_turn_units, &loop);
}

static void rotary_backward(rapt_tape *t, tape_node *node)
{
    const rotary_node *r = (rotary_node *)node;
    bool add;
    rapt_real *dx = r->y->grad_filled ? tape_grad(t, r->x, &add) : NULL;
    if (!dx)
        return;
    rotary_loop loop = {.k = t->k, .r = r, .from = r->y->grad, .to = dx, .direction = -1};
    size_t scratch = rapt_tensor_features(r->x) * (size_t)rapt_tape_threads(t);
    loop.scratch = add ? tape_scratch(t, scratch, sizeof *loop.scratch) : NULL;
    if (!tape_failed(t))
        rotary_turn(t, loop);
}

static rapt_tensor *rotary_check(rapt_tape *t, const rapt_tensor *x, const rapt_param *table, size_t end)
{
    char sx[96], st[96];
    const rapt_tensor *w = &table->value;
    if (!table->buffer)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "rotary %s: the table is not a buffer", w->name);
    if (w->ndim != 2 || w->shape[1] % 2 != 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "rotary %s: the table's shape %s is not [positions, an even number]", w->name,
                              rapt_shape_text(w, st, sizeof st));
    if ((x->ndim != 3 && !x->ragged) || rapt_tensor_features(x) % w->shape[1] != 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "rotary %s: %s does not consist of heads of %zu features", w->name,
                              rapt_shape_text(x, sx, sizeof sx), w->shape[1]);
    if (end > w->shape[0])
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "rotary %s: position %zu of %s, but the table has %zu", w->name, end - 1,
                              rapt_shape_text(x, sx, sizeof sx), w->shape[0]);
    return NULL;
}

/* Names the rotated queries or keys. */
static rapt_tensor *rotary_observe(rapt_tape *t, const rapt_tensor *x, const rapt_param *table, rapt_tensor *y)
{
    const bool query = observe_is(t, x, "q") || observe_is(t, x, "q.normed");
    if (!query && !observe_is(t, x, "k") && !observe_is(t, x, "k.normed"))
        return y;
    observe_from(t, (observe_source){.inputs = {x}, .parameters = {&table->value}});
    if (query)
        return observe_tensor(t, "q.rotated", "pairs of q, rotated by their position", OBSERVE_QUERIES, y);
    return observe_tensor(t, "k.rotated", "pairs of k, rotated by their position", OBSERVE_KEYS, y);
}

/* Positions first .. end - 1 of the table are read. */
static rapt_tensor *rotary_run(rapt_tape *t, rapt_tensor *x, const rapt_param *table, size_t first, size_t end,
                               const rapt_cached_row *rows)
{
    rapt_tensor *bad;
    if ((bad = rotary_check(t, x, table, end)))
        return bad;
    size_t d = table->value.shape[1];
    rotary_node *node = tape_alloc(t, 1, sizeof *node);
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    if (tape_failed(t))
        return &t->poison;
    if (tape_computes(t))
        param_source_rows(table, t->pool, first, end - first);
    *node = (rotary_node){.x = x, .y = y, .table = table->value.data + first * d, .rows = rows, .d = d};
    rotary_turn(t, (rotary_loop){.k = t->k, .r = node, .from = x->data, .to = y->data, .direction = 1});
    if (y->requires_grad)
        tape_record(t, &node->node, rotary_backward);
    return rotary_observe(t, x, table, y);
}

rapt_tensor *rapt_op_rotary(rapt_tape *t, rapt_tensor *x, const rapt_param *table, size_t first)
{
    size_t end;
    if (tape_failed(t))
        return &t->poison;
    if (__builtin_add_overflow(first, tape_longest(x), &end))
        end = SIZE_MAX;
    return rotary_run(t, x, table, first, end, NULL);
}

rapt_tensor *rotary_op_cached(rapt_tape *t, rapt_tensor *x, const rapt_param *table, const rapt_cached_row *rows)
{
    size_t end = 0;
    if (tape_failed(t))
        return &t->poison;
    if (tape_wants(t, x))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "rotary %s: there is no backward pass of cached rows", table->value.name);
    for (size_t b = 0; (x->ndim == 3 || x->ragged) && b < tape_examples(x); b++) {
        size_t of_row;
        if (__builtin_add_overflow(rows[b].past, tape_rows_of(x, b).count, &of_row))
            of_row = SIZE_MAX;
        end = of_row > end ? of_row : end;
    }
    return rotary_run(t, x, table, 0, end, rows);
}
