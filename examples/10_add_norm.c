/* examples/10_add_norm.c: chapter 10 of docs/book: the input of a sublayer is added to its output, and every
 * position is normalized to mean 0 and variance 1; forward, and backward in three ways. With it an encoder block is
 * complete.  Usage: 10_add_norm [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { HEADS = 16, SALES_HEADS = 4 };

static bool close_to(double a, double b) { return fabs(a - b) <= 1e-9; }

/* Mean and variance of the features of a position. */
typedef struct moments {
    double mean, variance;
} moments;

static moments row_moments(const rapt_real *x, size_t n)
{
    moments m = {0, 0};
    for (size_t i = 0; i < n; i++)
        m.mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        m.variance += ((double)x[i] - m.mean) * ((double)x[i] - m.mean) / (double)n;
    return m;
}

static bool is_normal(const rapt_tensor *x)
{
    bool normal = true;
    for (size_t i = 0; i < rapt_tensor_rows(x); i++) {
        moments m = row_moments(x->data + i * rapt_tensor_features(x), rapt_tensor_features(x));
        normal = normal && fabs(m.mean) < 1e-5 && fabs(m.variance - 1) < 1e-3;
    }
    return normal;
}

static void print_moments(const char *name, const rapt_tensor *x)
{
    moments m = row_moments(x->data, rapt_tensor_features(x));
    double mean = fabs(m.mean) < 5e-5 ? 0 : m.mean; /* not "-0.0000" */
    printf("position 0 of %s: mean %.4f, variance %.4f\n", name, mean, m.variance);
}

static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_add_norm m;
    rapt_add_norm_init(&m, set, "paper.", 1, (size_t[]){4}, NULL);
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 4}, (rapt_real[]){1, -1, 2, 3}, false);
    rapt_tensor *y = rapt_tape_input(t, 3, (size_t[]){1, 1, 4}, (rapt_real[]){-1, 1, 2, 1}, false);
    rapt_tensor *sum = rapt_op_add(t, x, y), *z = rapt_add_norm_after(t, &m, x, y);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_corner("x", x);
    show_corner("sublayer(x)", y);
    show_corner("sum", sum);
    show_corner("norm", z);
    show_check("as on paper, but for eps: -1 -1 1 1", show_difference(4, z->data, (rapt_real[]){-1, -1, 1, 1}) < 1e-5);
}

/* ---- backward on paper ------------------------------------------------------------------------------------------- */

enum { N = 4 }; /* features of the example */

static const rapt_real paper_x[N] = {1, -1, 2, 3}, paper_sublayer[N] = {-1, 1, 2, 1};
static const rapt_real paper_g[N] = {3, 1, 2, 6}; /* the loss is the sum of g times what the norm gives */

/* The loss of the example, in double precision: what finite differences take. */
static double paper_loss(const double *s)
{
    double mean = 0, variance = 0, loss = 0;
    for (size_t i = 0; i < N; i++)
        mean += s[i] / N;
    for (size_t i = 0; i < N; i++)
        variance += (s[i] - mean) * (s[i] - mean) / N;
    for (size_t i = 0; i < N; i++)
        loss += (double)paper_g[i] * (s[i] - mean) / sqrt(variance + 1e-5);
    return loss;
}

/* By how much the loss changes if one number changes a little, there and back. */
static void finite_differences(const double *s, rapt_real *out)
{
    const double step = 1e-4;
    for (size_t i = 0; i < N; i++) {
        double there[N], back[N];
        for (size_t j = 0; j < N; j++) {
            there[j] = s[j] + (i == j ? step : 0);
            back[j] = s[j] - (i == j ? step : 0);
        }
        out[i] = (rapt_real)((paper_loss(there) - paper_loss(back)) / (2 * step));
    }
}

