/* tests/ops/test_failures.c: every operation refuses what does not fit with a message that names operation, parameter
 * and shapes; the failure sticks, later operations and the backward pass do nothing. Memory that runs out is the
 * business of test_no_memory.c.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the cases below are made of. */
typedef struct bench {
    rapt_tape *t;
    rapt_params *set;
    rapt_param *w, *bias, *gamma, *beta, *beta6, *gamma_2, *positions; /* [5, 7] [5] [7] [7] [6] [3, 7] [4, 7] */
    rapt_param *angles, *angles_1, *angles_7; /* buffers: [4, 6] [6] [4, 7] */
    int hooked;
} bench;

static void count_hook(void *context, const rapt_error *err)
{
    (void)err;
    (*(int *)context)++;
}

static rapt_param *add(bench *b, const char *name, int ndim, const size_t *shape)
{
    return rapt_params_add(b->set, name, ndim, shape, (rapt_init){RAPT_INIT_NORMAL, 1});
}

static rapt_param *add_buffer(bench *b, const char *name, int ndim, const size_t *shape)
{
    rapt_param *p = add(b, name, ndim, shape);
    rapt_param_make_buffer(p, false);
    return p;
}

static void set_up(bench *b)
{
    *b = (bench){.t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL), .set = rapt_params_new(1, NULL)};
    b->w = add(b, "w", 2, (size_t[]){5, 7});
    b->bias = add(b, "bias", 1, (size_t[]){5});
    b->gamma = add(b, "gamma", 1, (size_t[]){7});
    b->beta = add(b, "beta", 1, (size_t[]){7});
    b->beta6 = add(b, "beta6", 1, (size_t[]){6});
    b->gamma_2 = add(b, "gamma_2", 2, (size_t[]){3, 7});
    b->positions = add(b, "positions", 2, (size_t[]){4, 7});
    b->angles = add_buffer(b, "angles", 2, (size_t[]){4, 6});
    b->angles_1 = add_buffer(b, "angles_1", 1, (size_t[]){6});
    b->angles_7 = add_buffer(b, "angles_7", 2, (size_t[]){4, 7});
    rapt_tape_on_error(b->t, count_hook, &b->hooked);
}

static void tear_down(bench *b)
{
    rapt_tape_free(b->t);
    rapt_params_free(b->set);
}

static rapt_tensor *tensor(bench *b, int ndim, const size_t *shape)
{
    rapt_tensor *x = rapt_tape_tensor(b->t, ndim, shape, true);
    for (size_t i = 0; !rapt_tape_error(b->t)->code && i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)0.5;
    return x;
}

#define T1(a) tensor(b, 1, (size_t[]){a})
#define T2(a, b_) tensor(b, 2, (size_t[]){a, b_})
#define T3(a, b_, c) tensor(b, 3, (size_t[]){a, b_, c})
#define T4(a, b_, c, d) tensor(b, 4, (size_t[]){a, b_, c, d})

static const int32_t ids[] = {0, 4, 2, 3, 1, 4}, negative[] = {0, -1, 2, 3, 1, 4}, large[] = {0, 1, 5, 3, 1, 4},
    below[] = {0, -2, 2, 3, 1, 4};
static const rapt_embed_options no_options;

static rapt_tensor *embed(bench *b, rapt_param *w, const int32_t *tokens, size_t time, rapt_embed_options o)
{
    return rapt_op_embed(b->t, w, (rapt_tokens){tokens, 2, time}, &o);
}

/* Self-attention of a row of one token and a row of `second`, of 3. */
static rapt_tensor *attend_ragged(bench *b, const int32_t *tokens, int32_t second, const rapt_mask *mask)
{
    int32_t lens[] = {1, second};
    rapt_tensor *x = rapt_op_embed(b->t, b->w, (rapt_tokens){tokens, 2, 3, lens}, NULL);
    return rapt_op_attention(b->t, x, x, x, &(rapt_op_attention_options){.heads = 1, .mask = mask});
}

static rapt_tensor *loss(bench *b, rapt_tensor *x, const int32_t *labels, rapt_loss_options o)
{
    return rapt_op_cross_entropy(b->t, x, (rapt_tokens){labels, 2, 3}, &o, NULL);
}

static rapt_tensor *output_loss(bench *b, rapt_tensor *x, rapt_param *w, rapt_param *bias, const int32_t *labels)
{
    return rapt_op_output_loss(b->t, x, w, bias, (rapt_tokens){.ids = labels, .batch = 2, .time = 3}, NULL, NULL);
}

static rapt_tensor *dpo(bench *b, rapt_tensor *log_probs, rapt_dpo_options o)
{
    const rapt_real reference[6] = {0};
    return rapt_op_dpo_loss(b->t, log_probs, reference, &o, NULL);
}

static rapt_tensor *attend(bench *b, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v, size_t heads, double p)
{
    return rapt_op_attention(b->t, q, k, v, &(rapt_op_attention_options){.heads = heads, .dropout = p});
}

static rapt_tensor *norm(bench *b, rapt_tensor *x, rapt_param *gamma, rapt_param *beta)
{
    return rapt_op_layer_norm(b->t, x, gamma, beta, 1e-5);
}

static rapt_tensor *add_norm(bench *b, rapt_tensor *x, rapt_tensor *y, double p)
{
    return rapt_op_add_norm(b->t, x, y, b->gamma, b->beta, 1e-5, (rapt_residual){.dropout = p});
}

