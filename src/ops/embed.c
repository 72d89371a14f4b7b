/* ops/embed.c: embedding lookup, scale, positions and dropout in one pass: the input of every model, with all options of
 * PyTorch's nn.Embedding. The backward pass adds each position's gradient to its row, always in the order of the tokens;
 * threads divide the features, so the sums don't depend on their number. */
#include "base/math.h"
#include "ops/deferred.h"
#include "ops/dropout_op.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <math.h>
#include <string.h>

#define COLUMN_BLOCK 64 /* features that one thread adds up */

typedef struct embed_node {
    tape_node node;
    rapt_param *w;
    rapt_tensor *y;
    const int32_t *ids; /* the id of each row of y */
    size_t d;
    rapt_embed_options o;
    bool drops;
    kernels_dropout key;
    rapt_real *row_scale; /* [rows of y]: the factor of the looked-up row */
} embed_node;

static size_t embed_tokens_of(const embed_node *n)
{
    return rapt_tensor_rows(n->y);
}

static double embed_norm_of(const rapt_real *row, size_t d, double p)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < d; i++) {
        double a = fabs((double)row[i]);
        largest = a > largest ? a : largest;
        sum += p == 1 ? a : p == 2 ? a * a : a > 0 ? math_pow(a, p) : 0;
    }
    return isinf(p) ? largest : p == 1 ? sum : p == 2 ? sqrt(sum) : sum > 0 ? math_pow(sum, 1 / p) : 0;
}

/* The scale of each token's row under max_norm. In training the row itself is renormalized in place, at its first occurrence. */
static void embed_renormalize(rapt_tape *t, embed_node *n)
{
    const double max = n->o.max_norm;
    for (size_t i = 0; i < embed_tokens_of(n); i++) {
        rapt_real *row = n->w->value.data + (size_t)n->ids[i] * n->d;
        double norm = max > 0 ? embed_norm_of(row, n->d, n->o.norm_type) : 0;
        double factor = max > 0 && norm > max ? max / (norm + 1e-7) : 1; /* 1e-7: PyTorch's */
        if (t->pass.training && factor != 1) {
            t->k->scale(n->d, (rapt_real)factor, row, row);
            factor = 1;
        }
        n->row_scale[i] = (rapt_real)(factor * n->o.scale);
    }
}

/* Drops the rows of one example; `from` and `to` hold all rows. */
static void embed_drop(const rapt_tape *t, const embed_node *n, size_t example, const rapt_real *from, rapt_real *to)
{
    kernels_dropout key = n->key;
    tape_rows rows = tape_rows_of(n->y, example);
    size_t at = rows.first * n->d;
    key.example = tape_example(t, example);
    t->k->dropout(&key, n->o.first_position, rows.count, n->d, from + at, n->d, to + at, n->d);
}

/* The position of the first token of an example. */
static size_t embed_first_position(const rapt_embed_options *o, size_t example)
{
    return o->cached ? o->cached[example].past : o->first_position;
}

typedef struct embed_loop {
    rapt_tape *t;
    const embed_node *n;
    const rapt_real *dy;   /* backward: gradient before dropout */
    const rapt_real *freq; /* backward: 1 / count of each token, or NULL */
    rapt_real *to;         /* backward: dropped gradient, or dw */
} embed_loop;

/* `position` is a row of the table of positions. */
static void embed_look_up(const embed_loop *loop, size_t row, size_t position)
{
    const embed_node *n = loop->n;
    const rapt_real *from = n->w->value.data + (size_t)n->ids[row] * n->d;
    rapt_real *y = n->y->data + row * n->d;
    if (n->o.positions)
        loop->t->k->scale_add(n->d, n->row_scale[row], from,
                              n->o.positions->value.data + position * n->d, y);
    else
        loop->t->k->scale(n->d, n->row_scale[row], from, y);
}

