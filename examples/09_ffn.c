/* examples/09_ffn.c: chapter 9 of docs/book: the feed-forward network: two linear layers with a ReLU between,
 * on every position by itself, forward and backward.  Usage: 09_ffn [--table] */
#include "input.h"
#include "show.h"

#include <stdio.h>
#include <string.h>

enum { HEADS = 16, SALES_HEADS = 4, D_MODEL = 512, D_FF = 2048, SHOWN = 32 };

/* The network step by step. */
typedef struct steps {
    rapt_tensor *hidden, *active, *output; /* [..., d_ff] before and after the ReLU, [..., out] */
} steps;

static steps run(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    rapt_tensor *hidden = rapt_linear_forward(t, &m->dense1, x), *active = rapt_op_relu(t, hidden);
    return (steps){hidden, active, rapt_linear_forward(t, &m->dense2, active)};
}

static void fill_paper(rapt_ffn *m)
{
    memcpy(m->dense1.weight->value.data, (rapt_real[]){1, 1, 0, -1, 2, 0}, 6 * sizeof(rapt_real));
    memcpy(m->dense1.bias->value.data, (rapt_real[]){0, 0, -1}, 3 * sizeof(rapt_real));
    memcpy(m->dense2.weight->value.data, (rapt_real[]){1, 1, 0, 0, 1, -1}, 6 * sizeof(rapt_real));
    memcpy(m->dense2.bias->value.data, (rapt_real[]){0, 1}, 2 * sizeof(rapt_real));
}

/* The gradient of 2 y[0] + y[1] with respect to the input and to all parameters. */
static void backward_on_paper(rapt_tape *t, rapt_params *set, const rapt_ffn *m, const rapt_tensor *x, rapt_tensor *y)
{
    rapt_backward(t, rapt_op_weighted_sum(t, y, (rapt_real[]){2, 1}), NULL);
    printf("\n-- backward on paper --\n");
    if (!show_ready(t, set))
        return;
    const rapt_real *w1 = m->dense1.weight->value.grad, *w2 = m->dense2.weight->value.grad;
    printf("gradient of W1:\n");
    show_frame(3, 2, w1, NULL, NULL);
    printf("gradient of W2:\n");
    show_frame(2, 3, w2, NULL, NULL);
    printf("gradient of x: %g %g\n", (double)x->grad[0], (double)x->grad[1]);
    show_check("W1: nothing in row 0, which the ReLU shut", show_difference(6, w1, (rapt_real[]){0, 0, 3, -6, -1, 2}) == 0);
    show_check("W2: a gradient times what came in", show_difference(6, w2, (rapt_real[]){0, 4, 2, 0, 2, 1}) == 0);
    show_check("b1: 0 3 -1", show_difference(3, m->dense1.bias->value.grad, (rapt_real[]){0, 3, -1}) == 0);
    show_check("x: -2 -3", show_difference(2, x->grad, (rapt_real[]){-2, -3}) == 0);
}

/* The example of the chapter: two features, three within. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_ffn_init(&m, set, "paper.", 2, 3, 2, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_ZEROS});
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 2}, (rapt_real[]){1, -2}, true);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    fill_paper(&m);
    steps s = run(t, &m, x);
    if (!show_ready(t, set))
        return;
    show_corner("x", x);
    show_corner("hidden", s.hidden);
    show_corner("after the ReLU", s.active);
    show_corner("output", s.output);
    show_check("as on paper: 2 2", s.output->data[0] == 2 && s.output->data[1] == 2);
    backward_on_paper(t, set, &m, x, s.output);
    rapt_tape_begin(t, (rapt_pass){0}); /* from here on without gradients */
}

