/* tests/ops/ops_build.h: what the rows of ops_table.h do: inputs, parameters and options of each variant. Sizes are
 * odd, so that no vector and no tile comes out even. For the tests that walk the table. It checks nothing itself. */
#ifndef TESTS_OPS_BUILD_H
#define TESTS_OPS_BUILD_H

#include "ops_case.h"
#include "ops_table.h"

#include <stdint.h>

typedef struct ops_row {
    const char *op, *name;
    ops_builder *build;
    unsigned flags;
} ops_row;

#define SHAPE(...) (sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)), (size_t[]){__VA_ARGS__}

static inline double ops_p(const ops_case *c)
{
    return ops_is(c, OPS_DROPOUT) ? 0.3 : 0;
}

static inline rapt_activation ops_activation(const ops_case *c)
{
    bool gelu = ops_is(c, OPS_GELU), silu = ops_is(c, OPS_SILU);
    if (ops_is(c, OPS_RELU))
        return RAPT_ACTIVATION_RELU;
    return gelu && silu ? RAPT_ACTIVATION_GELU_TANH : gelu ? RAPT_ACTIVATION_GELU : silu ? RAPT_ACTIVATION_SILU
           : RAPT_ACTIVATION_IDENTITY;
}

static inline rapt_tensor *build_linear(ops_case *c, rapt_tape *t)
{
    size_t in = ops_is(c, OPS_LONG) ? 391 : ops_size(c, 7, 67), out = ops_is(c, OPS_LONG) ? 3 : ops_size(c, 5, 83);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, ops_size(c, 4, 61), in));
    rapt_param *w = ops_param(c, "w", SHAPE(out, in)), *b = ops_is(c, OPS_BIAS) ? ops_param(c, "b", SHAPE(out)) : NULL;
    return rapt_op_linear(t, x, w, b, ops_activation(c));
}

/* The sum of three layers: with one input, with two, or with two of which the first is used again (these cannot be joined). */
static inline rapt_tensor *build_linears(ops_case *c, rapt_tape *t)
{
    size_t in = ops_size(c, 7, 67), out = ops_size(c, 5, 83), rows = ops_size(c, 4, 61);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, rows, in)), *m = ops_is(c, OPS_SAME) ? x : ops_input(c, t, SHAPE(3, rows, in));
    rapt_tensor *last = ops_is(c, OPS_LONG) ? x : m, *y[3];
    rapt_param *b = ops_is(c, OPS_BIAS) ? ops_param(c, "b", SHAPE(out)) : NULL;
    rapt_op_linears(t, 3, (rapt_linear_args[]){{x, ops_param(c, "wq", SHAPE(out, in)), b},
                                               {m, ops_param(c, "wk", SHAPE(out, in)), NULL},
                                               {last, ops_param(c, "wv", SHAPE(out, in)), NULL}}, y);
    return rapt_op_add(t, rapt_op_add(t, y[0], y[1]), y[2]);
}

/* Adapters of a layer that is also trained, or (OPS_DEAD) frozen. */
static inline rapt_tensor *build_lora(ops_case *c, rapt_tape *t)
{
    size_t in = ops_is(c, OPS_LONG) ? 391 : ops_size(c, 7, 67), out = ops_size(c, 5, 83), rank = ops_size(c, 2, 19);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, ops_size(c, 4, 61), in));
    rapt_param *w = ops_param(c, "w", SHAPE(out, in));
    const rapt_lora m = {ops_param(c, "a", SHAPE(rank, in)), ops_param(c, "b", SHAPE(out, rank)), 0.7, ops_p(c), NULL, NULL};
    if (ops_is(c, OPS_DEAD))
        rapt_params_freeze(c->params, "w");
    return rapt_op_lora(t, rapt_op_linear(t, x, w, NULL, RAPT_ACTIVATION_IDENTITY), x, &m);
}

