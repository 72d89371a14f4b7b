/* examples/07_weighted_sum.c: chapter 7 of docs/book: attention weights times values. The output of a head at a
 * position is a mean of value vectors, weighted by its attention.  Usage: 07_weighted_sum [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADS = 16, SALES_HEADS = 4, HEAD_FEATURES = 16 }; /* HEAD_FEATURES: features of a head over the textbook */

/* The results of chapters 3 to 6 and of this one. */
typedef struct attention {
    rapt_multi_head_attention m;
    rapt_tensor *q, *k, *v; /* projections [batch, time, features] */
    rapt_tensor *values;    /* v by heads: [batch, head, key, d] */
    rapt_tensor *weights;   /* [batch, head, query, key] */
    rapt_tensor *output;    /* weights times values: [batch, head, query, d] */
} attention;

static attention attend(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads,
                        const rapt_mask *mask)
{
    attention a;
    size_t d = rapt_tensor_features(x);
    rapt_multi_head_attention_init(&a.m, set, prefix,
                                   &(rapt_attention_options){.hidden = d, .heads = heads, .bias = true,
                                                             .init = RAPT_WEIGHT_INIT_PYTORCH});
    a.q = rapt_linear_forward(t, &a.m.q, x);
    a.k = rapt_linear_forward(t, &a.m.k, x);
    a.v = rapt_linear_forward(t, &a.m.v, x);
    rapt_tensor *queries = rapt_op_split_heads(t, a.q, heads), *keys = rapt_op_split_heads(t, a.k, heads);
    rapt_tensor *scores = rapt_op_scale(t, rapt_op_matmul(t, queries, keys, true), 1 / sqrt((double)(d / heads)));
    a.weights = rapt_op_masked_softmax(t, scores, mask);
    a.values = rapt_op_split_heads(t, a.v, heads);
    a.output = rapt_op_matmul(t, a.weights, a.values, false);
    return a;
}

/* The numbers of the chapter's example: two queries, two keys, values of two features. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *weights = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){1, 0, 0.25, 0.75}, false);
    rapt_tensor *values = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){4, 0, 8, 2}, false);
    rapt_tensor *output = rapt_op_matmul(t, weights, values, false);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_corner("weights", weights);
    show_corner("V", values);
    show_corner("output", output);
    show_check("as on paper: 4 0 and 7 1.5", show_difference(4, output->data, (rapt_real[]){4, 0, 7, 1.5}) == 0);
}

/* The gradient of the sum of all outputs: a value gets as much as it was given weight. */
static void backward(rapt_tape *t, rapt_params *set)
{
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *weights = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){1, 0, 0.25, 0.75}, false);
    rapt_tensor *values = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){4, 0, 8, 2}, true);
    rapt_backward(t, rapt_op_sum(t, rapt_op_matmul(t, weights, values, false)), NULL);
    if (!show_ready(t, set))
        return;
    printf("gradient of V for a gradient of ones:\n");
    show_frame(2, 2, values->grad, NULL, NULL);
    show_check("columns of weights summed, 1.25 and 0.75: 2 in all, one for each query",
               show_difference(4, values->grad, (rapt_real[]){1.25, 1.25, 0.75, 0.75}) == 0);
    rapt_tape_begin(t, (rapt_pass){0});
}

/* ---- backwards through the whole attention: three queries, three keys, two features ---- */

#define U 0.98025814F /* sqrt(2) ln 2: the scores become multiples of ln 2, the weights halves, quarters and fifths */
static const rapt_real paper[3][6] = {{0, -U, U, 0, 0, U}, {1, 0, 0, 1, 1, 1}, {2, 0, 4, -4, 0, 8}}; /* Q, K, V */
static const rapt_real paper_upstream[6] = {1, 0, 0, 1, 1, -1};                                      /* dO */

/* The steps of the forward pass: inputs q, k and v, and what is made of them. */
typedef struct steps {
    rapt_tensor *input[3], *scores, *weights, *output, *loss;
} steps;