/* Four features in, four within, eight out; two sentences of three positions, all numbers 1. */
static void ones(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_ffn_init(&m, set, "ones.", 4, 4, 8, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
    rapt_param *one = rapt_params_add(set, "ones", 3, (size_t[]){2, 3, 4}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_tensor *y = rapt_ffn_forward(t, &m, &one->value);
    printf("\n-- four features in, eight out --\n");
    if (!show_ready(t, set))
        return;
    show_shape("ones", &one->value);
    show_shape("output", y);
    show_corner("output", y);
    bool same = true;
    for (size_t row = 1; row < 6; row++)
        same = same && show_difference(8, y->data, y->data + 8 * row) == 0;
    show_check("equal vectors give equal vectors, wherever they stand", same);
}

static double share_of_zeros(const rapt_tensor *x)
{
    size_t zeros = 0;
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        zeros += x->data[i] == 0;
    return (double)zeros / (double)rapt_tensor_size(x);
}

/* What attention gives (chapter 8). */
static rapt_tensor *attend(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads,
                           const rapt_mask *mask)
{
    rapt_multi_head_attention m;
    size_t d = rapt_tensor_features(x);
    rapt_attention_options options = {.hidden = d, .heads = heads, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m, set, prefix, &options);
    return rapt_multi_head_attention_forward(t, &m, x, x, x, mask);
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_mask causal = {.causal = true};
    rapt_ffn_init(&m, set, "sales.ffn.", SALES_FEATURES, 4 * SALES_FEATURES, SALES_FEATURES,
                  &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
    rapt_tensor *x = attend(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS, &causal);
    steps s = run(t, &m, x);
    printf("\n-- four windows of the sales textbook --\n");
    if (!show_ready(t, set))
        return;
    show_shape("projected", x);
    show_shape("hidden", s.hidden);
    show_shape("output", s.output);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(s.output, x));
}

static rapt_tensor *usual_input(rapt_tape *t, rapt_params *set, rapt_ffn *m)
{
    rapt_ffn_init(m, set, "ffn.", D_MODEL, D_FF, D_MODEL, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
    return attend(t, set, "attention.", input_batch(t, set), HEADS, NULL);
}

static void usual_batch(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_tensor *x = usual_input(t, set, &m), *whole = rapt_ffn_forward(t, &m, x);
    steps s = run(t, &m, x);
    printf("\n-- a batch of the usual size --\n");
    if (!show_ready(t, set))
        return;
    size_t place = 7 * 50 + 20; /* sentence 7, position 20 */
    rapt_tensor *alone = rapt_tape_input(t, 3, (size_t[]){1, 1, D_MODEL}, x->data + place * D_MODEL, false);
    rapt_tensor *y = rapt_ffn_forward(t, &m, alone);
    if (!show_ready(t, set))
        return;
    show_shape("projected", x);
    show_shape("hidden", s.hidden);
    show_shape("output", s.output);
    show_corner("output", s.output);
    double share = share_of_zeros(s.active);
    printf("the ReLU made %.1f %% of the hidden numbers 0\n", 100 * share);
    size_t parameters = 0;
    for (int i = 0; i < 2; i++)
        parameters += rapt_tensor_size(i ? &m.dense2.weight->value : &m.dense1.weight->value) +
                      rapt_tensor_size(i ? &m.dense2.bias->value : &m.dense1.bias->value);
    printf("parameters: %zu\n", parameters);
    show_check("that is 2 x 512 x 2048 + 2048 + 512", parameters == 2 * 512 * 2048 + 2048 + 512);
    show_check("some hidden numbers pass the ReLU, and some do not", share > 0.25 && share < 0.75);
    show_check("rapt_ffn_forward gives the same, to the bit",
               show_difference(rapt_tensor_size(whole), whole->data, s.output->data) == 0);
    show_check("a position alone gets what it got among 1600",
               show_difference(D_MODEL, y->data, s.output->data + place * D_MODEL) == 0);
}

/* The first hidden features of the first positions, after the ReLU. */
static void print_table(const rapt_tensor *active)
{
    rapt_real part[SHOWN * SHOWN];
    for (size_t i = 0; i < SHOWN; i++)
        memcpy(part + i * SHOWN, active->data + i * D_FF, SHOWN * sizeof *part);
    show_table(SHOWN, SHOWN, part, NULL, NULL);
}

static void picture(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_tensor *x = usual_input(t, set, &m), *active = run(t, &m, x).active;
    if (show_ready(t, set))
        print_table(active);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    ones(t, set);
    sales_textbook(t, set);
    usual_batch(t, set);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