/* The formula of the chapter: (g - mean(g) - norm x mean(g x norm)) / deviation. */
static void norm_backward(const double *s, rapt_real *out)
{
    double mean = 0, variance = 0, mean_g = 0, mean_gn = 0, norm[N];
    for (size_t i = 0; i < N; i++)
        mean += s[i] / N;
    for (size_t i = 0; i < N; i++)
        variance += (s[i] - mean) * (s[i] - mean) / N;
    double deviation = sqrt(variance + 1e-5);
    for (size_t i = 0; i < N; i++) {
        norm[i] = (s[i] - mean) / deviation;
        mean_g += (double)paper_g[i] / N;
        mean_gn += (double)paper_g[i] * norm[i] / N;
    }
    for (size_t i = 0; i < N; i++)
        out[i] = (rapt_real)(((double)paper_g[i] - mean_g - norm[i] * mean_gn) / deviation);
}

static void backward_on_paper(rapt_tape *t, rapt_params *set)
{
    static const char *const names[3] = {"formula", "backward pass", "differences"};
    rapt_add_norm m;
    rapt_real rows[3][N];
    double s[N];
    rapt_add_norm_init(&m, set, "backward.", 1, (size_t[]){N}, NULL);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, N}, paper_x, true);
    rapt_tensor *y = rapt_tape_input(t, 3, (size_t[]){1, 1, N}, paper_sublayer, true);
    rapt_backward(t, rapt_op_weighted_sum(t, rapt_add_norm_after(t, &m, x, y), paper_g), NULL);
    printf("\n-- backward on paper --\n");
    if (!show_ready(t, set))
        return;
    for (size_t i = 0; i < N; i++) {
        s[i] = (double)paper_x[i] + (double)paper_sublayer[i];
        rows[1][i] = x->grad[i];
    }
    norm_backward(s, rows[0]);
    finite_differences(s, rows[2]);
    printf("gradient of the sum, in three ways:\n");
    for (int i = 0; i < 3; i++)
        printf("%-13s  %7.4f %7.4f %7.4f %7.4f\n", names[i], (double)rows[i][0], (double)rows[i][1], (double)rows[i][2],
               (double)rows[i][3]);
    const rapt_real *gamma = m.norm.weight->value.grad, *beta = m.norm.bias->value.grad;
    printf("gradient of gamma: %.4f %.4f %.4f %.4f\n", (double)gamma[0], (double)gamma[1], (double)gamma[2], (double)gamma[3]);
    printf("gradient of beta:  %.4f %.4f %.4f %.4f\n", (double)beta[0], (double)beta[1], (double)beta[2], (double)beta[3]);
    show_check("the three agree", show_difference(N, rows[0], rows[1]) < 1e-5 && show_difference(N, rows[0], rows[2]) < 1e-5);
    show_check("x and sublayer(x) get the same", show_difference(N, x->grad, y->grad) == 0);
    show_check("the gradient sums to 0: adding one number to all features changes nothing",
               fabs((double)(rows[1][0] + rows[1][1] + rows[1][2] + rows[1][3])) < 1e-5);
    show_check("gamma: g times the norm; beta: g", show_difference(N, gamma, (rapt_real[]){-3, -1, 2, 6}) < 1e-4 &&
                                                       show_difference(N, beta, paper_g) == 0);
    rapt_tape_begin(t, (rapt_pass){0}); /* from here on without gradients */
}

/* ---- why layer norm and not batch norm ---------------------------------------------------------------------------- */

/* Ioffe and Szegedy 2015, Algorithm 1, of one feature, without eps: the number x among `count` others. */
static double batch_norm(double x, size_t count, const double *all)
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < count; i++)
        mean += all[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        variance += (all[i] - mean) * (all[i] - mean) / (double)count;
    return (x - mean) / sqrt(variance);
}