static steps forward(rapt_tape *t, const rapt_real numbers[3][6])
{
    steps s;
    for (int i = 0; i < 3; i++)
        s.input[i] = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, numbers[i], true);
    s.scores = rapt_op_scale(t, rapt_op_matmul(t, s.input[0], s.input[1], true), 1 / sqrt(2));
    s.weights = rapt_op_masked_softmax(t, s.scores, NULL);
    s.output = rapt_op_matmul(t, s.weights, s.input[2], false);
    s.loss = rapt_op_weighted_sum(t, s.output, paper_upstream); /* its gradient by the output is upstream */
    return s;
}

/* The loss with number j of input i moved by h. */
static double loss_of(rapt_tape *t, int i, int j, double h)
{
    rapt_real numbers[3][6];
    memcpy(numbers, paper, sizeof numbers);
    numbers[i][j] = (rapt_real)((double)paper[i][j] + h);
    const rapt_tensor *loss = forward(t, numbers).loss;
    return rapt_tape_error(t)->code ? NAN : (double)loss->data[0];
}

/* The gradients of q, k and v by differences: each number a little larger and a little smaller. */
static void differences(rapt_tape *t, rapt_real gradients[3][6])
{
    const double h = 1.0 / 128; /* much smaller, and the rounding of the loss to 24 bits would show */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++)
            gradients[i][j] = (rapt_real)((loss_of(t, i, j, h) - loss_of(t, i, j, -h)) / (2 * h));
}

static void show_gradient(const char *name, const rapt_tensor *x)
{
    show_tensor(name, &(rapt_tensor){.data = x->grad, .ndim = 2, .shape = {x->shape[1], x->shape[2]}});
}

static void check_by_hand(const steps *s)
{
    const rapt_real dv[6] = {0.7F, 0.2F, 0.65F, -0.2F, 0.65F, 0}, dw[9] = {2, 4, 0, 0, -4, 8, 2, 8, -8};
    const rapt_real ds[9] = {0, 0.5F, -0.5F, -0.96F, -1.28F, 2.24F, 0.32F, 3.04F, -3.36F};
    rapt_real dq[6] = {-0.5F, 0, 1.28F, 0.96F, -3.04F, -0.32F}, dk[6] = {-0.96F, 0.32F, -1.28F, 2.54F, 2.24F, -2.86F};
    for (int i = 0; i < 6; i++) {
        dq[i] *= (rapt_real)(1 / sqrt(2));
        dk[i] *= (rapt_real)log(2);
    }
    show_check("as by hand", show_difference(6, s->input[2]->grad, dv) < 1e-5 &&
                                 show_difference(9, s->weights->grad, dw) < 1e-5 &&
                                 show_difference(9, s->scores->grad, ds) < 1e-5 &&
                                 show_difference(6, s->input[0]->grad, dq) < 1e-5 &&
                                 show_difference(6, s->input[1]->grad, dk) < 1e-5);
}

static void whole_backward(rapt_tape *t, rapt_params *set)
{
    rapt_real by_differences[3][6], by_steps[3][6];
    printf("\n-- backwards through the whole attention --\n");
    differences(t, by_differences);
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    steps s = forward(t, paper);
    rapt_backward(t, s.loss, NULL);
    if (!show_ready(t, set))
        return;
    show_corner("weights", s.weights);
    show_corner("output", s.output);
    show_gradient("gradient of V", s.input[2]);
    show_gradient("gradient of the weights", s.weights);
    show_gradient("gradient of the scores", s.scores);
    show_gradient("gradient of Q", s.input[0]);
    show_gradient("gradient of K", s.input[1]);
    check_by_hand(&s);
    double largest = 0, fused = 0;
    for (int i = 0; i < 3; i++) {
        largest = fmax(largest, show_difference(6, s.input[i]->grad, by_differences[i]));
        memcpy(by_steps[i], s.input[i]->grad, sizeof by_steps[i]);
    }
    show_check("and as by differences", largest < 1e-3);
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    for (int i = 0; i < 3; i++)
        s.input[i] = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, paper[i], true);
    s.output = rapt_op_attention(t, s.input[0], s.input[1], s.input[2], &(rapt_op_attention_options){.heads = 1});
    rapt_backward(t, rapt_op_weighted_sum(t, s.output, paper_upstream), NULL);
    if (!show_ready(t, set))
        return;
    for (int i = 0; i < 3; i++)
        fused = fmax(fused, show_difference(6, s.input[i]->grad, by_steps[i]));
    show_check("the fused attention has the same gradients", fused < 1e-5);
    rapt_tape_begin(t, (rapt_pass){0});
}

