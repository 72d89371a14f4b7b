/* examples/05_scores.c: chapter 5 of docs/book: each query times each key, divided by sqrt(d), and masked. Also why it
 * is divided.  Usage: 05_scores [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { HEADS = 16, SALES_HEADS = 4 };

/* Queries and keys by heads [batch, head, time, d], their products [batch, head, query, key], and these scaled. */
typedef struct products {
    rapt_tensor *q, *k, *scores, *scaled;
} products;

/* Chapters 3 and 4, then the scores. */
static products score(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *x, size_t heads)
{
    products p;
    rapt_multi_head_attention m;
    size_t d = rapt_tensor_features(x);
    rapt_attention_options options = {.hidden = d, .heads = heads, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m, set, prefix, &options);
    p.q = rapt_op_split_heads(t, rapt_linear_forward(t, &m.q, x), heads);
    p.k = rapt_op_split_heads(t, rapt_linear_forward(t, &m.k, x), heads);
    p.scores = rapt_op_matmul(t, p.q, p.k, true);
    p.scaled = rapt_op_scale(t, p.scores, 1 / sqrt((double)(d / heads)));
    return p;
}

/* The largest difference between a score and its sum of products. */
static double hand_difference(const products *p)
{
    size_t time = p->q->shape[2], d = p->q->shape[3];
    double largest = 0;
    for (size_t n = 0; n < rapt_tensor_size(p->scores); n++) {
        size_t key = n % time, query = n / time % time, head = n / time / time;
        const rapt_real *q = p->q->data + (head * time + query) * d, *k = p->k->data + (head * time + key) * d;
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += (double)q[j] * (double)k[j];
        largest = fmax(largest, fabs(sum - (double)p->scores->data[n]));
    }
    return largest;
}

/* The standard deviation of all numbers of x. */
static double spread(const rapt_tensor *x)
{
    size_t n = rapt_tensor_size(x);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x->data[i];
        squares += (double)x->data[i] * (double)x->data[i];
    }
    return sqrt(squares / (double)n - sum * sum / (double)n / (double)n);
}

/* The largest difference between a scaled score and the score divided by sqrt(d). */
static double scale_difference(const products *p)
{
    double root = sqrt((double)rapt_tensor_features(p->q)), largest = 0;
    for (size_t n = 0; n < rapt_tensor_size(p->scores); n++)
        largest = fmax(largest, fabs((double)p->scaled->data[n] - (double)p->scores->data[n] / root));
    return largest;
}

static void check_products(const products *p)
{
    const size_t *k = p->k->shape;
    show_shape("Q by heads", p->q);
    show_shape("K by heads", p->k);
    show_shape("K by heads, transposed", &(rapt_tensor){.ndim = 4, .shape = {k[0], k[1], k[3], k[2]}});
    show_shape("scores", p->scores);
    show_shape("scaled", p->scaled);
    printf("standard deviation: %.3f of the scores, %.3f of the scaled ones\n", spread(p->scores), spread(p->scaled));
    show_check("each score is the product of its query and its key", hand_difference(p) < 1e-4);
    show_check("each scaled one is its score divided by sqrt(d)", scale_difference(p) < 1e-6);
}

/* Two queries, three keys, two features: the numbers of the chapter. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *q = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){1, 2, 0, -1}, false);
    rapt_tensor *k = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, (rapt_real[]){2, 0, 1, 1, -1, 3}, false);
    rapt_tensor *scores = rapt_op_matmul(t, q, k, true), *scaled = rapt_op_scale(t, scores, 1 / sqrt(2));
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    show_corner("Q", q);
    show_corner("K", k);
    show_corner("scores", scores);
    show_corner("scaled", scaled);
    show_check("the scores are 2 3 5 and 0 -1 -3",
               show_difference(6, scores->data, (rapt_real[]){2, 3, 5, 0, -1, -3}) == 0);
}

/* Vectors of d numbers from N(0, 1), each with each: their products spread like sqrt(d). */
static void why_scaled(rapt_tape *t, rapt_params *set)
{
    printf("\n-- why it is divided by sqrt(d) --\n");
    for (size_t d = 4; d <= 1024; d *= 4) {
        char name[32];
        rapt_init normal = {RAPT_INIT_NORMAL, 1};
        snprintf(name, sizeof name, "random.q%zu", d);
        rapt_param *q = rapt_params_add(set, name, 3, (size_t[]){1, 200, d}, normal);
        snprintf(name, sizeof name, "random.k%zu", d);
        rapt_param *k = rapt_params_add(set, name, 3, (size_t[]){1, 200, d}, normal);
        rapt_tensor *scores = rapt_op_matmul(t, &q->value, &k->value, true);
        if (!show_ready(t, set))
            return;
        printf("d = %4zu: products spread %6.3f, divided by sqrt(d) %.3f\n", d, spread(scores),
               spread(scores) / sqrt((double)d));
        show_check("about 1 after the division", fabs(spread(scores) / sqrt((double)d) - 1) < 0.15);
    }
}