static void embed_forward_examples(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const embed_loop *loop = context;
    (void)chunk, (void)worker;
    for (size_t b = first; b < last; b++) {
        tape_rows rows = tape_rows_of(loop->n->y, b);
        for (size_t i = 0; i < rows.count; i++)
            embed_look_up(loop, rows.first + i, embed_first_position(&loop->n->o, b) + i);
        if (loop->n->drops)
            embed_drop(loop->t, loop->n, b, loop->n->y->data, loop->n->y->data);
    }
}

static void embed_drop_examples(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const embed_loop *loop = context;
    (void)chunk, (void)worker;
    for (size_t b = first; b < last; b++)
        embed_drop(loop->t, loop->n, b, loop->dy, loop->to);
}

static bool is_padding(const embed_node *n, int32_t id)
{
    return n->o.has_padding && id == n->o.padding_idx;
}

/* Adds columns `first` .. `last` blocks of every token's gradient to its row. */
static void embed_scatter_columns(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const embed_loop *loop = context;
    const embed_node *n = loop->n;
    size_t from = first * COLUMN_BLOCK, to = last * COLUMN_BLOCK < n->d ? last * COLUMN_BLOCK : n->d;
    (void)chunk, (void)worker;
    for (size_t i = 0; i < embed_tokens_of(n); i++) {
        if (is_padding(n, n->ids[i]))
            continue;
        rapt_real scale = loop->freq ? n->row_scale[i] * loop->freq[i] : n->row_scale[i];
        loop->t->k->axpy(to - from, scale, loop->dy + i * n->d + from, loop->to + (size_t)n->ids[i] * n->d + from);
    }
}

static const rapt_real *frequencies(rapt_tape *t, const embed_node *n)
{
    size_t rows = n->w->value.shape[0];
    uint32_t *count = tape_scratch(t, rows, sizeof *count);
    rapt_real *freq = tape_scratch(t, embed_tokens_of(n), sizeof *freq);
    if (!count || !freq || !tape_computes(t))
        return freq;
    memset(count, 0, rows * sizeof *count);
    for (size_t i = 0; i < embed_tokens_of(n); i++)
        count[n->ids[i]]++;
    for (size_t i = 0; i < embed_tokens_of(n); i++)
        freq[i] = (rapt_real)1 / (rapt_real)count[n->ids[i]];
    return freq;
}

static const rapt_real *before_dropout(rapt_tape *t, const embed_node *n)
{
    if (!n->drops)
        return n->y->grad;
    embed_loop loop = {.t = t, .n = n, .dy = n->y->grad};
    loop.to = tape_scratch(t, rapt_tensor_size(n->y), sizeof *loop.to);
    if (loop.to)
        tape_units(t, tape_examples(n->y), tape_longest(n->y) * n->d, embed_drop_examples, &loop);
    return loop.to;
}

static void position_gradient(rapt_tape *t, const embed_node *n, const rapt_real *dy)
{
    rapt_tensor *positions = n->o.positions ? &n->o.positions->value : NULL;
    rapt_real *dp = tape_grad_zeroed(t, positions);
    rapt_real *to = dp ? dp + n->o.first_position * n->d : NULL;
    for (size_t b = 0; to && tape_computes(t) && b < tape_examples(n->y); b++) {
        tape_rows rows = tape_rows_of(n->y, b);
        t->k->add(rows.count * n->d, to, dy + rows.first * n->d, to);
    }
}

/* Whether the additions to rows are deferred, because the gradient of the output matrix, which is the same one,
 * is. */
static bool embed_defer(rapt_tape *t, const embed_node *n, const embed_loop *loop)
{
    const size_t count = embed_tokens_of(n);
    if (!n->w->state->deferred.takes_rows)
        return false;
    int32_t *ids = tape_alloc(t, count, sizeof *ids);
    rapt_real *scale = tape_elements(t, count);
    for (size_t i = 0; ids && scale && tape_computes(t) && i < count; i++) {
        ids[i] = is_padding(n, n->ids[i]) ? -1 : n->ids[i];
        scale[i] = loop->freq ? n->row_scale[i] * loop->freq[i] : n->row_scale[i];
    }
    return tape_failed(t) || deferred_add_rows(t, n->w, count, ids, scale, loop->dy);
}

