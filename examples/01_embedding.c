/* examples/01_embedding.c: chapter 1 of docs/book: tokens become vectors. Rows of a table are looked up, then computed
 * as a matrix product, and the backward pass shows which rows get a gradient.  Usage: 01_embedding [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ten words of three features, and a sentence of three words. */
static void small_sentence(rapt_tape *t, rapt_params *set)
{
    rapt_embedding table;
    rapt_embedding_init(&table, set, "small.", 10, 3, NULL);
    rapt_tokens sentence = {.ids = (int32_t[]){2, 5, 1}, .time = 3}; /* without a batch dimension */
    rapt_tensor *y = rapt_embedding_forward(t, &table, sentence);
    printf("-- a sentence of three words --\n");
    if (!show_ready(t, set))
        return;
    show_ids("tokens", sentence);
    show_shape("vectors", y);
    show_tensor("vectors", y);
    show_check("the first vector is row 2 of the table",
               show_difference(3, y->data, table.weight->value.data + 2 * 3) == 0);
}

/* Row i is all 0 but for a 1 at column ids[i]. */
static rapt_tensor *one_hot(rapt_tape *t, rapt_tokens tokens, size_t words)
{
    rapt_tensor *y = rapt_tape_tensor(t, 2, (size_t[]){tokens.batch * tokens.time, words}, false);
    if (rapt_tape_error(t)->code)
        return y;
    memset(y->data, 0, rapt_tensor_size(y) * sizeof *y->data);
    for (size_t i = 0; i < tokens.batch * tokens.time; i++)
        y->data[i * words + (size_t)tokens.ids[i]] = 1;
    return y;
}

/* The derivative of the sum of all outputs by an entry of the table: how often its word occurs. */
static bool counts_words(const rapt_tensor *weight, rapt_tokens tokens)
{
    bool right = true;
    for (size_t word = 0; word < weight->shape[0]; word++) {
        rapt_real count = 0;
        for (size_t i = 0; i < tokens.batch * tokens.time; i++)
            count += (size_t)tokens.ids[i] == word;
        for (size_t j = 0; j < weight->shape[1]; j++)
            right = right && weight->grad[word * weight->shape[1] + j] == count;
    }
    return right;
}

/* Five words; a batch of two sentences that have the same words in opposite order. */
static void two_sentences(rapt_tape *t, rapt_params *set)
{
    rapt_embedding table;
    rapt_embedding_init(&table, set, "pair.", 5, 3, NULL);
    rapt_tape_begin(t, (rapt_pass){.record = true}); /* a pass of its own, which can be walked back */
    rapt_tokens batch = {.ids = (int32_t[]){1, 2, 4, 3, 4, 3, 2, 1}, .batch = 2, .time = 4};
    rapt_tensor *weight = &table.weight->value, *y = rapt_embedding_forward(t, &table, batch);
    rapt_tensor *product = rapt_op_matmul(t, one_hot(t, batch, 5), weight, false);
    rapt_backward(t, rapt_op_sum(t, y), NULL);
    printf("\n-- two sentences --\n");
    if (!show_ready(t, set))
        return;
    show_tensor("weight", weight);
    show_ids("tokens", batch);
    show_shape("vectors", y);
    show_tensor("vectors", y);
    show_check("word 1 has the same vector in both sentences", show_difference(3, y->data, y->data + 7 * 3) == 0);
    show_check("one-hot rows times the table give the same",
               show_difference(rapt_tensor_size(y), y->data, product->data) == 0);
    show_tensor("gradient of weight", &(rapt_tensor){.data = weight->grad, .ndim = 2, .shape = {5, 3}});
    show_check("its rows count the words; word 0 does not occur and would not learn", counts_words(weight, batch));
}

/* The mean length of the vectors of x. */
static double mean_norm(const rapt_tensor *x)
{
    size_t rows = rapt_tensor_rows(x), d = rapt_tensor_features(x);
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double squares = 0;
        for (size_t j = 0; j < d; j++)
            squares += (double)x->data[i * d + j] * (double)x->data[i * d + j];
        sum += sqrt(squares);
    }
    return sum / (double)rows;
}

static void usual_batch(rapt_tape *t, rapt_params *set)
{
    rapt_embedding table;
    rapt_embedding_init(&table, set, "batch.embedding.", 10000, 512, NULL);
    rapt_tensor *y = rapt_embedding_forward(t, &table, input_batch_tokens(set));
    printf("\n-- a batch of the usual size --\n");
    if (!show_ready(t, set))
        return;
    show_shape("weight", &table.weight->value);
    show_shape("vectors", y);
    show_corner("vectors", y);
    double norm = mean_norm(y);
    printf("mean length of a vector: %.2f, sqrt(512) = %.2f\n", norm, sqrt(512));
    show_check("a vector of 512 numbers from N(0, 1) is about sqrt(512) long", fabs(norm - sqrt(512)) < 0.2);
}

static rapt_tensor *sales_vectors(rapt_tape *t, rapt_params *set, rapt_embedding *table)
{
    rapt_embedding_init(table, set, "sales.embedding.", SALES_VOCABULARY, SALES_FEATURES, NULL);
    return rapt_embedding_forward(t, table, input_sales_tokens(set));
}

/* Checks every window at all places except the last, because the label of the last place is in no window. */
static bool labels_are_next_tokens(rapt_tokens tokens, rapt_tokens labels)
{
    bool right = true;
    for (size_t b = 0; b < tokens.batch; b++)
        right = right && memcmp(tokens.ids + b * tokens.time + 1, labels.ids + b * tokens.time,
                                (tokens.time - 1) * sizeof *labels.ids) == 0;
    return right;
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    rapt_embedding table;
    rapt_tensor *x = sales_vectors(t, set, &table);
    rapt_tokens tokens = input_sales_tokens(set), labels = input_sales_labels(set);
    rapt_tensor *y = rapt_embedding_forward(t, &table, labels);
    printf("\n-- four windows of the sales textbook --\n");
    if (!show_ready(t, set))
        return;
    show_ids("tokens", tokens);
    show_ids("labels", labels);
    printf("the first window:");
    for (size_t i = 0; i < SALES_TIME; i++)
        printf(" %s", input_sales_words[i]);
    printf("\n");
    show_shape("weight", &table.weight->value);
    show_corner("weight", &table.weight->value);
    show_shape("vectors of the tokens", x);
    show_shape("vectors of the labels", y);
    show_check("the label of a token is the token after it, in every window", labels_are_next_tokens(tokens, labels));
    show_check("\"to\" has the same vector at its two places",
               show_difference(64, x->data + 3 * 64, x->data + 13 * 64) == 0);
}

static void picture(rapt_tape *t, rapt_params *set)
{
    rapt_embedding table;
    rapt_tensor *x = sales_vectors(t, set, &table);
    if (show_ready(t, set))
        show_table_part(SALES_TIME, 32, x, input_sales_words); /* half of the features */
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    small_sentence(t, set);
    two_sentences(t, set);
    usual_batch(t, set);
    sales_textbook(t, set);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
