/* examples/02_positions.c: chapter 2 of docs/book: each place in a sentence gets a vector of sines and cosines, which
 * is added to the word's. The table is compared with the formula.  Usage: 02_positions [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The largest difference between a table of positions and sin(i f), cos(i f) with f = exp(-2j ln(10000) / d). */
static double formula_difference(const rapt_tensor *table)
{
    size_t d = table->shape[1];
    double largest = 0;
    for (size_t i = 0; i < table->shape[0]; i++)
        for (size_t j = 0; j < d; j++) {
            double angle = (double)i * exp(-(double)(j - j % 2) * log(10000) / (double)d);
            double expected = j % 2 ? cos(angle) : sin(angle);
            largest = fmax(largest, fabs((double)table->data[i * d + j] - expected));
        }
    return largest;
}

static double dot(size_t d, const rapt_real *a, const rapt_real *b)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (double)a[j] * (double)b[j];
    return sum;
}

/* The cosine of the angle between two rows of x. */
static double cosine(const rapt_tensor *x, size_t i, size_t k)
{
    size_t d = rapt_tensor_features(x);
    const rapt_real *a = x->data + i * d, *b = x->data + k * d;
    return dot(d, a, b) / sqrt(dot(d, a, a) * dot(d, b, b));
}

static double distance(size_t d, const rapt_real *a, const rapt_real *b)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sqrt(sum);
}

