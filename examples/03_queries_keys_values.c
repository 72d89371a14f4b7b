/* examples/03_queries_keys_values.c: chapter 3 of docs/book: three linear maps make a query, a key and a value of every
 * vector. One of their elements is computed by hand.  Usage: 03_queries_keys_values [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

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

/* Two words of two features, small enough for paper: the numbers of the chapter. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_linear m;
    rapt_linear_init(&m, set, "paper.", 2, 2, &(rapt_linear_options){.init = RAPT_WEIGHT_INIT_ZEROS});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){1, 2, 3, -1}, false);
    if (!show_ready(t, set))
        return;
    for (int i = 0; i < 4; i++)
        m.weight->value.data[i] = (rapt_real[]){1, 0.5, -1, 2}[i];
    m.bias->value.data[0] = 0.5;
    rapt_tensor *q = rapt_linear_forward(t, &m, x);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_tensor("weight", &m.weight->value);
    show_tensor("bias", &m.bias->value);
    show_corner("x", x);
    show_corner("Q", q);
    show_check("the queries are (2.5, 3) and (3, -5)",
               show_difference(4, q->data, (rapt_real[]){2.5, 3, 3, -5}) == 0);
}

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
