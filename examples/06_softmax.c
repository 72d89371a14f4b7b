/* examples/06_softmax.c: chapter 6 of docs/book: a row of scores becomes weights that sum to 1, and masked keys get
 * weight 0.  Usage: 06_softmax [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADS = 16, SALES_HEADS = 4 };

static rapt_tensor *softmax_of(rapt_tape *t, size_t rows, size_t columns, const rapt_real *scores)
{
    return rapt_op_masked_softmax(t, rapt_tape_input(t, 3, (size_t[]){1, rows, columns}, scores, false), NULL);
}

/* All rows of x sum to 1, all numbers are from 0 to 1. */
static bool is_shares(const rapt_tensor *x)
{
    size_t n = rapt_tensor_features(x);
    bool right = true;
    for (size_t i = 0; i < rapt_tensor_rows(x); i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += (double)x->data[i * n + j];
            right = right && x->data[i * n + j] >= 0 && x->data[i * n + j] <= 1;
        }
        right = right && fabs(sum - 1) < 1e-5;
    }
    return right;
}

/* "I like apples", each word's score of each word. */
static const rapt_real example[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const char *const example_words[3] = {"I", "like", "apples"};

static void on_paper(rapt_tape *t, rapt_params *set)
{
    const rapt_real turned[9] = {1, 4, 7, 2, 5, 8, 3, 6, 9}, large[3] = {1001, 1002, 1003};
    rapt_tensor *rows = softmax_of(t, 3, 3, example), *columns = softmax_of(t, 3, 3, turned);
    rapt_tensor *same = softmax_of(t, 1, 3, large);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_frame(3, 3, rows->data, example_words, example_words);
    double e1 = exp(1), e2 = exp(2), e3 = exp(3), sum = e1 + e2 + e3;
    show_check("a row is e, e^2, e^3 divided by their sum",
               fabs((double)rows->data[0] - e1 / sum) < 1e-6 && fabs((double)rows->data[1] - e2 / sum) < 1e-6 &&
                   fabs((double)rows->data[2] - e3 / sum) < 1e-6);
    show_check("each row sums to 1", is_shares(rows));
    show_check("4 5 6 and 7 8 9 give the same: only differences count",
               show_difference(3, rows->data, rows->data + 3) < 1e-6 &&
                   show_difference(3, rows->data, rows->data + 6) < 1e-6);
    show_check("so do 1001 1002 1003: nothing overflows", show_difference(3, rows->data, same->data) < 1e-6);
    rapt_real wrong[9];
    for (int n = 0; n < 9; n++)
        wrong[n] = columns->data[n % 3 * 3 + n / 3];
    printf("by columns, which is wrong:\n");
    show_frame(3, 3, wrong, example_words, example_words);
    show_check("then the row of \"I\" sums to 0.0071: it attends to next to nothing",
               fabs((double)wrong[0] + (double)wrong[1] + (double)wrong[2] - 3 / (1 + exp(3) + exp(6))) < 1e-6);
}

/* ---- backwards: three queries, three keys ---- */

#define L 0.69314718F /* ln 2: weights become halves, quarters and fifths */
static const rapt_real paper_scores[9] = {0, -L, -L, L, 0, L, 0, L, L};
static const rapt_real paper_upstream[9] = {2, 4, 0, 0, -4, 8, 2, 8, -8}; /* the gradient of the weights: chapter 7 */

/* The sum of weights times upstream, whose gradient by the weights is upstream. */
static double loss_of(rapt_tape *t, const rapt_real *scores, const rapt_real *upstream)
{
    rapt_tensor *loss = rapt_op_weighted_sum(t, softmax_of(t, 3, 3, scores), upstream);
    return rapt_tape_error(t)->code ? NAN : (double)loss->data[0];
}

/* The gradient by differences: each score a little larger and a little smaller. */
static void differences(rapt_tape *t, rapt_real *gradient)
{
    const double h = 1.0 / 128; /* much smaller, and the rounding of the loss to 24 bits would show */
    for (int i = 0; i < 9; i++) {
        rapt_real scores[9];
        memcpy(scores, paper_scores, sizeof scores);
        scores[i] = (rapt_real)((double)paper_scores[i] + h);
        double above = loss_of(t, scores, paper_upstream);
        scores[i] = (rapt_real)((double)paper_scores[i] - h);
        gradient[i] = (rapt_real)((above - loss_of(t, scores, paper_upstream)) / (2 * h));
    }
}

/* The gradient of three scores if only the second weight counts. */
static void print_gradient(rapt_tape *t, rapt_real a, rapt_real b, rapt_real c)
{
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 3}, (rapt_real[]){a, b, c}, true);
    rapt_tensor *loss = rapt_op_weighted_sum(t, rapt_op_masked_softmax(t, x, NULL), (rapt_real[]){0, 1, 0});
    if (rapt_backward(t, loss, NULL) == RAPT_OK)
        printf("scores %g %g %g: gradient %.3g %.3g %.3g\n", (double)a, (double)b, (double)c, (double)x->grad[0],
               (double)x->grad[1], (double)x->grad[2]);
}