static const rapt_ragged five_rows = {.batch = 2, .longest = 3, .start = (const size_t[]){0, 2, 5}};

/* X(name, expression, code, words of the message...) */
#define FAILURES(X)                                                                                               \
    X(linear_features, rapt_op_linear(b->t, T3(2, 3, 6), b->w, NULL, 0), RAPT_ERR_SHAPE, "linear w", "6", "7")        \
    X(linear_bias, rapt_op_linear(b->t, T3(2, 3, 7), b->w, b->beta6, 0), RAPT_ERR_SHAPE, "linear w", "6", "5")        \
    X(linear_weight, rapt_op_linear(b->t, T3(2, 3, 7), b->gamma, NULL, 0), RAPT_ERR_SHAPE, "linear gamma", "7", "")   \
    X(matmul_inner, rapt_op_matmul(b->t, T3(2, 3, 4), T3(2, 5, 6), false), RAPT_ERR_SHAPE, "matmul", "[2, 3, 4]",        \
      "[2, 5, 6]")                                                                                                \
    X(matmul_transpose, rapt_op_matmul(b->t, T3(2, 3, 4), T3(2, 4, 6), true), RAPT_ERR_SHAPE, "matmul", "[2, 4, 6]",     \
      "transposed")                                                                                               \
    X(matmul_batch, rapt_op_matmul(b->t, T3(2, 3, 4), T3(3, 4, 6), false), RAPT_ERR_SHAPE, "matmul", "[2, 3, 4]",        \
      "[3, 4, 6]")                                                                                                \
    X(matmul_dims, rapt_op_matmul(b->t, T3(2, 3, 4), T2(4, 6), false), RAPT_ERR_SHAPE, "matmul", "[2, 3, 4]", "[4, 6]")  \
    X(add, rapt_op_add(b->t, T3(2, 3, 4), T2(6, 4)), RAPT_ERR_SHAPE, "add", "[2, 3, 4]", "[6, 4]")                       \
    X(dropout_1, rapt_op_dropout(b->t, T2(2, 3), 1), RAPT_ERR_VALUE, "dropout", "1", "[0, 1)")                           \
    X(dropout_negative, rapt_op_dropout(b->t, T2(2, 3), -0.5), RAPT_ERR_VALUE, "dropout", "-0.5", "[0, 1)")              \
    X(dropout_nan, rapt_op_dropout(b->t, T2(2, 3), NAN), RAPT_ERR_VALUE, "dropout", "nan", "[0, 1)")                     \
    X(layer_norm_width, norm(b, T3(2, 3, 6), b->gamma, b->beta), RAPT_ERR_SHAPE, "layer_norm gamma", "[7]",           \
      "[2, 3, 6]")                                                                                                \
    X(layer_norm_dims, norm(b, tensor(b, 1, (size_t[]){7}), b->gamma_2, b->gamma_2), RAPT_ERR_SHAPE,                  \
      "layer_norm gamma_2", "[3, 7]", "[7]")                                                                      \
    X(layer_norm_pair, norm(b, T3(2, 3, 7), b->gamma, b->beta6), RAPT_ERR_SHAPE, "layer_norm gamma", "bias", "")      \
    X(layer_norm_other, norm(b, T3(2, 3, 7), NULL, b->beta), RAPT_ERR_SHAPE, "layer_norm beta", "", "")               \
    X(rms_norm_width, rapt_op_rms_norm(b->t, T3(2, 3, 6), b->gamma, 1e-5), RAPT_ERR_SHAPE, "rms_norm gamma", "[7]",   \
      "[2, 3, 6]")                                                                                                \
    X(rms_norm_dims, rapt_op_rms_norm(b->t, T3(2, 3, 7), b->gamma_2, 1e-5), RAPT_ERR_SHAPE, "rms_norm gamma_2",       \
      "[3, 7]", "[2, 3, 7]")                                                                                      \
    X(activate_unknown, rapt_op_activate(b->t, T2(2, 3), (rapt_activation)99), RAPT_ERR_VALUE, "activate", "99", "")     \
    X(linear_unknown, rapt_op_linear(b->t, T3(2, 3, 7), b->w, NULL, (rapt_activation)99), RAPT_ERR_VALUE, "linear w", \
      "99", "")                                                                                                   \
    X(swiglu, rapt_op_swiglu(b->t, T3(2, 3, 4), T3(2, 3, 5)), RAPT_ERR_SHAPE, "swiglu", "[2, 3, 4]", "[2, 3, 5]")        \
    X(rotary_table, rapt_op_rotary(b->t, T3(2, 3, 6), b->angles_1, 0), RAPT_ERR_SHAPE, "rotary angles_1", "[6]", "")  \
    X(rotary_odd, rapt_op_rotary(b->t, T3(2, 3, 7), b->angles_7, 0), RAPT_ERR_SHAPE, "rotary angles_7", "[4, 7]", "") \
    X(rotary_heads, rapt_op_rotary(b->t, T3(2, 3, 8), b->angles, 0), RAPT_ERR_SHAPE, "rotary angles", "[2, 3, 8]",    \
      "6 features")                                                                                               \
    X(rotary_dims, rapt_op_rotary(b->t, T2(3, 6), b->angles, 0), RAPT_ERR_SHAPE, "rotary angles", "[3, 6]", "")       \
    X(rotary_time, rapt_op_rotary(b->t, T3(2, 3, 12), b->angles, 2), RAPT_ERR_SHAPE, "rotary angles", "position 4",   \
      "has 4")                                                                                                    \
    X(rotary_far, rapt_op_rotary(b->t, T3(2, 3, 12), b->angles, 5), RAPT_ERR_SHAPE, "rotary angles", "position 7", "") \
    X(rotary_trained, rapt_op_rotary(b->t, T3(2, 3, 7), b->positions, 0), RAPT_ERR_VALUE, "rotary positions",         \
      "not a buffer", "")                                                                                         \
    X(add_norm_shapes, add_norm(b, T3(2, 3, 7), T3(2, 4, 7), 0), RAPT_ERR_SHAPE, "add_norm", "[2, 3, 7]",             \
      "[2, 4, 7]")                                                                                                \
    X(add_norm_dropout, add_norm(b, T3(2, 3, 7), T3(2, 3, 7), 2), RAPT_ERR_VALUE, "add_norm", "2", "[0, 1)")          \
    X(residual_shapes, rapt_op_residual(b->t, T3(2, 3, 7), T3(2, 4, 7), (rapt_residual){0}), RAPT_ERR_SHAPE, "add",      \
      "[2, 3, 7]", "[2, 4, 7]")                                                                                          \
    X(residual_dropout, rapt_op_residual(b->t, T3(2, 3, 7), T3(2, 3, 7), (rapt_residual){.dropout = 1}), RAPT_ERR_VALUE, \
      "dropout", "1", "[0, 1)")                                                                                          \
    X(positions_width, rapt_op_add_positions(b->t, T3(2, 3, 6), b->positions, 0, 0), RAPT_ERR_SHAPE,                     \
      "positions positions", "[2, 3, 6]", "[batch, time, 7]")                                                            \
    X(positions_dims, rapt_op_add_positions(b->t, T1(7), b->positions, 0, 0), RAPT_ERR_SHAPE, "positions positions",     \
      "[7] is not", "")                                                                                                  \
    X(positions_far, rapt_op_add_positions(b->t, T3(2, 3, 7), b->positions, 2, 0), RAPT_ERR_SHAPE,                       \
      "positions positions", "from position 2", "longer than max_len, 4")                                                \
    X(softmax_dims, rapt_op_masked_softmax(b->t, T1(4), NULL), RAPT_ERR_SHAPE, "masked_softmax", "[4]", "")              \
    X(reshape_size, rapt_op_reshape(b->t, T3(2, 3, 4), 2, (size_t[]){5, 4}, NULL), RAPT_ERR_SHAPE, "reshape",            \
      "[2, 3, 4]", "[5, 4]")                                                                                             \
    X(reshape_dims, rapt_op_reshape(b->t, T3(2, 3, 4), 5, (size_t[]){1, 1, 2, 3, 4}, NULL), RAPT_ERR_SHAPE, "reshape",   \
      "[2, 3, 4]", "a tensor")                                                                                           \
    X(reshape_rows, rapt_op_reshape(b->t, T3(2, 3, 4), 2, (size_t[]){6, 4}, &five_rows), RAPT_ERR_SHAPE, "reshape",      \
      "[2, 3, 4]", "[6, 4]")                                                                                             \
    X(multiply, rapt_op_multiply(b->t, T3(2, 3, 4), T2(6, 4)), RAPT_ERR_SHAPE, "multiply", "[2, 3, 4]", "[6, 4]")        \
    X(subtract, rapt_op_subtract(b->t, T3(2, 3, 4), T2(6, 4)), RAPT_ERR_SHAPE, "subtract", "[2, 3, 4]", "[6, 4]")        \
    X(expand, rapt_op_expand(b->t, T2(3, 4), 2, (size_t[]){6, 4}), RAPT_ERR_SHAPE, "expand", "[3, 4]", "[6, 4]")         \
    X(expand_less, rapt_op_expand(b->t, T2(3, 4), 2, (size_t[]){1, 4}), RAPT_ERR_SHAPE, "expand", "[3, 4]", "[1, 4]")    \
    X(expand_dims, rapt_op_expand(b->t, T2(3, 4), 5, (size_t[]){1, 1, 2, 3, 4}), RAPT_ERR_SHAPE, "expand", "[3, 4]",     \
      "a tensor")                                                                                                        \
    X(expand_large, rapt_op_expand(b->t, T1(1), 2, (size_t[]){(size_t)1 << (8 * sizeof(size_t) - 24), (size_t)1 << 24}),         \
      RAPT_ERR_SHAPE, "too large", "", "")                                                                               \
    X(sum_axis, rapt_op_sum_axis(b->t, T2(3, 4), 2), RAPT_ERR_SHAPE, "sum_axis", "[3, 4]", "axis 2")                     \
    X(mean_axis, rapt_op_mean_axis(b->t, T2(3, 4), -3), RAPT_ERR_SHAPE, "sum_axis", "[3, 4]", "axis -3")                 \
    X(permute, rapt_op_permute(b->t, T3(2, 3, 4), (int[]){0, 2, 2}), RAPT_ERR_SHAPE, "permute", "[2, 3, 4]", "once")     \
    X(transpose, rapt_op_transpose(b->t, T2(3, 4), 0, 2), RAPT_ERR_SHAPE, "transpose", "[3, 4]", "0 and 2")              \
    X(slice, rapt_op_slice(b->t, T2(3, 4), 1, 2, 3), RAPT_ERR_SHAPE, "slice", "[3, 4]", "3 elements from 2")             \
    X(slice_none, rapt_op_slice(b->t, T2(3, 4), 1, 2, 0), RAPT_ERR_SHAPE, "slice", "[3, 4]", "0 elements from 2")        \
    X(concat, rapt_op_concat(b->t, 2, (rapt_tensor *[]){T2(3, 4), T2(2, 4)}, 1), RAPT_ERR_SHAPE, "concat",               \
      "tensor 1 is [2, 4]", "[3, 4], along axis 1")                                                                      \
    X(concat_axis, rapt_op_concat(b->t, 1, (rapt_tensor *[]){T2(3, 4)}, 2), RAPT_ERR_SHAPE, "concat", "[3, 4]", "axis 2") \
    X(concat_none, rapt_op_concat(b->t, 0, NULL, 0), RAPT_ERR_SHAPE, "concat", "no tensors", "")                         \
    X(split_dims, rapt_op_split_heads(b->t, T2(3, 4), 2), RAPT_ERR_SHAPE, "split_heads", "[3, 4]", "2")                  \
    X(split_none, rapt_op_split_heads(b->t, T3(2, 3, 4), 0), RAPT_ERR_SHAPE, "split_heads", "[2, 3, 4]", "0")            \
    X(split_uneven, rapt_op_split_heads(b->t, T3(2, 3, 4), 3), RAPT_ERR_SHAPE, "split_heads", "[2, 3, 4]", "3")          \
    X(concat_dims, rapt_op_concat_heads(b->t, T3(2, 3, 4)), RAPT_ERR_SHAPE, "concat_heads", "[2, 3, 4]", "")             \
    X(attention_batch, attend(b, T3(2, 3, 4), T3(1, 5, 4), T3(1, 5, 4), 2, 0), RAPT_ERR_SHAPE, "attention",           \
      "[2, 3, 4]", "[1, 5, 4]")                                                                                   \
    X(attention_keys, attend(b, T3(2, 3, 4), T3(2, 5, 4), T3(2, 6, 4), 2, 0), RAPT_ERR_SHAPE, "attention",            \
      "[2, 5, 4]", "[2, 6, 4]")                                                                                   \
    X(attention_width, attend(b, T3(2, 3, 6), T3(2, 5, 4), T3(2, 5, 4), 2, 0), RAPT_ERR_SHAPE, "attention",           \
      "[2, 3, 6]", "[2, 5, 4]")                                                                                   \
    X(attention_heads, attend(b, T3(2, 3, 4), T3(2, 5, 4), T3(2, 5, 4), 3, 0), RAPT_ERR_SHAPE, "attention",           \
      "[2, 3, 4]", "3 heads")                                                                                     \
    X(attention_values, attend(b, T3(2, 3, 4), T3(2, 5, 4), T3(2, 5, 3), 2, 0), RAPT_ERR_SHAPE, "attention",          \
      "[2, 5, 3]", "2 heads")                                                                                     \
    X(attention_none, attend(b, T3(2, 3, 4), T3(2, 5, 4), T3(2, 5, 4), 0, 0), RAPT_ERR_SHAPE, "attention",            \
      "[2, 3, 4]", "0 heads")                                                                                     \
    X(attention_dims, attend(b, T2(3, 4), T3(2, 5, 4), T3(2, 5, 4), 2, 0), RAPT_ERR_SHAPE, "attention", "[3, 4]", "") \
    X(attention_dropout, attend(b, T3(2, 3, 4), T3(2, 5, 4), T3(2, 5, 4), 2, 1), RAPT_ERR_VALUE, "attention", "1",    \
      "[0, 1)")                                                                                                   \
    X(ragged_empty, attend_ragged(b, ids, 0, NULL), RAPT_ERR_VALUE, "embed w", "row 1 has 0 tokens of 3", "")         \
    X(ragged_long, attend_ragged(b, ids, 4, NULL), RAPT_ERR_VALUE, "embed w", "row 1 has 4 tokens of 3", "")          \
    X(ragged_mask, attend_ragged(b, ids, 2, &(rapt_mask){.keep = (const uint8_t[6]){0}}), RAPT_ERR_VALUE,             \
      "attention", "ragged", "valid_lens")                                                                        \
    X(embed_negative, embed(b, b->w, negative, 3, no_options), RAPT_ERR_VALUE, "embed w", "token 1 is -1", "5")       \
    X(embed_large, embed(b, b->w, large, 3, no_options), RAPT_ERR_VALUE, "embed w", "token 2 is 5", "5 entries")      \
    X(embed_empty, embed(b, b->w, ids, 0, no_options), RAPT_ERR_SHAPE, "embed w", "2 x 0", "")                        \
    X(embed_weight, embed(b, b->gamma, ids, 3, no_options), RAPT_ERR_SHAPE, "embed gamma", "[7]", "")                 \
    X(embed_table, embed(b, b->w, ids, 3, (rapt_embed_options){.positions = b->positions, .first_position = 2}),  \
      RAPT_ERR_SHAPE, "positions", "3 tokens from position 2", "longer than max_len, 4")                              \
    X(embed_wraps, embed(b, b->w, ids, 3, (rapt_embed_options){.positions = b->positions, .first_position = SIZE_MAX}), \
      RAPT_ERR_SHAPE, "positions", "longer than max_len, 4", "")                                                      \
    X(embed_width, embed(b, b->w, ids, 3, (rapt_embed_options){.positions = b->bias}), RAPT_ERR_SHAPE, "embed w",     \
      "bias", "7")                                                                                                \
    X(embed_dropout, embed(b, b->w, ids, 3, (rapt_embed_options){.dropout = 1}), RAPT_ERR_VALUE, "embed w", "1",      \
      "[0, 1)")                                                                                                   \
    X(output_loss_shape, output_loss(b, T3(2, 4, 7), b->w, NULL, ids), RAPT_ERR_SHAPE, "output_loss w", "[2, 4, 7]",  \
      "2 x 3")                                                                                                    \
    X(output_loss_dims, output_loss(b, T2(6, 7), b->w, NULL, ids), RAPT_ERR_SHAPE, "output_loss w", "[6, 7]", "2 x 3") \
    X(output_loss_features, output_loss(b, T3(2, 3, 6), b->w, NULL, ids), RAPT_ERR_SHAPE, "output_loss w", "6", "7")  \
    X(output_loss_weight, output_loss(b, T3(2, 3, 7), b->gamma, NULL, ids), RAPT_ERR_SHAPE, "output_loss gamma", "7", \
      "0")                                                                                                        \
    X(output_loss_bias, output_loss(b, T3(2, 3, 7), b->w, b->beta6, ids), RAPT_ERR_SHAPE, "output_loss w", "6", "5")  \
    X(output_loss_label, output_loss(b, T3(2, 3, 7), b->w, b->bias, large), RAPT_ERR_VALUE, "output_loss w",          \
      "label 2 is 5", "5 classes")                                                                                \
    X(loss_shape, loss(b, T3(2, 4, 5), ids, (rapt_loss_options){0}), RAPT_ERR_SHAPE, "cross_entropy", "[2, 4, 5]",    \
      "2 x 3")                                                                                                    \
    X(loss_dims, loss(b, T2(6, 5), ids, (rapt_loss_options){0}), RAPT_ERR_SHAPE, "cross_entropy", "[6, 5]", "2 x 3")  \
    X(loss_negative, loss(b, T3(2, 3, 5), below, (rapt_loss_options){0}), RAPT_ERR_VALUE, "cross_entropy",            \
      "label 1 is -2", "5 classes")                                                                               \
    X(loss_label, loss(b, T3(2, 3, 5), large, (rapt_loss_options){0}), RAPT_ERR_VALUE, "cross_entropy",               \
      "label 2 is 5", "5 classes")                                                                                \
    X(loss_smoothing, loss(b, T3(2, 3, 5), ids, (rapt_loss_options){.label_smoothing = 1}), RAPT_ERR_VALUE,           \
      "cross_entropy", "smoothing 1", "")                                                                         \
    X(loss_normalizer, loss(b, T3(2, 3, 5), ids, (rapt_loss_options){.normalizer = -1}), RAPT_ERR_VALUE,              \
      "cross_entropy", "normalizer -1", "")                                                                       \
    X(loss_nan, loss(b, T3(2, 3, 5), ids, (rapt_loss_options){.normalizer = NAN}), RAPT_ERR_VALUE, "cross_entropy",   \
      "nan", "")                                                                                                  \
    X(log_probs_shape, rapt_op_log_probs(b->t, T3(2, 4, 5), (rapt_tokens){ids, 2, 3}, NULL), RAPT_ERR_SHAPE, "log_probs", \
      "[2, 4, 5]", "2 x 3")                                                                                       \
    X(log_probs_label, rapt_op_log_probs(b->t, T3(2, 3, 5), (rapt_tokens){large, 2, 3}, NULL), RAPT_ERR_VALUE, "log_probs", \
      "label 2 is 5", "5 classes")                                                                                \
    X(output_log_probs_features, rapt_op_output_log_probs(b->t, T3(2, 3, 6), b->w, NULL, (rapt_tokens){ids, 2, 3}, NULL), \
      RAPT_ERR_SHAPE, "output_log_probs w", "6", "7")                                                             \
    X(dpo_dims, dpo(b, T2(2, 3), (rapt_dpo_options){.beta = 1}), RAPT_ERR_SHAPE, "dpo_loss", "[2, 3]", "no pairs")    \
    X(dpo_odd, dpo(b, tensor(b, 1, (size_t[]){5}), (rapt_dpo_options){.beta = 1}), RAPT_ERR_SHAPE, "dpo_loss", "[5]", "") \
    X(dpo_beta, dpo(b, tensor(b, 1, (size_t[]){6}), (rapt_dpo_options){0}), RAPT_ERR_VALUE, "dpo_loss", "beta 0", "") \
    X(dpo_smoothing, dpo(b, tensor(b, 1, (size_t[]){6}), (rapt_dpo_options){.beta = 1, .label_smoothing = 0.5}),      \
      RAPT_ERR_VALUE, "dpo_loss", "smoothing 0.5", "")                                                            \
    X(dpo_nan, dpo(b, tensor(b, 1, (size_t[]){6}), (rapt_dpo_options){.beta = 1, .normalizer = NAN}), RAPT_ERR_VALUE,  \
      "dpo_loss", "nan", "")                                                                                      \
    X(new_no_dims, tensor(b, 0, (size_t[]){1}), RAPT_ERR_SHAPE, "0 dimensions", "", "")                               \
    X(new_five_dims, tensor(b, 5, (size_t[]){1, 1, 1, 1, 1}), RAPT_ERR_SHAPE, "5 dimensions", "", "")                 \
    X(new_empty, T2(3, 0), RAPT_ERR_SHAPE, "empty", "", "")                                                           \
    X(new_overflow, T3(((size_t)1 << 33) + 1, (size_t)1 << 31, 1), RAPT_ERR_SHAPE, "too large", "", "")               \
    X(own_failure, rapt_tape_fail(b->t, RAPT_ERR_VALUE, "module %d refuses", 7), RAPT_ERR_VALUE, "module 7 refuses", "", "")