/* The lengths of the rows of the sum, which count as constants, do not depend on the parameters that a test moves. */
static inline rapt_tensor *build_dora(ops_case *c, rapt_tape *t)
{
    size_t in = ops_is(c, OPS_LONG) ? 391 : ops_size(c, 7, 67), out = ops_size(c, 5, 83), rank = ops_size(c, 2, 19);
    rapt_tensor *u = ops_input(c, t, SHAPE(3, ops_size(c, 4, 61), out));
    rapt_param *w = ops_param(c, "w", SHAPE(out, in)), *b = ops_is(c, OPS_BIAS) ? ops_param(c, "bias", SHAPE(out)) : NULL;
    double *squares = ops_keep(c, out * sizeof *squares, false);
    const rapt_lora m = {ops_param(c, "a", SHAPE(rank, in)), ops_param(c, "b", SHAPE(out, rank)), 0.7, 0,
                         ops_param(c, "m", SHAPE(out)), squares};
    for (size_t i = 0; i < out; i++) /* of another matrix than w, whose elements some tests round */
        squares[i] = (double)(100 * in + i);
    rapt_params_freeze(c->params, "w");
    rapt_params_freeze(c->params, "a");
    rapt_params_freeze(c->params, "b");
    return rapt_op_dora(t, u, &m, w, b);
}

static inline rapt_tensor *build_matmul(ops_case *c, rapt_tape *t)
{
    size_t m = ops_size(c, 3, 43), k = ops_is(c, OPS_LONG) ? 391 : ops_size(c, 5, 37), n = ops_size(c, 4, 59);
    bool turn = ops_is(c, OPS_TRANSPOSE);
    if (ops_is(c, OPS_4D)) {
        rapt_tensor *a = ops_input(c, t, SHAPE(2, ops_is(c, OPS_GROUP) ? 6 : 2, m, k));
        return rapt_op_matmul(t, a, ops_input(c, t, SHAPE(2, 2, turn ? n : k, turn ? k : n)), turn);
    }
    rapt_tensor *a = ops_input(c, t, SHAPE(2, m, k));
    return rapt_op_matmul(t, a, ops_is(c, OPS_SAME) ? a : ops_input(c, t, SHAPE(2, turn ? n : k, turn ? k : n)), turn);
}

static inline rapt_tensor *plain_input(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 5, 157), features = ops_size(c, 6, 67);
    if (ops_is(c, OPS_4D))
        return ops_input(c, t, SHAPE(2, 3, time, features));
    return ops_input(c, t, SHAPE(3, time, features));
}

static inline rapt_tensor *build_add(ops_case *c, rapt_tape *t)
{
    const size_t time = ops_size(c, 5, 157), features = ops_size(c, 6, 67); /* plain_input's */
    if (ops_is(c, OPS_TWO_DIMS)) /* both operands are broadcast */
        return rapt_op_add(t, ops_input(c, t, SHAPE(3, 1, 1, features)), ops_input(c, t, SHAPE(2, time, 1)));
    rapt_tensor *a = plain_input(c, t);
    if (ops_is(c, OPS_BIAS)) /* one is: a vector of features, one example, one feature */
        return rapt_op_add(t, a, ops_input(c, t, SHAPE(features)));
    if (ops_is(c, OPS_POSITIONS))
        return rapt_op_add(t, ops_input(c, t, SHAPE(1, time, features)), a);
    if (ops_is(c, OPS_DV))
        return rapt_op_add(t, a, ops_input(c, t, SHAPE(time, 1)));
    return rapt_op_add(t, a, ops_is(c, OPS_SAME) ? a : plain_input(c, t));
}

static inline rapt_tensor *build_subtract(ops_case *c, rapt_tape *t)
{
    rapt_tensor *a = plain_input(c, t);
    return rapt_op_subtract(t, a, ops_is(c, OPS_BIAS) ? ops_input(c, t, SHAPE(a->shape[2])) : plain_input(c, t));
}

static inline rapt_tensor *build_scale(ops_case *c, rapt_tape *t)
{
    return rapt_op_scale(t, plain_input(c, t), -1.7);
}