static void backward(rapt_tape *t, rapt_params *set)
{
    const rapt_real by_hand[9] = {0, 0.5F, -0.5F, -0.96F, -1.28F, 2.24F, 0.32F, 3.04F, -3.36F};
    rapt_real by_differences[9];
    differences(t, by_differences);
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *scores = rapt_tape_input(t, 3, (size_t[]){1, 3, 3}, paper_scores, true);
    rapt_tensor *weights = rapt_op_masked_softmax(t, scores, NULL);
    rapt_backward(t, rapt_op_weighted_sum(t, weights, paper_upstream), NULL);
    printf("\n-- backwards --\n");
    if (!show_ready(t, set))
        return;
    show_corner("weights", weights);
    show_tensor("gradient of the weights", &(rapt_tensor){.data = weights->grad, .ndim = 2, .shape = {3, 3}});
    show_tensor("gradient of the scores", &(rapt_tensor){.data = scores->grad, .ndim = 2, .shape = {3, 3}});
    show_check("as by hand", show_difference(9, scores->grad, by_hand) < 1e-5);
    show_check("and as by differences", show_difference(9, scores->grad, by_differences) < 1e-3);
    bool zero = true;
    for (int i = 0; i < 9; i += 3)
        zero = zero && fabs((double)(scores->grad[i] + scores->grad[i + 1] + scores->grad[i + 2])) < 1e-5;
    show_check("each row of the gradient sums to 0", zero);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    print_gradient(t, 1, 2, 3);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    print_gradient(t, 10, 20, 30);
    show_ready(t, set);
    rapt_tape_begin(t, (rapt_pass){0});
}

/* Whether exactly the keys from lens[query] on have weight 0. */
static bool hides_exactly(const rapt_tensor *weights, const int32_t *lens)
{
    size_t n = rapt_tensor_features(weights);
    bool right = true;
    for (size_t i = 0; i < rapt_tensor_size(weights); i++)
        right = right && (weights->data[i] == 0) == (i % n >= (size_t)lens[i / n]);
    return right;
}

/* Two sentences, two queries, four keys: lengths for a sentence, for a query, and none at all. */
static void lengths(rapt_tape *t, rapt_params *set)
{
    rapt_init uniform = {RAPT_INIT_UNIFORM, 1};
    rapt_param *scores = rapt_params_add(set, "lengths.scores", 3, (size_t[]){2, 2, 4}, uniform);
    rapt_mask sentence = {.valid_lens = (int32_t[]){2, 3}};
    rapt_mask query = {.valid_lens = (int32_t[]){1, 3, 2, 4}, .per_query = true};
    rapt_mask nothing = {.valid_lens = (int32_t[]){0, 4}};
    rapt_tensor *a = rapt_op_masked_softmax(t, &scores->value, &sentence);
    rapt_tensor *b = rapt_op_masked_softmax(t, &scores->value, &query);
    rapt_tensor *c = rapt_op_masked_softmax(t, &scores->value, &nothing);
    printf("\n-- sentences of unequal length --\n");
    if (!show_ready(t, set))
        return;
    show_shape("scores", &scores->value);
    show_tensor("2 keys of the first sentence, 3 of the second", a);
    show_check("hidden keys have weight 0, the others share 1",
               is_shares(a) && hides_exactly(a, (int32_t[]){2, 2, 3, 3}));
    show_tensor("1 and 3 keys, 2 and 4 keys, for each query", b);
    show_check("hidden keys have weight 0, the others share 1",
               is_shares(b) && hides_exactly(b, (int32_t[]){1, 3, 2, 4}));
    show_check("a query with no key left gets zeros, not NaN", show_difference(8, c->data, (rapt_real[8]){0}) == 0);
}

/* Chapters 3 to 5 and the softmax, step by step; and the weights of the fused attention, which a tape keeps on
 * request. */