/* A mean with weights lies between the least and the greatest of what goes in (but for rounding). */
static bool lies_between(const rapt_tensor *values, const rapt_tensor *output)
{
    size_t n = values->shape[2], d = values->shape[3], heads = values->shape[0] * values->shape[1];
    bool within = true;
    for (size_t i = 0; i < heads * d; i++) {
        const rapt_real *v = values->data + i / d * n * d + i % d, *y = output->data + i / d * n * d + i % d;
        rapt_real low = v[0], high = v[0];
        for (size_t j = 1; j < n; j++) {
            low = v[j * d] < low ? v[j * d] : low;
            high = v[j * d] > high ? v[j * d] : high;
        }
        for (size_t j = 0; j < n; j++)
            within = within && y[j * d] > low - 1e-5 && y[j * d] < high + 1e-5;
    }
    return within;
}

static double spread(const rapt_tensor *x)
{
    double squares = 0;
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        squares += (double)x->data[i] * (double)x->data[i];
    return sqrt(squares / (double)rapt_tensor_size(x));
}

static void usual_batch(rapt_tape *t, rapt_params *set)
{
    attention a = attend(t, set, "attention.", input_batch(t, set), HEADS, NULL);
    rapt_tensor *fused = rapt_op_attention(t, a.q, a.k, a.v, &(rapt_op_attention_options){.heads = HEADS});
    rapt_tensor *output = rapt_op_concat_heads(t, a.output);
    printf("\n-- a batch of the usual size --\n");
    if (!show_ready(t, set))
        return;
    show_shape("weights", a.weights);
    show_shape("V", a.values);
    show_shape("output", a.output);
    show_corner("output", a.output);
    printf("root mean square: %.3f of the values, %.3f of the output\n", spread(a.values), spread(a.output));
    show_check("every output lies between the least and the greatest of its values", lies_between(a.values, a.output));
    show_check("the fused attention gives the same, without keeping the weights",
               show_difference(rapt_tensor_size(output), output->data, fused->data) < 1e-5);
}

static attention sales_attention(rapt_tape *t, rapt_params *set)
{
    rapt_mask causal = {.causal = true};
    return attend(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS, &causal);
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    attention a = sales_attention(t, set);
    printf("\n-- four windows of the sales textbook --\n");
    if (!show_ready(t, set))
        return;
    show_shape("weights", a.weights);
    show_shape("V", a.values);
    show_shape("output", a.output);
    show_corner("output", a.output);
    show_check("the first word sees itself alone: its output is its value vector",
               show_difference(HEAD_FEATURES, a.output->data, a.values->data) == 0);
    show_check("every output lies between the least and the greatest of its values", lies_between(a.values, a.output));
}

/* The first head over the first window: the value vectors, and beside them what the weights made of them. */
static void print_table(const attention *a)
{
    static const char *const names[2 * HEAD_FEATURES] = {
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8", "y9", "y10", "y11", "y12", "y13", "y14", "y15"};
    rapt_real both[SALES_TIME * 2 * HEAD_FEATURES];
    for (size_t i = 0; i < SALES_TIME; i++) {
        rapt_real *row = both + i * 2 * HEAD_FEATURES;
        memcpy(row, a->values->data + i * HEAD_FEATURES, HEAD_FEATURES * sizeof *row);
        memcpy(row + HEAD_FEATURES, a->output->data + i * HEAD_FEATURES, HEAD_FEATURES * sizeof *row);
    }
    show_table(SALES_TIME, 2 * HEAD_FEATURES, both, input_sales_words, names);
}

static void picture(rapt_tape *t, rapt_params *set)
{
    attention a = sales_attention(t, set);
    if (show_ready(t, set))
        print_table(&a);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    backward(t, set);
    whole_backward(t, set);
    sales_textbook(t, set);
    usual_batch(t, set);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