static inline rapt_tensor *build_relu(ops_case *c, rapt_tape *t)
{
    return rapt_op_relu(t, plain_input(c, t));
}

static inline rapt_tensor *build_activate(ops_case *c, rapt_tape *t)
{
    return rapt_op_activate(t, plain_input(c, t), ops_activation(c));
}

static inline rapt_tensor *build_softcap(ops_case *c, rapt_tape *t)
{
    return rapt_op_softcap(t, plain_input(c, t), 1.5);
}

static inline rapt_tensor *build_tanh(ops_case *c, rapt_tape *t)
{
    return rapt_op_tanh(t, plain_input(c, t));
}

static inline rapt_tensor *build_exp(ops_case *c, rapt_tape *t)
{
    return rapt_op_exp(t, plain_input(c, t));
}

/* The logarithm of a sum of two positive numbers. */
static inline rapt_tensor *build_log(ops_case *c, rapt_tape *t)
{
    rapt_tensor *a = rapt_op_exp(t, plain_input(c, t));
    return rapt_op_log(t, rapt_op_add(t, a, rapt_op_exp(t, plain_input(c, t))));
}

static inline rapt_tensor *build_multiply(ops_case *c, rapt_tape *t)
{
    if (ops_is(c, OPS_TWO_DIMS)) /* both operands are broadcast */
        return rapt_op_multiply(t, ops_input(c, t, SHAPE(3, 1, 1, ops_size(c, 6, 67))),
                                ops_input(c, t, SHAPE(2, ops_size(c, 5, 157), 1)));
    rapt_tensor *a = plain_input(c, t);
    if (ops_is(c, OPS_BIAS))
        return rapt_op_multiply(t, a, ops_input(c, t, SHAPE(a->shape[2])));
    return rapt_op_multiply(t, a, ops_is(c, OPS_SAME) ? a : plain_input(c, t));
}

static inline rapt_tensor *build_swiglu(ops_case *c, rapt_tape *t)
{
    rapt_tensor *gate = plain_input(c, t);
    return rapt_op_swiglu(t, gate, ops_is(c, OPS_SAME) ? gate : plain_input(c, t));
}

/* Any numbers in place of cosines and sines: what is applied is linear all the same. */
static inline rapt_tensor *build_rotary(ops_case *c, rapt_tape *t)
{
    static const size_t start[] = {0, 4, 5, 8};
    static const rapt_ragged ragged = {3, 4, start};
    size_t d = ops_size(c, 6, 74), heads = ops_is(c, OPS_HEADS) ? 3 : 1, time = ops_size(c, 4, 53);
    rapt_param *table = ops_param(c, "table", SHAPE(time + 2, d));
    rapt_tensor *x = ops_is(c, OPS_RAGGED) ? ops_input(c, t, SHAPE(start[3], heads * d))
                                           : ops_input(c, t, SHAPE(3, time, heads * d));
    x->ragged = ops_is(c, OPS_RAGGED) ? &ragged : NULL;
    if (!table->buffer)
        rapt_param_make_buffer(table, false);
    return rapt_op_rotary(t, x, table, ops_is(c, OPS_FIRST) ? 2 : 0);
}

static inline rapt_tensor *build_dropout(ops_case *c, rapt_tape *t)
{
    return rapt_op_dropout(t, plain_input(c, t), 0.3);
}

/* gamma or beta, if one of these flags is the row's: as many trailing dimensions of x as it asks for. */
static inline rapt_param *norm_param(ops_case *c, const char *name, const rapt_tensor *x, unsigned flags)
{
    int dims = ops_is(c, OPS_ALL_DIMS) ? x->ndim : ops_is(c, OPS_TWO_DIMS) ? 2 : 1;
    return ops_is(c, flags) ? ops_param(c, name, dims, x->shape + x->ndim - dims) : NULL;
}