/* What the mask hides becomes -inf, the rest stays. A copy for looking: chapter 6 hides by leaving keys out. */
static rapt_tensor *hide_later_keys(rapt_tape *t, const rapt_tensor *x)
{
    rapt_tensor *y = rapt_tape_input(t, x->ndim, x->shape, x->data, false);
    size_t time = rapt_tensor_features(x);
    for (size_t n = 0; !rapt_tape_error(t)->code && n < rapt_tensor_size(y); n++)
        if (n % time > n / time % time)
            y->data[n] = -INFINITY;
    return y;
}

/* The mask by itself: 1 where a query must not look. */
static void print_mask(void)
{
    rapt_real mask[5 * 5];
    for (size_t n = 0; n < 25; n++)
        mask[n] = n % 5 > n / 5;
    printf("the mask of five tokens, 1 is hidden:\n");
    for (size_t n = 0; n < 25; n++)
        printf(" %d%s", (int)mask[n], n % 5 < 4 ? "" : "\n");
}

static bool hides_later_keys(const rapt_tensor *masked, const rapt_tensor *scaled)
{
    size_t time = rapt_tensor_features(masked);
    bool right = true;
    for (size_t n = 0; n < rapt_tensor_size(masked); n++)
        right = right && masked->data[n] == (n % time > n / time % time ? (rapt_real)-INFINITY : scaled->data[n]);
    return right;
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    products p = score(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS);
    rapt_tensor *masked = hide_later_keys(t, p.scaled);
    printf("\n-- four windows of the sales textbook, 4 heads --\n");
    if (!show_ready(t, set))
        return;
    check_products(&p);
    show_corner("scaled", p.scaled);
    print_mask();
    show_shape("masked", masked);
    printf("masked[0, 0]: what each word (row) makes of the words so far\n");
    show_frame(SALES_TIME, SALES_TIME, masked->data, input_sales_words, NULL);
    show_check("later keys are -inf, the others as they were", hides_later_keys(masked, p.scaled));
    show_check("scores are not symmetric: the score of \"aims\" for \"this\" is not that of \"this\" for \"aims\"",
               p.scaled->data[2 * SALES_TIME] != p.scaled->data[2]);
}

static rapt_tensor *random_vectors(rapt_params *set, const char *name, size_t features)
{
    return &rapt_params_add(set, name, 3, (size_t[]){2, 5, features}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

static void print_products(rapt_tape *t, rapt_params *set, products p)
{
    if (show_ready(t, set))
        check_products(&p);
}

/* The picture: the first head over the first window, before the mask. */
static void print_table(rapt_tape *t, rapt_params *set)
{
    products p = score(t, set, "sales.attention.", input_sales(t, set), SALES_HEADS);
    if (show_ready(t, set))
        show_table(SALES_TIME, SALES_TIME, p.scaled->data, input_sales_words, input_sales_words);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    why_scaled(t, set);
    printf("\n-- two sentences of five random vectors, 4 heads --\n");
    print_products(t, set, score(t, set, "small.", random_vectors(set, "small.x", 16), 4));
    printf("\n-- the same with 64 features --\n");
    print_products(t, set, score(t, set, "wide.", random_vectors(set, "wide.x", 64), 4));
    sales_textbook(t, set);
    printf("\n-- a batch of the usual size, 16 heads --\n");
    print_products(t, set, score(t, set, "attention.", input_batch(t, set), HEADS));
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, print_table);
}