/* Two sentences, of four words and two, filled up with zeros; the words have two features. */
static void norms(rapt_tape *t, rapt_params *set)
{
    static const rapt_real words[2][4][2] = {{{1, 3}, {3, 5}, {1, 3}, {3, 5}}, {{8, 2}, {8, 2}, {0, 0}, {0, 0}}};
    static const double first[8] = {1, 3, 1, 3, 8, 8, 0, 0}; /* feature 0 of all positions */
    double alone = batch_norm(3, 4, first), both = batch_norm(3, 6, first), padded = batch_norm(3, 8, first);
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){2, 4, 2}, words[0][0], false);
    rapt_tensor *x0 = rapt_tape_input(t, 3, (size_t[]){1, 4, 2}, words[0][0], false);
    const rapt_tensor *pair = rapt_op_layer_norm(t, x, NULL, NULL, 1e-9);
    const rapt_tensor *single = rapt_op_layer_norm(t, x0, NULL, NULL, 1e-9);
    printf("\n-- why layer norm and not batch norm --\n");
    if (!show_ready(t, set))
        return;
    printf("feature 0 of word 1 of the first sentence, which is 3:\n");
    printf("                                          batch norm  layer norm\n");
    printf("the sentence alone                        %10.4f  %10.4f\n", alone, (double)single->data[2]);
    printf("beside another one                        %10.4f  %10.4f\n", both, (double)pair->data[2]);
    printf("beside another one, padding counted, too  %10.4f\n", padded);
    bool three = close_to(alone, 1) && close_to(both, -1 / sqrt(52.0 / 6)) && close_to(padded, 0);
    show_check("batch norm: 1, then -1 / sqrt(52 / 6), then 0", three);
    show_check("layer norm does not see the other sentence", show_difference(8, single->data, pair->data) == 0);
}

/* ---- whole blocks -------------------------------------------------------------------------------------------------- */

/* The book's AddNorm([3, 4], 0.5): means over positions and features; out of training, dropout drops nothing. */
static void ones(rapt_tape *t, rapt_params *set)
{
    rapt_add_norm m;
    rapt_add_norm_init(&m, set, "ones.", 2, (size_t[]){3, 4}, &(rapt_add_norm_options){.dropout = 0.5});
    rapt_param *one = rapt_params_add(set, "ones", 3, (size_t[]){2, 3, 4}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_tensor *z = rapt_add_norm_after(t, &m, &one->value, &one->value);
    printf("\n-- ones --\n");
    if (!show_ready(t, set))
        return;
    rapt_real zeros[24] = {0};
    show_shape("output", z);
    show_check("the output has the shape of the inputs", rapt_tensor_same_shape(z, &one->value));
    show_check("where all numbers are equal, nothing is left of them", show_difference(24, z->data, zeros) == 0);
}

/* Shapes that differ cannot be added: the failure sticks in a tape, here in one of its own. */
static void wrong_shape(void)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (t) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real numbers[24] = {0};
        rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){2, 3, 4}, numbers, false);
        rapt_op_add(t, x, rapt_tape_input(t, 3, (size_t[]){2, 3, 2}, numbers, false));
        rapt_tape_status(t, &err);
    }
    printf("%s\n", err.message);
    show_check("a sublayer that changes the number of features cannot be added", err.code == RAPT_ERR_SHAPE);
    rapt_tape_free(t);
}

/* An encoder block, or one of the notebook (which is one with a causal mask and one norm for both places). */
typedef struct block {
    rapt_multi_head_attention attention;
    rapt_add_norm norm1, norm2;
    rapt_ffn ffn;
} block;