static inline rapt_tensor *build_norm(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t);
    rapt_param *gamma = norm_param(c, "gamma", x, OPS_PARAMS | OPS_GAMMA), *beta = norm_param(c, "beta", x, OPS_PARAMS);
    return rapt_op_layer_norm(t, x, gamma, beta, 1e-5);
}

static inline rapt_tensor *build_rms_norm(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t);
    return rapt_op_rms_norm(t, x, norm_param(c, "gamma", x, OPS_GAMMA), 1e-5);
}

static inline rapt_tensor *build_add_norm(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t), *y = ops_is(c, OPS_SAME) ? x : plain_input(c, t);
    rapt_param *gamma = norm_param(c, "gamma", x, OPS_PARAMS | OPS_GAMMA), *beta = norm_param(c, "beta", x, OPS_PARAMS);
    return rapt_op_add_norm(t, x, y, gamma, beta, 1e-5, (rapt_residual){.dropout = ops_p(c)});
}

/* OPS_SCALE: the caller gives the operand up, so that it may be overwritten. */
static inline rapt_tensor *build_residual(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t), *y = ops_is(c, OPS_SAME) ? x : plain_input(c, t);
    size_t d = rapt_tensor_features(x);
    if (ops_is(c, OPS_SCALE))
        y = rapt_op_linear(t, y, ops_param(c, "w", SHAPE(d, d)), NULL, RAPT_ACTIVATION_IDENTITY);
    return rapt_op_residual(t, x, y, (rapt_residual){.dropout = ops_p(c), .overwrite_y = ops_is(c, OPS_SCALE)});
}

static inline rapt_tensor *build_add_positions(ops_case *c, rapt_tape *t)
{
    const size_t time = ops_size(c, 5, 157), features = ops_size(c, 6, 67); /* plain_input's */
    rapt_tensor *x = ops_is(c, OPS_TWO_DIMS) ? ops_input(c, t, SHAPE(time, features)) : plain_input(c, t);
    rapt_param *table = ops_param(c, "positions", SHAPE(time + 2, features));
    return rapt_op_add_positions(t, x, table, ops_is(c, OPS_FIRST) ? 2 : 0, ops_p(c));
}

/* One length is 0 in a dead row, the others go from 1 to all keys. */
static inline const int32_t *mask_lens(ops_case *c, size_t count, size_t keys)
{
    int32_t *lens = ops_ids(c, count, 1, (int32_t)keys + 1);
    lens[count - 1] = (int32_t)keys;
    if (ops_is(c, OPS_DEAD))
        lens[0] = 0;
    return lens;
}

static inline const uint8_t *mask_keep(ops_case *c, size_t rows, size_t keys)
{
    uint8_t *keep = ops_keep_flags(c, rows * keys);
    keep[0] = keep[(rows - 1) * keys] = 1;
    if (ops_is(c, OPS_DEAD))
        memset(keep + (rows - 1) * keys, 0, keys);
    return keep;
}

/* The mask that the flags ask for, or NULL. */
static inline rapt_mask *build_mask(ops_case *c, size_t batch, size_t queries, size_t keys)
{
    rapt_mask *m = ops_keep(c, sizeof *m, true);
    *m = (rapt_mask){.causal = ops_is(c, OPS_CAUSAL), .past = ops_is(c, OPS_PAST) ? keys - queries : 0};
    m->window = ops_is(c, OPS_FIRST) ? 3 : 0;
    m->per_query = ops_is(c, OPS_LENS_2D);
    m->keep_per_query = ops_is(c, OPS_KEEP_2D);
    if (ops_is(c, OPS_LENS | OPS_LENS_2D))
        m->valid_lens = mask_lens(c, m->per_query ? batch * queries : batch, keys);
    if (ops_is(c, OPS_KEEP | OPS_KEEP_2D))
        m->keep = mask_keep(c, m->keep_per_query ? batch * queries : batch, keys);
    return ops_is(c, OPS_LENS | OPS_LENS_2D | OPS_CAUSAL | OPS_KEEP | OPS_KEEP_2D) ? m : NULL;
}

