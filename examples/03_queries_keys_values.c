/* examples/03_queries_keys_values.c: chapter 3 of docs/book: three linear maps make a query, a key and a value of every
 * vector: on three words whose numbers say why, then on vectors of usual sizes, where one element of each is computed by hand.
 * Usage: 03_queries_keys_values [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The three maps of self-attention; each keeps the number of features. */
typedef struct maps {
    rapt_linear q, k, v;
} maps;

static void init_linear(rapt_linear *m, rapt_params *set, const char *prefix, const char *name, size_t d)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s.", prefix, name);
    rapt_linear_init(m, set, full, d, d, &(rapt_linear_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
}

static maps make_maps(rapt_params *set, const char *prefix, size_t d)
{
    maps m;
    init_linear(&m.q, set, prefix, "q", d);
    init_linear(&m.k, set, prefix, "k", d);
    init_linear(&m.v, set, prefix, "v", d);
    return m;
}

/* Feature j of the map of one vector: the bias, and the vector times row j of the weight. */
static double by_hand(const rapt_linear *m, const rapt_real *x, size_t j)
{
    size_t d = m->weight->value.shape[1];
    double sum = m->bias ? (double)m->bias->value.data[j] : 0;
    for (size_t i = 0; i < d; i++)
        sum += (double)x[i] * (double)m->weight->value.data[j * d + i];
    return sum;
}

/* The largest difference over all places between y and the map by hand, at one feature. */
static double hand_difference(const rapt_linear *m, const rapt_tensor *x, const rapt_tensor *y, size_t j)
{
    size_t d = rapt_tensor_features(x);
    double largest = 0;
    for (size_t i = 0; i < rapt_tensor_rows(x); i++)
        largest = fmax(largest, fabs(by_hand(m, x->data + i * d, j) - (double)y->data[i * d + j]));
    return largest;
}

/* How much of Q, K and V is printed: shapes; the corner of each; all of Q, as PyTorch prints it, and the corners of K, V. */
typedef enum detail { SHAPES, CORNERS, WHOLE } detail;

static void print_maps(const maps *m, const rapt_tensor *x, const rapt_tensor *const y[3], detail shown)
{
    show_shape("x", x);
    show_shape("weight of each map", &m->q.weight->value);
    if (m->q.bias)
        show_shape("bias of each map", &m->q.bias->value);
    const char *names[3] = {"Q", "K", "V"};
    for (int i = 0; i < 3; i++) {
        show_shape(names[i], y[i]);
        if (shown == WHOLE && i == 0)
            show_tensor(names[i], y[i]);
        else if (shown != SHAPES)
            show_corner(names[i], y[i]);
    }
}

/* x [batch, time, d] to Q, K and V; then whether they are what the formula says. */
static void project(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, detail shown)
{
    size_t d = rapt_tensor_features(x);
    maps m = make_maps(set, prefix, d);
    rapt_tensor *q = rapt_linear_forward(t, &m.q, x), *k = rapt_linear_forward(t, &m.k, x);
    rapt_tensor *v = rapt_linear_forward(t, &m.v, x);
    rapt_tensor *third = rapt_tape_input(t, 3, (size_t[]){1, 1, d}, x->data + 2 * d, false);
    rapt_tensor *alone = rapt_linear_forward(t, &m.q, third);
    if (!show_ready(t, set))
        return;
    print_maps(&m, x, (const rapt_tensor *[]){q, k, v}, shown);
    show_check("feature 0 of Q, of K and of V is x times a row of the weight, plus the bias",
               hand_difference(&m.q, x, q, 0) < 1e-5 && hand_difference(&m.k, x, k, 0) < 1e-5 &&
                   hand_difference(&m.v, x, v, 0) < 1e-5);
    show_check("the third vector alone has the same query, to the bit: no position attends to another",
               show_difference(d, alone->data, q->data + 2 * d) == 0);
    show_check("Q, K and V differ: each map has its own weight",
               show_difference(d, q->data, k->data) > 0.01 && show_difference(d, k->data, v->data) > 0.01);
}

/* ---- three words on paper ------------------------------------------------------------------------------ */

enum { WORDS = 3, FEATURES = 5, KEYS = 2 };
static const char *const words[WORDS] = {"cat", "drinks", "milk"};
static const char *const features[FEATURES] = {"noun", "verb", "animal", "purrs", "drink"};
static const char *const sought[KEYS] = {"doer", "action"}, *const given[KEYS] = {"purrs", "drink"};
static rapt_real word_vectors[WORDS * FEATURES] = {1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

/* A map from the five features to two, without bias; the first row of `weight` gives the first of the two. */
static rapt_tensor *map_words(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, const rapt_real *weight)
{
    rapt_linear m;
    rapt_linear_init(&m, set, prefix, FEATURES, KEYS, &(rapt_linear_options){.no_bias = true, .init = RAPT_WEIGHT_INIT_ZEROS});
    if (show_ready(t, set))
        memcpy(m.weight->value.data, weight, KEYS * FEATURES * sizeof *weight);
    return rapt_linear_forward(t, &m, x);
}

static void show_words(const char *name, const rapt_tensor *x, const char *const *columns)
{
    printf("%s:\n", name);
    show_frame(WORDS, x->shape[1], x->data, words, columns);
}

/* Every word with every word: scores[i, j] is what word i finds in word j. */
static bool is_symmetric(const rapt_tensor *scores)
{
    bool same = true;
    for (size_t i = 0; i < WORDS * WORDS; i++)
        same = same && scores->data[i] == scores->data[i % WORDS * WORDS + i / WORDS];
    return same;
}

/* What each word takes: the scores as shares (chapter 6), and the mixture of the values (chapter 7). */
static void mix(rapt_tape *t, rapt_params *set, rapt_tensor *scores, rapt_tensor *v)
{
    rapt_tensor *shares = rapt_op_masked_softmax(t, scores, NULL), *taken = rapt_op_matmul(t, shares, v, false);
    if (!show_ready(t, set))
        return;
    show_words("shares", shares, words);
    show_words("shares times V", taken, given);
    show_check("most of what \"drinks\" takes is from \"cat\", and most of what \"cat\" takes is from \"drinks\"",
               shares->data[WORDS] > 0.5 && shares->data[1] > 0.5);
}

/* The numbers of the chapter: words without maps, with one map for both sides, with two; and the values. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = rapt_tape_input(t, 2, (size_t[]){WORDS, FEATURES}, word_vectors, false);
    rapt_tensor *q = map_words(t, set, "paper.q.", x, (rapt_real[]){0, 2, 0, 0, 0, 1, 0, 0, 0, 0});
    rapt_tensor *k = map_words(t, set, "paper.k.", x, (rapt_real[]){0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
    rapt_tensor *v = map_words(t, set, "paper.v.", x, (rapt_real[]){0, 0, 0, 1, 0, 0, 1, 0, 0, 1});
    rapt_tensor *plain = rapt_op_matmul(t, x, x, true), *one = rapt_op_matmul(t, q, q, true);
    rapt_tensor *scores = rapt_op_matmul(t, q, k, true);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_words("x", x, features);
    show_words("x x^T", plain, words);
    show_check("\"drinks\" finds nobody but itself", plain->data[3] == 0 && plain->data[4] == 1 && plain->data[5] == 0);
    show_words("Q", q, sought);
    show_words("Q Q^T", one, words);
    show_check("one map for both sides: as much one way as the other", is_symmetric(plain) && is_symmetric(one));
    show_words("K", k, sought);
    show_words("Q K^T", scores, words);
    show_check("\"drinks\" finds \"cat\", \"cat\" and \"milk\" find \"drinks\", nobody finds \"milk\"",
               show_difference(WORDS * WORDS, scores->data, (rapt_real[]){0, 1, 0, 2, 0, 0, 0, 1, 0}) == 0);
    show_words("V", v, given);
    mix(t, set, scores, v);
}

/* ---- usual sizes ---------------------------------------------------------------------------------------- */

static rapt_tensor *random_vectors(rapt_params *set)
{
    return &rapt_params_add(set, "small.x", 3, (size_t[]){2, 5, 16}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

/* The picture: the queries of the first window, half of their features. */
static void print_table(rapt_tape *t, rapt_params *set)
{
    maps m = make_maps(set, "sales.attention.", SALES_FEATURES);
    rapt_tensor *q = rapt_linear_forward(t, &m.q, input_sales(t, set));
    if (show_ready(t, set))
        show_table_part(SALES_TIME, 32, q, input_sales_words);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    printf("\n-- two sentences of five random vectors --\n");
    project(t, set, "small.", random_vectors(set), SHAPES);
    printf("\n-- four windows of the sales textbook --\n");
    project(t, set, "sales.attention.", input_sales(t, set), CORNERS);
    printf("\n-- a batch of the usual size --\n");
    project(t, set, "attention.", input_batch(t, set), WHOLE);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, print_table);
}