typedef struct weights {
    rapt_tensor *steps, *fused;
} weights;

static weights attend(rapt_tape *t, rapt_params *set, const char *name, rapt_tensor *x, size_t heads,
                      const rapt_mask *mask)
{
    char prefix[64];
    rapt_multi_head_attention m;
    size_t d = rapt_tensor_features(x);
    rapt_attention_options options = {.hidden = d, .heads = heads, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH};
    snprintf(prefix, sizeof prefix, "%s.", name);
    rapt_multi_head_attention_init(&m, set, prefix, &options);
    rapt_tensor *q = rapt_op_split_heads(t, rapt_linear_forward(t, &m.q, x), heads);
    rapt_tensor *k = rapt_op_split_heads(t, rapt_linear_forward(t, &m.k, x), heads);
    rapt_tensor *scaled = rapt_op_scale(t, rapt_op_matmul(t, q, k, true), 1 / sqrt((double)(d / heads)));
    weights w = {rapt_op_masked_softmax(t, scaled, mask), NULL};
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_multi_head_attention_forward(t, &m, x, x, x, mask);
    w.fused = rapt_tape_attention(t, name);
    return w;
}

static void check_weights(const weights *w)
{
    show_shape("weights", w->steps);
    show_corner("weights", w->steps);
    show_check("each row sums to 1", is_shares(w->steps));
    show_check("the fused attention has the same weights",
               w->fused && show_difference(rapt_tensor_size(w->steps), w->steps->data, w->fused->data) < 1e-6);
}

/* With a mask of ones, which hides nothing. */
static void random_vectors(rapt_tape *t, rapt_params *set)
{
    rapt_init normal = {RAPT_INIT_NORMAL, 1};
    rapt_param *x = rapt_params_add(set, "small.x", 3, (size_t[]){2, 5, 16}, normal);
    rapt_mask ones = {.keep = (uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    weights w = attend(t, set, "small", &x->value, 4, &ones);
    printf("\n-- two sentences of five random vectors, 4 heads --\n");
    if (!show_ready(t, set))
        return;
    show_mask(w.steps->shape[0], w.steps->shape[3]);
    check_weights(&w);
    double sum = 0;
    for (size_t j = 0; j < 5; j++)
        sum += (double)w.steps->data[j];
    printf("sum of the first row of head 0: %.4f\n", sum);
}

static weights sales_weights(rapt_tape *t, rapt_params *set)
{
    return attend(t, set, "sales.attention", input_sales(t, set), SALES_HEADS, &(rapt_mask){.causal = true});
}

static bool hides_later_keys(const rapt_tensor *w)
{
    int32_t lens[SALES_TIME];
    bool right = true;
    for (size_t i = 0; i < SALES_TIME; i++)
        lens[i] = (int32_t)i + 1;
    for (size_t matrix = 0; matrix < rapt_tensor_rows(w) / SALES_TIME; matrix++) {
        rapt_real *data = w->data + matrix * SALES_TIME * SALES_TIME;
        rapt_tensor one = {.data = data, .ndim = 2, .shape = {SALES_TIME, SALES_TIME}};
        right = right && hides_exactly(&one, lens);
    }
    return right;
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    weights w = sales_weights(t, set);
    printf("\n-- four windows of the sales textbook, 4 heads, later words hidden --\n");
    if (!show_ready(t, set))
        return;
    check_weights(&w);
    printf("weights[0, 0]: how each word (row) shares its attention\n");
    show_frame(SALES_TIME, SALES_TIME, w.steps->data, input_sales_words, NULL);
    show_check("later words have weight 0, all others some, in every head", hides_later_keys(w.steps));
    show_check("the first word sees itself alone", w.steps->data[0] == 1);
}

static void usual_batch(rapt_tape *t, rapt_params *set)
{
    weights w = attend(t, set, "attention", input_batch(t, set), HEADS, NULL);
    printf("\n-- a batch of the usual size, 16 heads --\n");
    if (show_ready(t, set))
        check_weights(&w);
}

/* the picture: the first head over the first window */
static void picture(rapt_tape *t, rapt_params *set)
{
    weights w = sales_weights(t, set);
    if (show_ready(t, set))
        show_table(SALES_TIME, SALES_TIME, w.steps->data, input_sales_words, input_sales_words);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    backward(t, set);
    lengths(t, set);
    random_vectors(t, set);
    sales_textbook(t, set);
    usual_batch(t, set);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