static inline rapt_tensor *build_softmax(ops_case *c, rapt_tape *t)
{
    size_t queries = ops_size(c, 4, 31), keys = ops_size(c, 7, 53);
    if (ops_is(c, OPS_TWO_DIMS)) /* one example, without a batch dimension */
        return rapt_op_masked_softmax(t, ops_input(c, t, SHAPE(queries, keys)), build_mask(c, 1, queries, keys));
    rapt_tensor *x = ops_is(c, OPS_4D) ? ops_input(c, t, SHAPE(2, 3, queries, keys))
                                       : ops_input(c, t, SHAPE(2, queries, keys));
    return rapt_op_masked_softmax(t, x, build_mask(c, 2, queries, keys));
}

static inline rapt_tensor *build_attention(ops_case *c, rapt_tape *t)
{
    size_t heads = ops_is(c, OPS_GROUP) ? 4 : ops_is(c, OPS_HEADS) ? 3 : 1, batch = ops_is(c, OPS_LONG | OPS_TILES) ? 1 : 2;
    size_t queries = ops_is(c, OPS_TILES) ? 59 : ops_is(c, OPS_LONG) ? 3 : ops_size(c, 4, 61);
    size_t keys = ops_is(c, OPS_SAME) ? queries : ops_is(c, OPS_LONG) ? 391 : ops_is(c, OPS_TILES) ? 60 : queries + 3;
    size_t d = ops_size(c, 5, 17), dv = ops_is(c, OPS_DV) ? 3 : d;
    rapt_tensor *q = ops_input(c, t, SHAPE(batch, queries, heads * d));
    size_t shared = ops_is(c, OPS_GROUP) ? heads / 2 : heads;
    rapt_tensor *k = ops_is(c, OPS_SAME) ? q : ops_input(c, t, SHAPE(batch, keys, shared * d));
    rapt_tensor *v = ops_is(c, OPS_SAME) ? q : ops_input(c, t, SHAPE(batch, keys, shared * dv));
    rapt_mask *mask = build_mask(c, batch, queries, keys);
    static rapt_real slopes[] = {(rapt_real)0.5, (rapt_real)0.25, (rapt_real)0.0625, (rapt_real)0.7};
    const rapt_attention_scores scores = {.scale = ops_is(c, OPS_SCALE) ? 0.8 : 0, .cap = ops_is(c, OPS_MAX_NORM) ? 1.5 : 0,
                                          .bias = {.slopes = ops_is(c, OPS_POSITIONS) ? slopes : NULL}};
    return rapt_op_attention(t, q, k, v,
                             &(rapt_op_attention_options){.heads = heads, .mask = mask, .scores = scores, .dropout = ops_p(c)});
}

static inline rapt_tensor *build_split(ops_case *c, rapt_tape *t)
{
    return rapt_op_split_heads(t, ops_input(c, t, SHAPE(2, ops_size(c, 4, 23), 15)), 3);
}

/* [2, time, 15] as [2 time, 15], there and back with the tensor itself, or as three examples. */
static inline rapt_tensor *build_reshape(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 4, 157), *start = ops_keep(c, 4 * sizeof *start, false);
    rapt_tensor *x = ops_input(c, t, SHAPE(2, time, 15));
    start[1] = time / 2, start[2] = time, start[3] = 2 * time;
    rapt_ragged *three = ops_keep(c, sizeof *three, false);
    *three = (rapt_ragged){3, time, start};
    rapt_tensor *y = rapt_op_reshape(t, x, SHAPE(2 * time, 15), ops_is(c, OPS_RAGGED) ? three : NULL);
    return ops_is(c, OPS_SAME) ? rapt_op_add(t, rapt_op_reshape(t, y, SHAPE(2, time, 15), NULL), x) : y;
}

