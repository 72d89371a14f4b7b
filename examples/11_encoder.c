/* examples/11_encoder.c: chapter 11 of docs/book: blocks of attention and feed-forward networks, one on top of the
 * other, read a batch of sentences of unequal length.  Usage: 11_encoder [--table] */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 64, TIME = 10, WORDS = 184 };

static void fill(rapt_param *p, const rapt_real *numbers)
{
    memcpy(p->value.data, numbers, rapt_tensor_size(&p->value) * sizeof *numbers);
}

/* A block of two features whose queries and keys are all 0, so that every position attends to all of them alike; the
 * other matrices change nothing. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_encoder_block m;
    rapt_block_config c = {.d_model = 2, .heads = 1, .ffn = 2, .init = RAPT_WEIGHT_INIT_ZEROS};
    rapt_encoder_block_init(&m, set, "paper.", &c);
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, (rapt_real[]){2, 0, 0, 2}, false);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    rapt_param *same[] = {m.attention.v.weight, m.attention.o.weight, m.ffn.dense1.weight, m.ffn.dense2.weight};
    for (int i = 0; i < 4; i++)
        fill(same[i], (rapt_real[]){1, 0, 0, 1});
    rapt_tensor *mean = rapt_multi_head_attention_forward(t, &m.attention, x, x, x, NULL);
    if (!show_ready(t, set))
        return;
    show_corner("x", x);
    show_corner("attention", mean); /* now: the residual sum may take its memory */
    rapt_tensor *h = rapt_add_norm_after(t, &m.norm1, x, mean), *y = rapt_encoder_block_forward(t, &m, x, NULL);
    if (!show_ready(t, set))
        return;
    show_corner("norm 1", h);
    show_corner("the block", y);
    show_check("as on paper, but for eps: 1 -1 and -1 1",
               show_difference(4, y->data, (rapt_real[]){1, -1, -1, 1}) < 1e-4);
}

/* If all positions hold the same vector, every key that counts has the same weight. */
static bool shares_are_equal(const rapt_tensor *weights, const int32_t *lens)
{
    size_t heads = weights->shape[1], time = weights->shape[2];
    bool equal = true;
    for (size_t i = 0; i < rapt_tensor_size(weights); i++) {
        size_t key = i % time, b = i / (heads * time * time);
        double wanted = key < (size_t)lens[b] ? 1.0 / lens[b] : 0;
        equal = equal && fabs((double)weights->data[i] - wanted) < 1e-6;
    }
    return equal;
}

/* The book's example of a block: 2 sentences of 100 positions, of which 3 and 2 count. */
static void one_block(rapt_tape *t, rapt_params *set)
{
    rapt_encoder_block m;
    rapt_block_config c = {.d_model = 24, .heads = 8, .ffn = 48, .dropout = 0.5, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_encoder_block_init(&m, set, "block.", &c);
    rapt_param *one = rapt_params_add(set, "ones", 3, (size_t[]){2, 100, 24}, (rapt_init){RAPT_INIT_ONES, 0});
    int32_t lens[2] = {3, 2};
    rapt_tensor *y = rapt_encoder_block_forward(t, &m, &one->value, lens);
    printf("\n-- one block --\n");
    if (!show_ready(t, set))
        return;
    const rapt_tensor *weights = rapt_tape_attention(t, "block.attention");
    show_shape("x", &one->value);
    show_shape("output", y);
    show_shape("attention weights", weights);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(y, &one->value));
    show_check("all vectors are alike: weights of 1/3 in sentence 0, of 1/2 in sentence 1, none on padding",
               shares_are_equal(weights, lens));
}

/* ---- encoders: from tokens ---------------------------------------------------------------------------------- */

static const char *const sentence[TIME] = {"we", "listen", "before", "we", "speak", ".", "<eos>", "<pad>", "<pad>",
                                           "<pad>"};
static const int32_t sentence_ids[TIME] = {4, 5, 6, 4, 7, 8, 3, 1, 1, 1};

/* A batch whose first sentence is the one above; the others have words like numbers drawn from a hat, and 4 to 10
 * tokens. */
static void make_batch(int32_t ids[BATCH * TIME], int32_t lens[BATCH])
{
    memcpy(ids, sentence_ids, sizeof sentence_ids);
    lens[0] = 7;
    for (int b = 1; b < BATCH; b++) {
        lens[b] = 4 + b % 7;
        for (int i = 0; i < TIME; i++)
            ids[b * TIME + i] = i < lens[b] ? 4 + (b * 37 + i * 101) % (WORDS - 4) : 1;
    }
}

static rapt_tensor *block_by_block(rapt_tape *t, const rapt_encoder *m, rapt_tokens tokens, const int32_t *lens)
{
    rapt_tensor *x = rapt_preprocess(t, &m->input, tokens, 0); /* embedding * sqrt(d_model) + positions */
    for (size_t i = 0; i < m->layers; i++)
        x = rapt_encoder_block_forward(t, &m->blocks[i], x, lens);
    return x;
}