static void init_block(block *m, rapt_params *set, const char *prefix, size_t d, size_t heads, bool one_norm)
{
    char name[64];
    snprintf(name, sizeof name, "%sattention.", prefix);
    rapt_attention_options options = {.hidden = d, .heads = heads, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m->attention, set, name, &options);
    snprintf(name, sizeof name, "%sffn.", prefix);
    rapt_ffn_init(&m->ffn, set, name, d, 4 * d, d, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
    snprintf(name, sizeof name, "%snorm1.", prefix);
    rapt_add_norm_init(&m->norm1, set, name, 1, &d, NULL);
    snprintf(name, sizeof name, "%snorm2.", prefix);
    if (one_norm)
        m->norm2 = m->norm1;
    else
        rapt_add_norm_init(&m->norm2, set, name, 1, &d, NULL);
}

/* Both sums of a block and what the norms make of them. */
typedef struct steps {
    rapt_tensor *sum1, *norm1, *sum2, *norm2;
} steps;

static steps run(rapt_tape *t, const block *m, rapt_tensor *x, const rapt_mask *mask)
{
    steps s;
    s.sum1 = rapt_op_add(t, rapt_multi_head_attention_forward(t, &m->attention, x, x, x, mask), x);
    s.norm1 = rapt_layer_norm_forward(t, &m->norm1.norm, s.sum1);
    s.sum2 = rapt_op_add(t, rapt_ffn_forward(t, &m->ffn, s.norm1), s.norm1);
    s.norm2 = rapt_layer_norm_forward(t, &m->norm2.norm, s.sum2);
    return s;
}

static void compute(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads,
                    const rapt_mask *mask)
{
    block m;
    init_block(&m, set, prefix, rapt_tensor_features(x), heads, mask != NULL);
    steps s = run(t, &m, x, mask);
    rapt_tensor *fused = rapt_add_norm_after(t, &m.norm2, s.norm1, rapt_ffn_forward(t, &m.ffn, s.norm1));
    if (!show_ready(t, set))
        return;
    show_shape("x + attention(x)", s.sum1);
    show_shape("norm 1", s.norm1);
    show_shape("norm 1 + FFN(norm 1)", s.sum2);
    show_corner("norm 1 + FFN(norm 1)", s.sum2);
    show_shape("norm 2", s.norm2);
    print_moments("x + attention(x)", s.sum1);
    print_moments("norm 1", s.norm1);
    show_check("mean 0 and variance 1 at every position, after both norms", is_normal(s.norm1) && is_normal(s.norm2));
    show_check("x + attention(x) was not so", !is_normal(s.sum1));
    show_check("rapt_add_norm_after does both in one pass: the same",
               show_difference(rapt_tensor_size(fused), fused->data, s.norm2->data) < 1e-5);
}

/* Mean and variance of each word of the first window, on its way through the block. */
static void print_table(rapt_tape *t, rapt_params *set)
{
    static const char *const names[10] = {"mean: x", "mean: sum 1", "mean: norm 1", "mean: sum 2", "mean: norm 2",
                                          "var: x", "var: sum 1", "var: norm 1", "var: sum 2", "var: norm 2"};
    block m;
    rapt_real table[SALES_TIME * 10];
    rapt_tensor *x = input_sales(t, set);
    init_block(&m, set, "sales.", SALES_FEATURES, SALES_HEADS, true);
    steps s = run(t, &m, x, &(rapt_mask){.causal = true});
    if (!show_ready(t, set))
        return;
    const rapt_tensor *stages[5] = {x, s.sum1, s.norm1, s.sum2, s.norm2};
    for (size_t i = 0; i < SALES_TIME * 5; i++) {
        moments at = row_moments(stages[i % 5]->data + i / 5 * SALES_FEATURES, SALES_FEATURES);
        table[i / 5 * 10 + i % 5] = (rapt_real)at.mean;
        table[i / 5 * 10 + 5 + i % 5] = (rapt_real)at.variance;
    }
    show_table(SALES_TIME, 10, table, input_sales_words, names);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    backward_on_paper(t, set);
    norms(t, set);
    ones(t, set);
    wrong_shape();
    printf("\n-- four windows of the sales textbook --\n");
    compute(t, set, "sales.", input_sales(t, set), SALES_HEADS, &(rapt_mask){.causal = true});
    printf("\n-- a batch of the usual size --\n");
    compute(t, set, "", input_batch(t, set), HEADS, NULL);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, print_table);
}