/* A row, a column, or (OPS_SAME) twice the same. */
static inline rapt_tensor *build_expand(ops_case *c, rapt_tape *t)
{
    const size_t time = ops_size(c, 5, 157), features = ops_size(c, 6, 67);
    rapt_tensor *x = ops_is(c, OPS_DV) ? ops_input(c, t, SHAPE(time, 1)) : ops_input(c, t, SHAPE(features));
    rapt_tensor *y = rapt_op_expand(t, x, SHAPE(3, time, features));
    return ops_is(c, OPS_SAME) ? rapt_op_multiply(t, y, rapt_op_expand(t, x, SHAPE(3, time, features))) : y;
}

static inline rapt_tensor *build_sum_axis(ops_case *c, rapt_tape *t)
{
    if (ops_is(c, OPS_BIAS))
        return rapt_op_sum_axis(t, ops_input(c, t, SHAPE(ops_size(c, 7, 391))), 0);
    return rapt_op_sum_axis(t, plain_input(c, t), ops_is(c, OPS_FIRST) ? 0 : ops_is(c, OPS_4D) ? 2 : -1);
}

static inline rapt_tensor *build_mean_axis(ops_case *c, rapt_tape *t)
{
    return rapt_op_mean_axis(t, plain_input(c, t), 1);
}

static inline rapt_tensor *build_permute(ops_case *c, rapt_tape *t)
{
    return rapt_op_permute(t, plain_input(c, t), (int[]){3, 0, 2, 1});
}

/* The last two axes, back again (OPS_SAME), or the first two. */
static inline rapt_tensor *build_transpose(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t);
    if (ops_is(c, OPS_FIRST))
        return rapt_op_transpose(t, x, 0, 1);
    rapt_tensor *y = rapt_op_transpose(t, x, -1, -2);
    return ops_is(c, OPS_SAME) ? rapt_op_multiply(t, x, rapt_op_transpose(t, y, 1, 2)) : y;
}

static inline rapt_tensor *build_slice(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t);
    return ops_is(c, OPS_FIRST) ? rapt_op_slice(t, x, 0, 1, 2) : rapt_op_slice(t, x, ops_is(c, OPS_4D) ? 2 : -1, 2, 3);
}

static inline rapt_tensor *build_concat_axis(ops_case *c, rapt_tape *t)
{
    rapt_tensor *a = plain_input(c, t), *b = ops_is(c, OPS_SAME) ? a : plain_input(c, t);
    return rapt_op_concat(t, 3, (rapt_tensor *[]){a, b, a}, ops_is(c, OPS_FIRST) ? 0 : -1);
}

static inline rapt_tensor *build_concat(ops_case *c, rapt_tape *t)
{
    return rapt_op_concat_heads(t, ops_input(c, t, SHAPE(2, 3, ops_size(c, 4, 23), 5)));
}

/* PyTorch's gradient is not the derivative for padding (none) and scale_grad_by_freq (divided by the count). */
static inline void embed_factors(ops_case *c, rapt_tokens tokens, size_t entries, int32_t padding)
{
    double *factor = ops_keep(c, entries * sizeof *factor, false);
    double *count = ops_keep(c, entries * sizeof *count, false);
    memset(count, 0, entries * sizeof *count);
    for (size_t i = 0; i < tokens.batch * tokens.time; i++)
        count[tokens.ids[i]]++;
    for (size_t i = 0; i < entries; i++)
        factor[i] = ops_is(c, OPS_FREQ) && count[i] > 0 ? 1 / count[i] : 1;
    if (ops_is(c, OPS_PADDING))
        factor[padding] = 0;
    c->row_factor = factor;
}