#define MAKE(name, expression, code, ...)                                                                         \
    static rapt_tensor *make_##name(bench *b) { return expression; }
FAILURES(MAKE)

typedef struct failure {
    const char *name;
    rapt_tensor *(*make)(bench *b);
    rapt_code code;
    const char *words[3];
} failure;

#define ROW(name, expression, code, ...) {#name, make_##name, code, {__VA_ARGS__}},
static const failure failures[] = {FAILURES(ROW)};

/* Every operation on the poison; none may look into it. */
static void use_poison(bench *b, rapt_tensor *x)
{
    rapt_real weight = 1;
    rapt_tensor *y[] = {
        rapt_op_linear(b->t, x, b->w, b->bias, RAPT_ACTIVATION_RELU), rapt_op_matmul(b->t, x, x, true), rapt_op_add(b->t, x, x),
        rapt_op_scale(b->t, x, 2), rapt_op_relu(b->t, x), rapt_op_activate(b->t, x, RAPT_ACTIVATION_GELU),
        rapt_op_swiglu(b->t, x, x),
        rapt_op_rotary(b->t, x, b->angles, 0), rapt_op_rms_norm(b->t, x, b->gamma, 1e-5),
        rapt_op_dropout(b->t, x, 0.5), norm(b, x, b->gamma, b->beta),
        add_norm(b, x, x, 0.5), rapt_op_residual(b->t, x, x, (rapt_residual){.dropout = 0.5}),
        rapt_op_add_positions(b->t, x, b->positions, 0, 0.5), rapt_op_masked_softmax(b->t, x, NULL),
        rapt_op_subtract(b->t, x, x), rapt_op_multiply(b->t, x, x), rapt_op_expand(b->t, x, 1, (size_t[]){1}),
        rapt_op_tanh(b->t, x), rapt_op_exp(b->t, x), rapt_op_log(b->t, x), rapt_op_sum_axis(b->t, x, 0),
        rapt_op_mean_axis(b->t, x, 0), rapt_op_permute(b->t, x, (int[]){0}), rapt_op_transpose(b->t, x, 0, 1),
        rapt_op_slice(b->t, x, 0, 0, 1), rapt_op_concat(b->t, 1, &x, 0), rapt_op_split_heads(b->t, x, 2),
        rapt_op_reshape(b->t, x, 1, (size_t[]){1}, NULL),
        rapt_op_concat_heads(b->t, x), attend(b, x, x, x, 2, 0.5), embed(b, b->w, ids, 3, no_options),
        loss(b, x, ids, (rapt_loss_options){0}), output_loss(b, x, b->w, b->bias, ids),
        rapt_op_log_probs(b->t, x, (rapt_tokens){ids, 2, 3}, NULL), dpo(b, x, (rapt_dpo_options){.beta = 1}),
        rapt_op_output_log_probs(b->t, x, b->w, NULL, (rapt_tokens){ids, 2, 3}, NULL),
        rapt_op_sum(b->t, x), rapt_op_weighted_sum(b->t, x, &weight),
        tensor(b, 1, (size_t[]){3}), rapt_tape_input(b->t, 1, (size_t[]){1}, &weight, true)};
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        assert_ptr_equal(y[i], x);
}