static void embed_backward(rapt_tape *t, tape_node *node)
{
    embed_node *n = (embed_node *)node;
    if (!n->y->grad_filled)
        return;
    profile_op(t, "embedding", 0, 3.0 * (double)rapt_tensor_size(n->y));
    embed_loop loop = {.t = t, .n = n, .dy = before_dropout(t, n)};
    loop.freq = n->o.scale_grad_by_freq ? frequencies(t, n) : NULL;
    bool deferred = !tape_failed(t) && embed_defer(t, n, &loop);
    loop.to = deferred ? NULL : tape_grad_zeroed(t, &n->w->value);
    if (tape_failed(t))
        return;
    position_gradient(t, n, loop.dy);
    if (!loop.to)
        return;
    if (n->w->sparse && tape_computes(t))
        for (size_t i = 0; i < embed_tokens_of(n); i++)
            n->w->state->row_used[n->ids[i]] |= !is_padding(n, n->ids[i]);
    tape_units(t, (n->d + COLUMN_BLOCK - 1) / COLUMN_BLOCK, embed_tokens_of(n) * COLUMN_BLOCK, embed_scatter_columns, &loop);
}

static rapt_tensor *embed_check_tokens(rapt_tape *t, const rapt_tensor *w, rapt_tokens tokens)
{
    char text[96];
    if (w->ndim != 2)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "embed %s: the weight %s is not [entries, features]", w->name,
                              rapt_shape_text(w, text, sizeof text));
    if (tokens.time == 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "embed %s: %zu x %zu tokens", w->name, tokens.batch, tokens.time);
    for (size_t b = 0; tokens.lens && b < tokens.batch; b++)
        if (tokens.lens[b] < 1 || (size_t)tokens.lens[b] > tokens.time)
            return rapt_tape_fail(t, RAPT_ERR_VALUE, "embed %s: row %zu has %d tokens of %zu", w->name, b, tokens.lens[b],
                                  tokens.time);
    for (size_t i = 0; i < tokens.batch * tokens.time; i++)
        if (tokens.ids[i] < 0 || (size_t)tokens.ids[i] >= w->shape[0])
            return rapt_tape_fail(t, RAPT_ERR_VALUE, "embed %s: token %zu is %d, the vocabulary has %zu entries", w->name,
                                  i, tokens.ids[i], w->shape[0]);
    return NULL;
}

/* `p` is a table of positions [max_len, d]. */
static rapt_tensor *embed_too_long(rapt_tape *t, const rapt_tensor *p, size_t first, size_t time)
{
    return rapt_tape_fail(t, RAPT_ERR_SHAPE, "positions %s: a row of %zu tokens from position %zu on is longer than max_len, %zu",
                          p->name, time, first, p->shape[0]);
}

static rapt_tensor *embed_check_options(rapt_tape *t, const rapt_tensor *w, rapt_tokens tokens, const rapt_embed_options *o)
{
    const rapt_tensor *p = o->positions ? &o->positions->value : NULL;
    if (p && (p->ndim != 2 || p->shape[1] != w->shape[1]))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "embed %s: positions %s have not %zu features", w->name, p->name,
                              w->shape[1]);
    for (size_t b = 0; p && b < tokens.batch; b++) {
        const size_t first = embed_first_position(o, b), time = tokens.lens ? (size_t)tokens.lens[b] : tokens.time;
        if (first > p->shape[0] || time > p->shape[0] - first)
            return embed_too_long(t, p, first, time);
    }
    if (o->cached && t->pass.record)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "embed %s: there is no backward pass of cached rows", w->name);
    if (!(o->dropout >= 0 && o->dropout < 1))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "embed %s: dropout probability %g is not in [0, 1)", w->name, o->dropout);
    return NULL;
}