static inline rapt_tensor *build_embed(ops_case *c, rapt_tape *t)
{
    size_t entries = ops_size(c, 6, 41), d = ops_size(c, 5, 131), time = ops_size(c, 5, 43);
    rapt_param *w = ops_param(c, "w", SHAPE(entries, d));
    rapt_param *p = ops_is(c, OPS_POSITIONS) ? ops_param(c, "positions", SHAPE(time + 4, d)) : NULL;
    rapt_tokens tokens = {ops_ids(c, 3 * time, 0, (int32_t)entries), ops_is(c, OPS_TWO_DIMS) ? 0 : 3, time};
    rapt_embed_options o = {.has_padding = ops_is(c, OPS_PADDING), .padding_idx = 2, .positions = p,
                            .scale = ops_is(c, OPS_SCALE) ? 1.7 : 0, .first_position = ops_is(c, OPS_FIRST) ? 3 : 0,
                            .scale_grad_by_freq = ops_is(c, OPS_FREQ), .dropout = ops_p(c)};
    if (ops_is(c, OPS_MAX_NORM)) /* a row that is shortened has no derivative to check */
        o.max_norm = (double)ops_size(c, 100, 11);
    if (ops_is(c, OPS_SPARSE) && !w->sparse)
        rapt_param_make_sparse(c->params, w);
    embed_factors(c, tokens, entries, o.padding_idx);
    return rapt_op_embed(t, w, tokens, &o);
}

static inline rapt_tensor *build_cross_entropy(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 4, 47), classes = ops_size(c, 7, 111);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, time, classes));
    rapt_tokens labels = {ops_ids(c, 3 * time, 0, (int32_t)classes), 3, time};
    rapt_loss_options o = {.label_smoothing = ops_is(c, OPS_SMOOTH) ? 0.1 : 0,
                           .normalizer = ops_is(c, OPS_NORMALIZER) ? 5.5 : 0};
    if (ops_is(c, OPS_LENS))
        o.valid_lens = mask_lens(c, 3, time);
    return rapt_op_cross_entropy(t, x, labels, &o, NULL);
}

/* OPS_LONG: as many classes as it takes for the fused pass, in blocks. */
static inline rapt_tensor *build_output_loss(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 2, 43), in = ops_size(c, 3, 9), classes = ops_is(c, OPS_LONG) ? 3100 : ops_size(c, 7, 111);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, time, in));
    rapt_param *w = ops_param(c, "w", SHAPE(classes, in)), *b = ops_is(c, OPS_BIAS) ? ops_param(c, "b", SHAPE(classes)) : NULL;
    rapt_tokens labels = {.ids = ops_ids(c, 3 * time, 0, (int32_t)classes), .batch = 3, .time = time};
    rapt_loss_options o = {.label_smoothing = ops_is(c, OPS_SMOOTH) ? 0.1 : 0,
                           .normalizer = ops_is(c, OPS_NORMALIZER) ? 5.5 : 0};
    if (ops_is(c, OPS_LENS))
        o.valid_lens = mask_lens(c, 3, time);
    if (ops_is(c, OPS_SPARSE) && !w->sparse)
        rapt_param_make_sparse(c->params, w);
    return rapt_op_output_loss(t, x, w, b, labels, &o, NULL);
}

static inline rapt_tensor *build_log_probs(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 4, 47), classes = ops_size(c, 7, 111);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, time, classes));
    rapt_tokens labels = {ops_ids(c, 3 * time, 0, (int32_t)classes), 3, time};
    return rapt_op_log_probs(t, x, labels, ops_is(c, OPS_LENS) ? mask_lens(c, 3, time) : NULL);
}

/* Sizes as in build_output_loss. */
static inline rapt_tensor *build_output_log_probs(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 2, 43), in = ops_size(c, 3, 9), classes = ops_is(c, OPS_LONG) ? 3100 : ops_size(c, 7, 111);
    rapt_tensor *x = ops_input(c, t, SHAPE(3, time, in));
    rapt_param *w = ops_param(c, "w", SHAPE(classes, in)), *b = ops_is(c, OPS_BIAS) ? ops_param(c, "b", SHAPE(classes)) : NULL;
    rapt_tokens labels = {.ids = ops_ids(c, 3 * time, 0, (int32_t)classes), .batch = 3, .time = time};
    const int32_t *lens = ops_is(c, OPS_LENS) ? mask_lens(c, 3, time) : NULL;
    if (ops_is(c, OPS_SPARSE) && !w->sparse)
        rapt_param_make_sparse(c->params, w);
    return rapt_op_output_log_probs(t, x, w, b, labels, lens);
}

