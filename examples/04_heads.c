/* examples/04_heads.c: chapter 4 of docs/book: the features of Q, K and V are split into heads. No element changes, only
 * their order, and a wrong order is shown beside the right one.  Usage: 04_heads [--table] */
#include "input.h"
#include "show.h"

#include <stdio.h>

enum { HEADS = 16, SALES_HEADS = 4, DRAWN_HEADS = 2 };

typedef struct projections {
    rapt_tensor *q, *k, *v;
} projections;

/* Chapter 3: x [batch, time, d] to Q, K and V of the same shape. */
static projections project(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads)
{
    rapt_multi_head_attention m;
    size_t d = rapt_tensor_features(x);
    rapt_attention_options options = {.hidden = d, .heads = heads, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m, set, prefix, &options);
    return (projections){rapt_linear_forward(t, &m.q, x), rapt_linear_forward(t, &m.k, x),
                         rapt_linear_forward(t, &m.v, x)};
}

/* Whether split[b, h, i, j] is x[b, i, h * d + j] throughout. */
static bool is_split_of(const rapt_tensor *split, const rapt_tensor *x)
{
    size_t heads = split->shape[1], time = split->shape[2], d = split->shape[3];
    bool equal = true;
    for (size_t n = 0; n < rapt_tensor_size(split); n++) {
        size_t j = n % d, i = n / d % time, h = n / d / time % heads, b = n / d / time / heads;
        equal = equal && split->data[n] == x->data[(b * time + i) * heads * d + h * d + j];
    }
    return equal;
}

/* The numbers of x under another shape: nothing moves. */
static rapt_tensor reshaped(const rapt_tensor *x, size_t a, size_t b, size_t c, size_t d)
{
    return (rapt_tensor){.data = x->data, .ndim = 4, .shape = {a, b, c, d}};
}

/* Two words of four features and two heads: the numbers of the chapter. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 2, 4}, (rapt_real[]){1, 2, 3, 4, 5, 6, 7, 8}, false);
    rapt_tensor *split = rapt_op_split_heads(t, x, 2);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    rapt_tensor wrong = reshaped(x, 1, 2, 2, 2);
    show_tensor("x", x);
    show_tensor("split into two heads", split);
    show_tensor("only reshaped, which is wrong", &wrong);
    show_check("head 0 has features 0 and 1 of both words, head 1 the others",
               show_difference(8, split->data, (rapt_real[]){1, 2, 5, 6, 3, 4, 7, 8}) == 0);
    show_check("the wrong one gives head 0 all of the first word and nothing of the second",
               show_difference(4, wrong.data, (rapt_real[]){1, 2, 3, 4}) == 0);
}

/* Splits Q, K and V of x and puts them together again. */
static projections split(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads)
{
    projections p = project(t, set, prefix, x, heads), s = {NULL, NULL, NULL};
    s.q = rapt_op_split_heads(t, p.q, heads);
    s.k = rapt_op_split_heads(t, p.k, heads);
    s.v = rapt_op_split_heads(t, p.v, heads);
    rapt_tensor *back = rapt_op_concat_heads(t, s.q);
    if (!show_ready(t, set))
        return s;
    rapt_tensor between = reshaped(p.q, x->shape[0], x->shape[1], heads, rapt_tensor_features(x) / heads);
    show_shape("Q", p.q);
    show_shape("Q, features counted by heads", &between);
    show_shape("Q by heads", s.q);
    show_shape("K by heads", s.k);
    show_shape("V by heads", s.v);
    const size_t *shape = s.q->shape;
    show_shape("each head as a sentence of its own",
               &(rapt_tensor){.data = s.q->data, .ndim = 3, .shape = {shape[0] * shape[1], shape[2], shape[3]}});
    show_check("feature j of head h is feature h d + j of the vector, for Q, K and V",
               is_split_of(s.q, p.q) && is_split_of(s.k, p.k) && is_split_of(s.v, p.v));
    show_check("concatenated again, Q is what it was",
               show_difference(rapt_tensor_size(p.q), back->data, p.q->data) == 0);
    return s;
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    printf("\n-- four windows of the sales textbook, 4 heads --\n");
    projections s = split(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS);
    if (!show_ready(t, set))
        return;
    show_range("Q", s.q);
    show_range("K", s.k);
    show_range("V", s.v);
    show_corner("Q by heads", s.q);
}

static rapt_tensor *random_vectors(rapt_params *set)
{
    return &rapt_params_add(set, "small.x", 3, (size_t[]){2, 5, 16}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

/* The picture: the queries of the first window, head 1 below head 0. */
static void print_table(rapt_tape *t, rapt_params *set)
{
    char text[DRAWN_HEADS * SALES_TIME][32];
    const char *names[DRAWN_HEADS * SALES_TIME];
    rapt_tensor *q = rapt_op_split_heads(t, project(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS).q,
                                         SALES_HEADS);
    for (size_t i = 0; i < DRAWN_HEADS * SALES_TIME; i++) {
        snprintf(text[i], sizeof text[i], "%zu: %s", i / SALES_TIME, input_sales_words[i % SALES_TIME]);
        names[i] = text[i];
    }
    if (show_ready(t, set))
        show_table(DRAWN_HEADS * SALES_TIME, SALES_FEATURES / SALES_HEADS, q->data, names, NULL);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    printf("\n-- two sentences of five random vectors, 4 heads --\n");
    split(t, set, "small.", random_vectors(set), 4);
    sales_textbook(t, set);
    printf("\n-- a batch of the usual size, 16 heads --\n");
    split(t, set, "attention.", input_batch(t, set), HEADS);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, print_table);
}