/* The rows of each example once padding is removed. */
static const rapt_ragged *ragged_of(rapt_tape *t, rapt_tokens tokens)
{
    rapt_ragged *r = tape_alloc(t, 1, sizeof *r);
    size_t *start = tape_alloc(t, tokens.batch + 1, sizeof *start), longest = 0;
    if (!r || !start)
        return NULL;
    start[0] = 0;
    for (size_t b = 0; b < tokens.batch; b++) {
        size_t count = (size_t)tokens.lens[b];
        start[b + 1] = start[b] + count;
        longest = count > longest ? count : longest;
    }
    *r = (rapt_ragged){tokens.batch, longest, start};
    return r;
}

static rapt_tensor *output_of(rapt_tape *t, rapt_tokens tokens, size_t d, bool grad)
{
    if (!tokens.lens)
        return tape_output(t, 3, (size_t[]){tokens.batch, tokens.time, d}, grad);
    const rapt_ragged *ragged = ragged_of(t, tokens);
    rapt_tensor *y = ragged ? tape_output(t, 2, (size_t[]){ragged->start[ragged->batch], d}, grad) : NULL;
    if (y)
        y->ragged = ragged;
    return y;
}

static const int32_t *row_ids(rapt_tape *t, const rapt_tensor *y, rapt_tokens tokens)
{
    int32_t *ids = tape_alloc(t, rapt_tensor_rows(y), sizeof *ids);
    for (size_t b = 0; ids && b < tokens.batch; b++) {
        tape_rows rows = tape_rows_of(y, b);
        memcpy(ids + rows.first, tokens.ids + b * tokens.time, rows.count * sizeof *ids);
    }
    return ids;
}

static embed_node embed_lay_out(rapt_tape *t, rapt_param *w, rapt_tokens tokens, const rapt_embed_options *options)
{
    embed_node n = {.w = w, .d = w->value.shape[1], .o = *options};
    n.o.scale = n.o.scale != 0 ? n.o.scale : 1;
    n.o.norm_type = n.o.norm_type != 0 ? n.o.norm_type : 2;
    n.drops = n.o.dropout > 0 && t->pass.training;
    bool grad = tape_wants(t, &w->value) || (n.o.positions && tape_wants(t, &n.o.positions->value));
    n.y = output_of(t, tokens, n.d, grad);
    n.ids = n.y ? row_ids(t, n.y, tokens) : NULL;
    n.row_scale = n.y ? tape_elements(t, embed_tokens_of(&n)) : NULL;
    return n;
}

static rapt_tensor *embed_fused(rapt_tape *t, rapt_param *w, rapt_tokens tokens, const rapt_embed_options *options)
{
    embed_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = embed_lay_out(t, w, tokens, options);
    if (tape_failed(t))
        return &t->poison;
    n->y->name = w->value.name;
    if (n->drops)
        n->key = tape_dropout(t, options->dropout);
    tape_refresh_rows(t, w, n->ids, embed_tokens_of(n));
    if (options->positions)
        tape_refresh(t, options->positions);
    profile_op(t, "embedding", 0, 2.0 * (double)rapt_tensor_size(n->y));
    if (tape_computes(t))
        embed_renormalize(t, n);
    embed_loop loop = {.t = t, .n = n};
    tape_units(t, tape_examples(n->y), tape_longest(n->y) * n->d, embed_forward_examples, &loop);
    if (n->y->requires_grad)
        tape_record(t, &n->node, embed_backward);
    return n->y;
}