static inline rapt_tensor *build_dpo_loss(ops_case *c, rapt_tape *t)
{
    size_t answers = ops_size(c, 6, 86);
    rapt_tensor *x = ops_input(c, t, SHAPE(answers));
    const bool all = ops_is(c, OPS_SMOOTH);
    const rapt_dpo_options o = {.beta = all ? 0.7 : 0.1, .label_smoothing = all ? 0.2 : 0,
                                .normalizer = ops_is(c, OPS_NORMALIZER) ? 5.5 : 0};
    rapt_real *reference = ops_keep(c, answers * sizeof *reference, true);
    ops_draw(c, reference, answers, 500);
    return rapt_op_dpo_loss(t, x, reference, &o, NULL);
}

static inline rapt_tensor *build_sum(ops_case *c, rapt_tape *t)
{
    return rapt_op_sum(t, plain_input(c, t));
}

static inline rapt_tensor *build_weighted_sum(ops_case *c, rapt_tape *t)
{
    rapt_tensor *x = plain_input(c, t);
    return ops_weigh(c, t, x);
}

/* The weights of build_block; `again`: a block inside the block. */
typedef struct block_params {
    rapt_param *w, *gamma, *beta;
    double p;
    bool again;
} block_params;

static inline rapt_tensor *attend_block(rapt_tape *t, const void *module, const rapt_block_input *in)
{
    const block_params *m = module;
    rapt_mask mask = {.valid_lens = in->lens};
    rapt_tensor *a = rapt_op_attention(t, in->x, in->memory, in->memory,
                                       &(rapt_op_attention_options){.heads = 1, .mask = &mask, .dropout = m->p});
    a = rapt_op_linear(t, rapt_op_add(t, in->x, a), m->w, NULL, RAPT_ACTIVATION_GELU);
    return rapt_op_add_norm(t, in->x, a, m->gamma, m->beta, 1e-5, (rapt_residual){.dropout = m->p});
}

static inline rapt_tensor *nested_block(rapt_tape *t, const void *module, const rapt_block_input *in)
{
    rapt_block_input inner = {rapt_op_scale(t, in->x, 0.5), in->memory, in->lens};
    inner.x = rapt_run_block(t, attend_block, module, inner);
    return rapt_run_block(t, attend_block, module, inner);
}

/* Two blocks with the same weights and the same second input, or input in both roles, after another operation. */
static inline rapt_tensor *build_block(ops_case *c, rapt_tape *t)
{
    size_t time = ops_size(c, 3, 37), keys = ops_is(c, OPS_SAME) ? time : ops_size(c, 4, 45), d = ops_size(c, 6, 66);
    block_params *m = ops_keep(c, sizeof *m, false);
    *m = (block_params){ops_param(c, "w", SHAPE(d, d)), ops_param(c, "gamma", SHAPE(d)), ops_param(c, "beta", SHAPE(d)),
                        ops_p(c), ops_is(c, OPS_HEADS)};
    rapt_tensor *x = ops_input(c, t, SHAPE(2, time, d)), *memory = ops_is(c, OPS_SAME) ? x : ops_input(c, t, SHAPE(2, keys, d));
    const int32_t *lens = ops_is(c, OPS_LENS) ? mask_lens(c, 2, keys) : NULL;
    for (int i = 0; i < 2; i++)
        x = rapt_run_block(t, m->again ? nested_block : attend_block, m, (rapt_block_input){x, memory, lens});
    return x;
}

#define OPS_ROW(op_, name_, build_, flags_) {#op_, #name_, build_, flags_},
static const ops_row ops_rows[] = {OPS(OPS_ROW)};
#define OPS_ROWS (sizeof ops_rows / sizeof *ops_rows)

#endif