static void use_modules(rapt_tape *t, const rapt_transformer *m, rapt_tensor *x)
{
    rapt_tokens tokens = {ids, 2, 3};
    assert_ptr_equal(rapt_transformer_forward(t, m, tokens, NULL, tokens), x);
    assert_ptr_equal(rapt_decoder_forward(t, &m->decoder, tokens, x, NULL), x);
    assert_ptr_equal(rapt_positions_forward(t, &m->encoder.input.positions, x, 0), x);
    assert_ptr_equal(rapt_causal_self_attention(t, &m->encoder.blocks[0].attention, x, NULL, 0), x);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    rapt_decoder_start(t, &m->decoder, s, x, NULL, (rapt_decoder_sizes){.capacity = 4});
    assert_ptr_equal(rapt_decoder_step(t, &m->decoder, s, tokens), x);
    rapt_decoder_state_free(s);
    rapt_tape_store_attention(t, "a", x);
    assert_null(rapt_tape_attention(t, "a"));
}

static rapt_transformer *tiny_model(void)
{
    rapt_error err = {0};
    rapt_transformer_config c = {.source_vocab = 5, .target_vocab = 5, .layers = 1, .max_positions = 8,
                                 .block = {.d_model = 4, .heads = 2, .ffn = 5, .norm_place = RAPT_NORM_PLACE_PRE}};
    rapt_transformer *m = rapt_transformer_new(&c, 1, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

static void check_message(const failure *f, const rapt_error *err)
{
    if (err->code != f->code)
        fail_msg("%s: code %d (\"%s\"), not %d", f->name, err->code, err->message, f->code);
    for (size_t i = 0; i < 3; i++)
        if (f->words[i] && !strstr(err->message, f->words[i]))
            fail_msg("%s: \"%s\" does not say \"%s\"", f->name, err->message, f->words[i]);
    assert_null(strchr(err->message, '\n'));
}

/* A sound operation first, so that there is something for a backward pass. */
static void check_failure(bench *b, const rapt_transformer *m, const failure *f)
{
    rapt_error err = {0};
    b->hooked = 0;
    rapt_params_zero_grad(b->set);
    rapt_tape_begin(b->t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *sound = rapt_op_sum(b->t, rapt_op_linear(b->t, T3(2, 3, 7), b->w, b->bias, RAPT_ACTIVATION_RELU));
    assert_int_equal(rapt_tape_error(b->t)->code, RAPT_OK);
    rapt_tensor *poison = f->make(b);
    check_message(f, rapt_tape_error(b->t));
    use_poison(b, poison);
    use_modules(b->t, m, poison);
    assert_int_equal(rapt_backward(b->t, sound, &err), f->code);
    check_message(f, &err);
    check_message(f, rapt_tape_error(b->t)); /* still the first cause */
    assert_int_equal(b->hooked, 1);
    assert_false(b->w->value.grad_filled);
    rapt_tape_begin(b->t, (rapt_pass){0});
    assert_int_equal(rapt_tape_error(b->t)->code, RAPT_OK);
}

static void failures_stick(void **state)
{
    bench b;
    (void)state;
    set_up(&b);
    rapt_transformer *m = tiny_model();
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        check_failure(&b, m, &failures[i]);
    rapt_transformer_free(m);
    tear_down(&b);
}

/* The loss x * w summed, so that any number can be made of it. */
static void check_refused_loss(bench *b, rapt_real value, rapt_code code, const char *word)
{
    rapt_error err = {0};
    rapt_params_zero_grad(b->set);
    rapt_tape_begin(b->t, (rapt_pass){.record = true});
    rapt_tensor *y = rapt_op_linear(b->t, T3(1, 1, 7), b->w, b->bias, RAPT_ACTIVATION_IDENTITY);
    rapt_tensor *total = rapt_op_sum(b->t, y);
    total->data[0] = value;
    assert_int_equal(rapt_backward(b->t, total, &err), code);
    assert_non_null(strstr(err.message, word));
    assert_false(b->w->value.grad_filled);
    assert_null(y->grad);
}

static void backward_refuses_a_bad_loss(void **state)
{
    bench b;
    rapt_error err = {0};
    (void)state;
    set_up(&b);
    check_refused_loss(&b, (rapt_real)NAN, RAPT_ERR_NOT_FINITE, "nan");
    check_refused_loss(&b, (rapt_real)INFINITY, RAPT_ERR_NOT_FINITE, "inf");
    check_refused_loss(&b, (rapt_real)-INFINITY, RAPT_ERR_NOT_FINITE, "inf");
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    rapt_tensor *y = rapt_op_linear(b.t, tensor(&b, 3, (size_t[]){1, 1, 7}), b.w, b.bias, RAPT_ACTIVATION_IDENTITY);
    assert_int_equal(rapt_backward(b.t, y, &err), RAPT_ERR_SHAPE);
    assert_non_null(strstr(err.message, "5 elements"));
    tear_down(&b);
}

static void check_no_tape(rapt_compute o, rapt_code code, const char *word)
{
    rapt_error err = {0};
    assert_null(rapt_tape_new(&o, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.message, word));
}

static void tapes_refuse_bad_options(void **state)
{
    (void)state;
    check_no_tape((rapt_compute){.isa = "sse9"}, RAPT_ERR_VALUE, "sse9");
    check_no_tape((rapt_compute){.isa = ""}, RAPT_ERR_VALUE, "''");
    check_no_tape((rapt_compute){.threads = 100000}, RAPT_ERR_VALUE, "100000");
}

static void check_no_model(rapt_transformer_config c, rapt_code code, const char *word)
{
    rapt_error err = {0};
    assert_null(rapt_transformer_new(&c, 1, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.message, word))
        fail_msg("\"%s\" does not say \"%s\"", err.message, word);
}

static void models_refuse_bad_sizes(void **state)
{
    rapt_transformer_config good = {.source_vocab = 5, .target_vocab = 6, .layers = 1, .max_positions = 8,
                                    .block = {.d_model = 4, .heads = 2, .ffn = 5}}, bad;
    (void)state;
    bad = good, bad.block.heads = 3;
    check_no_model(bad, RAPT_ERR_SHAPE, "3 heads do not divide d_model, 4");
    bad = good, bad.block.heads = 0;
    check_no_model(bad, RAPT_ERR_SHAPE, "0 heads");
    bad = good, bad.layers = 0;
    check_no_model(bad, RAPT_ERR_VALUE, "0 layers");
    bad = good, bad.block.ffn = 0;
    check_no_model(bad, RAPT_ERR_SHAPE, "ffn.dense1.weight");
    bad = good, bad.max_positions = 0;
    check_no_model(bad, RAPT_ERR_SHAPE, "positions.table");
    bad = good, bad.tied = true;
    check_no_model(bad, RAPT_ERR_VALUE, "5 and 6");
    bad = good, bad.source_vocab = (size_t)1 << 62;
    check_no_model(bad, RAPT_ERR_SHAPE, "encoder.embedding.weight");
}

static void sets_keep_the_first_failure(void **state)
{
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_embedding m;
    (void)state;
    rapt_params_add(set, "a", 1, (size_t[]){3}, (rapt_init){0});
    rapt_param *again = rapt_params_add(set, "a", 1, (size_t[]){3}, (rapt_init){0});
    assert_non_null(again);
    assert_non_null(strstr(rapt_params_error(set)->message, "\"a\""));
    rapt_embedding_init(&m, set, "e.", 5, 3, &(rapt_embedding_options){.embed = {.has_padding = true, .padding_idx = 5}});
    assert_non_null(strstr(rapt_params_error(set)->message, "\"a\""));
    assert_int_equal(rapt_params_count(set), 1);
    rapt_params_free(set);
    set = rapt_params_new(1, NULL);
    rapt_embedding_init(&m, set, "e.", 5, 3, &(rapt_embedding_options){.embed = {.has_padding = true, .padding_idx = 5}});
    assert_non_null(strstr(rapt_params_error(set)->message, "padding_idx 5"));
    rapt_params_free(set);
}

/* A state holds its rows and positions, no more. */
static void decoding_stays_in_its_memory(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_transformer *m = tiny_model();
    rapt_tape *t = rapt_tape_new(NULL, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, 2, 3}, NULL);
    rapt_decoder_state *s = rapt_decoder_state_new(&err);
    rapt_decoder_start(t, &m->decoder, s, memory, NULL, (rapt_decoder_sizes){.capacity = 2});
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, 2, 3});
    assert_non_null(strstr(rapt_tape_error(t)->message, "the cache holds 2"));
    assert_int_equal(rapt_decoder_state_past(s), 0);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, 3, 1});
    assert_non_null(strstr(rapt_tape_error(t)->message, "does not fit the cache"));
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, 2, 2});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    assert_int_equal(rapt_decoder_state_past(s), 2);
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