/* Each row sums to 1, and nothing falls on a key that doesn't count. */
static bool are_weights(const rapt_tensor *weights, const int32_t *lens)
{
    size_t keys = weights->shape[3], rows_of_sentence = weights->shape[1] * weights->shape[2];
    bool good = true;
    for (size_t row = 0; row < rapt_tensor_rows(weights); row++) {
        double sum = 0;
        for (size_t j = 0; j < keys; j++) {
            sum += (double)weights->data[row * keys + j];
            good = good && (j < (size_t)lens[row / rows_of_sentence] || weights->data[row * keys + j] == 0);
        }
        good = good && fabs(sum - 1) < 1e-5;
    }
    return good;
}

/* The rows that count are the same, to the bit. */
static bool same_rows(const rapt_tensor *a, const rapt_tensor *b, const int32_t *lens)
{
    size_t sentence_size = a->shape[1] * a->shape[2];
    bool same = true;
    for (size_t i = 0; i < a->shape[0]; i++)
        same = same && memcmp(a->data + i * sentence_size, b->data + i * sentence_size,
                              (size_t)lens[i] * a->shape[2] * sizeof *a->data) == 0;
    return same;
}

/* Initialized with deviation 1 / sqrt(d_model), as the encoder multiplies them by sqrt(d_model). */
static rapt_transformer_config config_of(size_t words, rapt_block_config block)
{
    return (rapt_transformer_config){.source_vocab = words, .layers = 2, .max_positions = 1000, .block = block,
                                     .scale_embedding = true, .embedding_std = 1 / sqrt((double)block.d_model)};
}

/* Two blocks of 24 features and 8 heads, 200 words; all tokens are word 1. */
static void book_example(rapt_tape *t)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(2, &err);
    if (!set)
        return;
    rapt_encoder m;
    rapt_block_config block = {.d_model = 24, .heads = 8, .ffn = 48, .dropout = 0.5};
    rapt_transformer_config c = config_of(200, block);
    rapt_encoder_init(&m, set, &c);
    int32_t ids[200];
    for (int i = 0; i < 200; i++)
        ids[i] = 1;
    rapt_tensor *y = rapt_encoder_forward(t, &m, (rapt_tokens){ids, 2, 100, NULL}, (int32_t[]){3, 2});
    printf("\n-- two blocks: from words to vectors --\n");
    if (show_ready(t, set)) {
        show_shape("output", y);
        show_check("one vector of 24 features for each of 2 x 100 tokens",
                   y->ndim == 3 && y->shape[0] == 2 && y->shape[1] == 100 && y->shape[2] == 24);
    }
    rapt_params_free(set);
}

/* The sizes that the book trains with: 32 features, 4 heads. */
static void init_trained_size(rapt_encoder *m, rapt_params *set)
{
    rapt_block_config block = {.d_model = 32, .heads = 4, .ffn = 64, .dropout = 0.1};
    rapt_transformer_config c = config_of(WORDS, block);
    rapt_encoder_init(m, set, &c);
}

static void batch_of_sentences(rapt_tape *t, rapt_params *set, const rapt_encoder *m)
{
    int32_t ids[BATCH * TIME], lens[BATCH];
    make_batch(ids, lens);
    rapt_tokens tokens = {ids, BATCH, TIME, NULL};
    rapt_tensor *y = rapt_encoder_forward(t, m, tokens, lens), *blocks = block_by_block(t, m, tokens, lens);
    printf("\n-- 64 sentences of up to 10 tokens --\n");
    if (!show_ready(t, set))
        return;
    const rapt_tensor *first = rapt_tape_attention(t, "encoder.0.attention");
    const rapt_tensor *second = rapt_tape_attention(t, "encoder.1.attention");
    for (int b = 0; b < BATCH; b++) /* other words where nothing counts */
        for (int i = lens[b]; i < TIME; i++)
            ids[b * TIME + i] = 9;
    rapt_tensor *other = rapt_encoder_forward(t, m, tokens, lens);
    if (!show_ready(t, set))
        return;
    show_shape("output", y);
    show_corner("output", y);
    show_shape("attention weights of block 0", first);
    show_shape("attention weights of block 1", second);
    show_check("rows of weights sum to 1, and padding gets none",
               are_weights(first, lens) && are_weights(second, lens));
    show_check("block by block gives the same, to the bit", same_rows(y, blocks, lens));
    show_check("other words in the place of padding change nothing that counts", same_rows(y, other, lens));
}

/* What the first sentence's tokens attend to: head 0 of the first block. */
static void print_table(rapt_tape *t, rapt_params *set, const rapt_encoder *m)
{
    int32_t ids[BATCH * TIME], lens[BATCH];
    make_batch(ids, lens);
    rapt_encoder_forward(t, m, (rapt_tokens){ids, BATCH, TIME, NULL}, lens);
    if (show_ready(t, set))
        show_table(TIME, TIME, rapt_tape_attention(t, "encoder.0.attention")->data, sentence, sentence);
}

int main(int argc, char **argv)
{
    bool table_only = show_wants_table(argc, argv);
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err); /* 1 is the seed */
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (!set || !t)
        return fprintf(stderr, "%s\n", err.message), 1;
    rapt_encoder m;
    init_trained_size(&m, set);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){0});
    if (table_only) {
        print_table(t, set, &m);
    } else {
        on_paper(t, set);
        one_block(t, set);
        book_example(t);
        batch_of_sentences(t, set, &m);
    }
    return show_end(t, set);
}