/* The rows first .. first + time - 1 of a table, once for each example of x [batch, time, d], or for x [time, d]. */
static rapt_tensor *embed_position_rows(rapt_tape *t, const rapt_tensor *x, rapt_param *table, size_t first)
{
    char text[96];
    const rapt_tensor *p = &table->value;
    const bool single = x->ndim == 2 && !x->ragged;
    if ((x->ndim != 3 && !single) || p->ndim != 2 || rapt_tensor_features(x) != p->shape[1])
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "positions %s: %s is not [batch, time, %zu]", p->name,
                              rapt_shape_text(x, text, sizeof text), rapt_tensor_features(p));
    const size_t batch = single ? 1 : x->shape[0], time = x->shape[x->ndim - 2];
    if (first > p->shape[0] || time > p->shape[0] - first)
        return embed_too_long(t, p, first, time);
    int32_t *ids = tape_alloc(t, batch * time, sizeof *ids);
    for (size_t i = 0; ids && i < batch * time; i++)
        ids[i] = (int32_t)(first + i % time);
    if (!ids)
        return &t->poison;
    rapt_tensor *rows = embed_fused(t, table, (rapt_tokens){.ids = ids, .batch = batch, .time = time}, &(rapt_embed_options){0});
    return single ? rapt_op_reshape(t, rows, 2, x->shape, NULL) : rows;
}

rapt_tensor *rapt_op_add_positions(rapt_tape *t, rapt_tensor *x, rapt_param *table, size_t first, double p)
{
    if (tape_failed(t))
        return &t->poison;
    const char *layer = observe_here(t) ? observe_layer(t, table->value.name) : "";
    rapt_tensor *rows = embed_position_rows(t, x, table, first);
    observe_from(t, (observe_source){.parameters = {&table->value}});
    observe_tensor(t, layer, "P[position]", OBSERVE_ROWS, rows);
    rapt_tensor *y = rapt_op_add(t, x, rows);
    observe_from(t, (observe_source){.inputs = {x, rows}});
    observe_tensor(t, "input", "embedding + positions", OBSERVE_ROWS, y);
    return rapt_op_dropout(t, y, p);
}

/* Unfused, and with padding, whose rows are meaningless. */
static rapt_tensor *embed_observed(rapt_tape *t, rapt_param *w, rapt_tokens tokens, const rapt_embed_options *o)
{
    rapt_embed_options rows = *o;
    rows.scale = rows.dropout = 0;
    rows.positions = NULL;
    tokens.lens = NULL;
    const char *layer = observe_layer(t, w->value.name);
    rapt_tensor *x = embed_fused(t, w, tokens, &rows);
    observe_from(t, (observe_source){.parameters = {&w->value}});
    observe_tensor(t, layer, "E[id]", OBSERVE_ROWS, x);
    if (o->scale != 0 && o->scale != 1) {
        const bool root = o->scale == sqrt((double)rapt_tensor_features(x));
        rapt_tensor *plain = x;
        x = rapt_op_scale(t, x, o->scale);
        observe_from(t, (observe_source){.inputs = {plain}, .constant = o->scale});
        observe_tensor(t, "embedding.scaled", root ? "embedding * sqrt(d_model)" : "embedding * multiplier", OBSERVE_ROWS, x);
    }
    if (o->positions)
        return rapt_op_add_positions(t, x, o->positions, o->first_position, o->dropout);
    rapt_tensor *y = dropout_run(t, x, o->dropout, false);
    return y == x ? x : observe_tensor(t, "input.dropped", "dropout", OBSERVE_ROWS, y);
}

rapt_tensor *rapt_op_embed(rapt_tape *t, rapt_param *w, rapt_tokens tokens, const rapt_embed_options *options)
{
    rapt_tensor *bad;
    const bool single = tokens.batch == 0; /* a sentence without a batch dimension */
    tokens.batch += single;
    options = options ? options : &(rapt_embed_options){0};
    if (tape_failed(t))
        return &t->poison;
    if ((bad = embed_check_tokens(t, &w->value, tokens)) || (bad = embed_check_options(t, &w->value, tokens, options)))
        return bad;
    rapt_tensor *y = observe_here(t) ? embed_observed(t, w, tokens, options) : embed_fused(t, w, tokens, options);
    return single && !tokens.lens ? rapt_op_reshape(t, y, 2, (size_t[]){tokens.time, rapt_tensor_features(y)}, NULL) : y;
}