/* Sizes whose product wraps are too much memory. */
static void states_too_large(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{SIZE_MAX / 2 + 1, 2}, {2, SIZE_MAX / 2 + 1}, {1, (size_t)1 << 61}};
    rapt_transformer *m = tiny_model();
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, 2, 3}, NULL);
        rapt_decoder_start(t, &m->decoder, s, memory, NULL, (rapt_decoder_sizes){sizes[i][0], sizes[i][1]});
        assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_MEMORY);
    }
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

/* Positions near the end of size_t are past the end of any table or cache, not back at its start. */
static void positions_that_wrap(void **state)
{
    (void)state;
    rapt_real x[2 * 3 * 4] = {0}, kept[2 * 8 * 4] = {0};
    rapt_transformer *m = tiny_model();
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    const rapt_tensor cache = {.data = kept, .ndim = 3, .shape = {2, 8, 4}};
    rapt_kv kv = {cache, cache};
    for (size_t first = SIZE_MAX - 2; first >= SIZE_MAX - 2; first++) { /* until it wraps */
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_positions_forward(t, &m->encoder.input.positions, rapt_tape_input(t, 3, (size_t[]){2, 3, 4}, x, false), first);
        assert_non_null(strstr(rapt_tape_error(t)->message, "longer than max_len, 8"));
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_preprocess(t, &m->encoder.input, (rapt_tokens){ids, 2, 3}, first);
        assert_non_null(strstr(rapt_tape_error(t)->message, "longer than max_len, 8"));
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *input = rapt_tape_input(t, 3, (size_t[]){2, 3, 4}, x, false);
        rapt_causal_self_attention(t, &m->encoder.blocks[0].attention, input, &kv, first);
        assert_non_null(strstr(rapt_tape_error(t)->message, "the cache holds 8"));
    }
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

/* What a caller adds up without looking at each failure. */
static void failures_leave_nothing_unset(void **state)
{
    (void)state;
    bench own, *b = &own;
    set_up(b);
    rapt_tensor *x = T3(2, 3, 7), *weights = x;
    rapt_loss_sums parts[3] = {{.nll = 7, .tokens = 7}, {.nll = 7, .tokens = 7}, {.nll = 7, .tokens = 7}};
    rapt_op_cross_entropy(b->t, x, (rapt_tokens){large, 2, 3}, &(rapt_loss_options){.label_smoothing = 1}, &parts[0]);
    rapt_op_cross_entropy(b->t, x, (rapt_tokens){ids, 2, 3}, NULL, &parts[1]);
    rapt_op_output_loss(b->t, x, b->w, NULL, (rapt_tokens){ids, 2, 3}, NULL, &parts[2]);
    rapt_op_attention(b->t, x, x, x,
                      &(rapt_op_attention_options){.heads = 1, .capture = RAPT_CAPTURE_BEFORE_DROPOUT, .weights = &weights});
    for (size_t i = 0; i < 3; i++)
        assert_true(parts[i].nll == 0 && parts[i].tokens == 0);
    rapt_dpo_sums sums = {.loss = 7, .pairs = 7};
    rapt_op_dpo_loss(b->t, x, NULL, &(rapt_dpo_options){0}, &sums);
    assert_true(sums.loss == 0 && sums.pairs == 0);
    assert_null(weights);
    tear_down(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_stick),
        cmocka_unit_test(backward_refuses_a_bad_loss),
        cmocka_unit_test(tapes_refuse_bad_options),
        cmocka_unit_test(models_refuse_bad_sizes),
        cmocka_unit_test(sets_keep_the_first_failure),
        cmocka_unit_test(decoding_stays_in_its_memory),
        cmocka_unit_test(states_too_large),
        cmocka_unit_test(positions_that_wrap),
        cmocka_unit_test(failures_leave_nothing_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