static rapt_tensor *random_words(rapt_params *set, const char *name, size_t batch, size_t time, size_t d)
{
    return &rapt_params_add(set, name, 3, (size_t[]){batch, time, d}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

/* The table with a dimension for the batch, and no more of it than `time` places. */
static rapt_tensor *rows_of_batch(rapt_tape *t, const rapt_tensor *table, size_t time)
{
    return rapt_tape_input(t, 3, (size_t[]){1, time, table->shape[1]}, table->data, false);
}

/* Word vectors [batch, time, d] plus a table of max_len positions: the shapes of both and of the sum. */
static void add_positions(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tensor *words, size_t max_len)
{
    rapt_positions m;
    size_t d = rapt_tensor_features(words);
    rapt_positions_init(&m, set, prefix, max_len, d, NULL);
    rapt_tensor *y = rapt_positions_forward(t, &m, words, 0);
    rapt_tensor *table = rows_of_batch(t, &m.table->value, max_len);
    rapt_tensor *rows = rows_of_batch(t, &m.table->value, words->shape[1]);
    if (!show_ready(t, set))
        return;
    show_shape("words", words);
    show_shape("positions", table);
    show_shape("those of these places", rows);
    show_shape("words + positions", y);
    bool same = true;
    for (size_t i = 0; i < rapt_tensor_size(words); i++)
        same = same && y->data[i] == words->data[i] + rows->data[i % rapt_tensor_size(rows)];
    show_check("every sentence got the same rows of the table added", same);
}

static void one_table_for_all(rapt_tape *t, rapt_params *set)
{
    printf("-- one table for every sentence of a batch --\n");
    add_positions(t, set, "one.", random_words(set, "one.words", 2, 10, 16), 100);
    printf("\n");
    add_positions(t, set, "two.", random_words(set, "two.words", 2, 5, 8), 5);
    printf("\n");
    add_positions(t, set, "three.", random_words(set, "three.words", 4, 10, 512), 80);
    printf("\n");
    add_positions(t, set, "four.", random_words(set, "four.words", 16, 20, 512), 80);
}

/* Five positions of 16 features: are they different enough to tell places apart? */
static void compare_positions(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "compared.", 5, 16, NULL);
    rapt_tensor *p = &m.table->value, *word = random_words(set, "compared.word", 1, 1, 16);
    rapt_tensor *at_0 = rapt_positions_forward(t, &m, word, 0), *at_1 = rapt_positions_forward(t, &m, word, 1);
    printf("\n-- are places told apart? --\n");
    if (!show_ready(t, set))
        return;
    rapt_real corner[5 * 8];
    for (size_t i = 0; i < 5; i++)
        memcpy(corner + i * 8, p->data + i * 16, 8 * sizeof *corner);
    printf("5 positions, the first 8 of 16 features:\n");
    show_frame(5, 8, corner, NULL, NULL);
    printf("cosine similarity of positions 0 and 1: %.4f\n", cosine(p, 0, 1));
    show_check("it is below 0.99: the positions differ", cosine(p, 0, 1) < 0.99);
    double moved = distance(16, at_0->data, at_1->data);
    printf("distance of one word at place 0 and at place 1: %.4f\n", moved);
    show_check("it is above 0.1: the word's vector has changed", moved > 0.1);
}

/* sin(a + b) = sin a cos b + cos a sin b, and so on: position i + k is position i with each pair of features turned by
 * an angle that depends on k alone. */
static double turn_difference(const rapt_tensor *p, size_t k)
{
    size_t d = p->shape[1];
    double largest = 0;
    for (size_t i = 0; i + k < p->shape[0]; i++)
        for (size_t j = 0; j < d; j += 2) {
            const rapt_real *from = p->data + i * d + j, *to = from + k * d, *turn = p->data + k * d + j;
            double s = (double)from[0] * (double)turn[1] + (double)from[1] * (double)turn[0];
            double c = (double)from[1] * (double)turn[1] - (double)from[0] * (double)turn[0];
            largest = fmax(largest, fmax(fabs(s - (double)to[0]), fabs(c - (double)to[1])));
        }
    return largest;
}

/* Similarity is a function of how far apart two positions are. */
static double uneven(const rapt_tensor *p)
{
    double largest = 0;
    for (size_t i = 0; i < p->shape[0]; i++)
        for (size_t k = 0; i + k < p->shape[0]; k++)
            largest = fmax(largest, fabs(cosine(p, i, i + k) - cosine(p, 0, k)));
    return largest;
}

static void check_table(const rapt_tensor *p)
{
    double norm = sqrt(dot(64, p->data, p->data));
    printf("similarity to position 0:");
    for (size_t k = 0; k < p->shape[0]; k++)
        printf(" %.2f", cosine(p, 0, k));
    printf("\nlength of a row: %.4f\n", norm);
    show_check("all of it is sin and cos of the formula, within 1e-6", formula_difference(p) < 1e-6);
    show_check("a row is sqrt(64 / 2) long", fabs(norm - sqrt(32)) < 1e-5);
    show_check("the similarity of two positions depends on their distance alone", uneven(p) < 1e-5);
    show_check("3 places on is a rotation of each pair of features", turn_difference(p, 3) < 1e-5);
}

/* The steps of the table one by one, for 16 places and 64 features. False if out of memory. */
static bool print_angles(rapt_tape *t)
{
    double factor = -log(10000) / SALES_FEATURES;
    rapt_real frequency[SALES_FEATURES / 2], place[SALES_TIME];
    for (int j = 0; j < SALES_FEATURES / 2; j++)
        frequency[j] = (rapt_real)exp(2 * j * factor);
    for (int i = 0; i < SALES_TIME; i++)
        place[i] = (rapt_real)i;
    rapt_tensor *places = rapt_tape_input(t, 2, (size_t[]){SALES_TIME, 1}, place, false);
    rapt_tensor *row = rapt_tape_input(t, 2, (size_t[]){1, SALES_FEATURES / 2}, frequency, false);
    rapt_tensor *angles = rapt_op_matmul(t, places, row, false);
    if (rapt_tape_error(t)->code)
        return false;
    printf("factor: -ln(10000) / 64 = %.6f\n", factor);
    show_row("frequencies", SALES_FEATURES / 2, frequency, "%.4e");
    show_shape("places", places);
    show_shape("angles, place times frequency", angles);
    return true;
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    rapt_embedding words;
    rapt_positions m;
    rapt_embedding_init(&words, set, "sales.embedding.", SALES_VOCABULARY, SALES_FEATURES, NULL);
    rapt_positions_init(&m, set, "sales.positions.", SALES_TIME, SALES_FEATURES, &(rapt_positions_options){.persistent = true});
    rapt_tensor *x = rapt_positions_forward(t, &m, rapt_embedding_forward(t, &words, input_sales_tokens(set)), 0);
    rapt_tensor *y = rapt_positions_forward(t, &m, rapt_embedding_forward(t, &words, input_sales_labels(set)), 0);
    rapt_tensor *row_of_batch = rows_of_batch(t, &m.table->value, SALES_TIME);
    printf("\n-- four windows of the sales textbook --\n");
    if (!show_ready(t, set))
        return;
    if (!print_angles(t))
        return;
    show_shape("positions", &m.table->value);
    show_corner("positions", &m.table->value);
    show_shape("as one of a batch", row_of_batch);
    check_table(&m.table->value);
    show_shape("tokens: words + positions", x);
    show_corner("tokens", x);
    show_shape("labels: words + positions", y);
}

/* Embedding, scaling and positions at once, as a model does it. */
static void usual_batch(rapt_tape *t, rapt_params *set)
{
    rapt_preprocessor m;
    rapt_preprocessor_init(&m, set, "batch.", 10000, 512, 100, &(rapt_preprocessor_options){.no_scale = true});
    rapt_tokens tokens = input_batch_tokens(set);
    rapt_tensor *plain = rapt_preprocess(t, &m, tokens, 0);
    rapt_tensor *steps = rapt_positions_forward(t, &m.positions, rapt_embedding_forward(t, &m.embedding, tokens), 0);
    m.scale = true;
    rapt_tensor *scaled = rapt_preprocess(t, &m, tokens, 0);
    rapt_tensor *larger = rapt_op_scale(t, rapt_embedding_forward(t, &m.embedding, tokens), sqrt(512));
    rapt_tensor *scaled_steps = rapt_positions_forward(t, &m.positions, larger, 0);
    printf("\n-- a batch of the usual size --\n");
    if (!show_ready(t, set))
        return;
    size_t size = rapt_tensor_size(plain);
    show_shape("words + positions", plain);
    show_shape("sqrt(512) words + positions", scaled);
    show_check("one operation gives what the steps give", show_difference(size, plain->data, steps->data) < 1e-5);
    show_check("with scaling too", show_difference(size, scaled->data, scaled_steps->data) < 1e-4);
}

/* A table that is learned: its rows are looked up by place as the embedding's are by word. */
static void learned_positions(rapt_tape *t, rapt_params *set)
{
    size_t before = rapt_params_size(set);
    rapt_preprocessor m;
    rapt_preprocessor_init(&m, set, "learned.", 10, 16, 100,
                           &(rapt_preprocessor_options){.positions = RAPT_POSITIONS_LEARNED, .no_scale = true});
    rapt_tokens tokens = {.batch = 1, .time = 5, .ids = (int32_t[]){3, 1, 4, 1, 5}};
    rapt_tensor *words = rapt_embedding_forward(t, &m.embedding, tokens), *y = rapt_preprocess(t, &m, tokens, 0);
    printf("\n-- learned positions --\n");
    if (!show_ready(t, set))
        return;
    const rapt_tensor *table = &m.positions.table->value;
    show_shape("embedding", &m.embedding.weight->value);
    show_shape("positions", table);
    printf("parameters: %zu\n", rapt_params_size(set) - before);
    double largest = 0;
    for (size_t i = 0; i < rapt_tensor_size(y); i++)
        largest = fmax(largest, fabs((double)y->data[i] - (double)words->data[i] - (double)table->data[i]));
    show_check("word i has row i of the table added", largest < 1e-6);
    show_check("both tables are parameters: 10 x 16 + 100 x 16", rapt_params_size(set) - before == 1760);
    show_check("the word at places 1 and 3 has two vectors", show_difference(16, y->data + 16, y->data + 48) > 0.01);
}

/* The picture: 32 places of 32 features. */
static void print_table(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "picture.", 32, 32, NULL);
    if (show_ready(t, set))
        show_table(32, 32, m.table->value.data, NULL, NULL);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    one_table_for_all(t, set);
    compare_positions(t, set);
    sales_textbook(t, set);
    usual_batch(t, set);
    learned_positions(t, set);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, print_table);
}
