/* examples/tutorial_positions_attention.c: the code of docs/tutorials/positions-attention.md, section by section: positional
 * encoding, multi-head attention and the feed-forward network, with the sizes and the checks of the tutorial.
 * Usage: tutorial_positions_attention [--table | SECTION] */
#include "sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 2, TIME = 5, FEATURES = 16, HEADS = 4 };

static rapt_tensor *randn(rapt_params *set, const char *name, size_t batch, size_t time, size_t d)
{
    return &rapt_params_add(set, name, 3, (size_t[]){batch, time, d}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

static double dot(size_t d, const rapt_real *a, const rapt_real *b)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (double)a[j] * (double)b[j];
    return sum;
}

static double distance(size_t d, const rapt_real *a, const rapt_real *b)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sqrt(sum);
}

/* ---- 2.1 positions ----------------------------------------------------------------------------------------------- */

static void div_term(rapt_tape *t, rapt_params *set)
{
    rapt_real indices[FEATURES / 2], exponents[FEATURES / 2], divisors[FEATURES / 2];
    const double factor = -log(10000) / FEATURES;
    double power_difference = 0, table_difference = 0;
    rapt_positions m;
    rapt_positions_init(&m, set, "div_term.", 80, FEATURES, NULL);
    if (!show_ready(t, set))
        return;
    for (size_t i = 0; i < FEATURES / 2; i++) {
        double divisor = exp(2 * (double)i * factor);
        indices[i] = (rapt_real)(2 * i);
        exponents[i] = (rapt_real)(2 * (double)i * factor);
        divisors[i] = (rapt_real)divisor;
        power_difference = fmax(power_difference, fabs(divisor - 1 / pow(10000, 2 * (double)i / FEATURES)));
        for (size_t place = 0; place < 80; place++) {
            const rapt_real *pair = m.table->value.data + place * FEATURES + 2 * i;
            table_difference = fmax(table_difference, fabs((double)pair[0] - sin((double)place * divisor)));
            table_difference = fmax(table_difference, fabs((double)pair[1] - cos((double)place * divisor)));
        }
    }
    show_row("torch.arange(0, d_model, 2).float()", FEATURES / 2, indices, "%8.1f");
    printf("-math.log(10000.0) / d_model: %.4f / %d = %.4f\n", -log(10000), FEATURES, factor);
    show_row("their product", FEATURES / 2, exponents, "%8.4f");
    show_row("div_term", FEATURES / 2, divisors, "  %.4e");
    show_check("exp(2i * -ln(10000) / d) is 1 / 10000^(2i / d)", power_difference < 1e-12);
    show_check("pe[:, 0::2] = sin(position * div_term), pe[:, 1::2] = cos(position * div_term), within 1e-6",
               table_difference < 1e-6);
    show_check("pair 0 has the highest frequency, a period of 2 pi positions; the last pair the lowest",
               divisors[0] == 1 && divisors[FEATURES / 2 - 1] < divisors[0]);
}

/* x + pe[:, :seq_len] for x [batch, time, d]: the rows are broadcast over the batch. */
static void add_positions(rapt_tape *t, rapt_params *set, const char *prefix, size_t batch, size_t time, size_t d)
{
    char name[32];
    rapt_positions m;
    rapt_positions_init(&m, set, prefix, 80, d, NULL);
    snprintf(name, sizeof name, "%sx", prefix);
    rapt_tensor *x = randn(set, name, batch, time, d);
    rapt_tensor *rows = rapt_tape_input(t, 3, (size_t[]){1, time, d}, m.table->value.data, false);
    rapt_tensor *sum = rapt_op_add(t, x, rows), *module = rapt_positions_forward(t, &m, x, 0);
    if (!show_ready(t, set))
        return;
    show_shape("x", x);
    show_shape("pe[:, :seq_len]", rows);
    show_shape("x + pe[:, :seq_len]", sum);
    bool same = true;
    for (size_t i = 0; i < rapt_tensor_size(sum); i++)
        same = same && sum->data[i] == x->data[i] + rows->data[i % (time * d)];
    show_check("x[b, pos, i] + pe[0, pos, i], for every b", same);
    show_check("rapt_positions_forward adds the same",
               show_difference(rapt_tensor_size(sum), sum->data, module->data) == 0);
}

static void broadcasting(rapt_tape *t, rapt_params *set)
{
    add_positions(t, set, "16x20.", 16, 20, 512);
    add_positions(t, set, "4x10.", 4, 10, 512);
    add_positions(t, set, "2x5.", 2, 5, 8);
}

/* The tutorial's word, (0.5, 0.3), and its offset for position 3, which no row of sines and cosines is. */
static void apple(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "apple.", 80, 2, NULL);
    rapt_tensor *word = rapt_tape_input(t, 3, (size_t[]){1, 1, 2}, (rapt_real[]){0.5, 0.3}, false);
    rapt_tensor *offset = rapt_tape_input(t, 3, (size_t[]){1, 1, 2}, (rapt_real[]){0.1, -0.2}, false);
    rapt_tensor *sum = rapt_op_add(t, word, offset), *row_3 = rapt_positions_forward(t, &m, word, 3);
    if (!show_ready(t, set))
        return;
    show_row("(0.5, 0.3) + (0.1, -0.2)", 2, sum->data, "%.1f");
    show_row("pe[0, 3] of two features", 2, m.table->value.data + 3 * 2, "%.4f");
    show_row("(0.5, 0.3) at position 3", 2, row_3->data, "%.4f");
    show_check("(0.6, 0.1)", fabs((double)sum->data[0] - 0.6) < 1e-6 && fabs((double)sum->data[1] - 0.1) < 1e-6);
    show_check("a sine and a cosine: every row of two features is 1 long, (0.1, -0.2) is not",
               fabs(dot(2, m.table->value.data + 3 * 2, m.table->value.data + 3 * 2) - 1) < 1e-6);
}

/* What scaling angles does to the last pair of features: its sines stay near 0, its cosines near 1, but they differ. */
static void last_pair(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "last_pair.", 80, FEATURES, NULL);
    if (!show_ready(t, set))
        return;
    rapt_real sines[5], cosines[5];
    bool grows = true;
    for (size_t place = 0; place < 5; place++) {
        sines[place] = m.table->value.data[place * FEATURES + FEATURES - 2];
        cosines[place] = m.table->value.data[place * FEATURES + FEATURES - 1];
        grows = grows && (place == 0 || sines[place] > sines[place - 1]);
    }
    show_row("pe[0, :5, 14]", 5, sines, "%.6f");
    show_row("pe[0, :5, 15]", 5, cosines, "%.6f");
    show_check("near 0 and near 1 because of div_term, and another sine at each position", grows && sines[4] < 0.002);
}

/* One step of Adam, with the sum of two embedded words for a loss. */
static bool train_a_step(rapt_params *set, const rapt_preprocessor *m, rapt_error *err)
{
    rapt_adam *adam = rapt_adam_new(set, NULL, err);
    rapt_tape *t = rapt_tape_new(NULL, err);
    bool done = false;
    if (adam && t) {
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
        rapt_tensor *x = rapt_preprocess(t, m, (rapt_tokens){(int32_t[]){0, 0}, 1, 2, NULL}, 0);
        done = rapt_backward(t, rapt_op_sum(t, x), err) == RAPT_OK && rapt_adam_step(adam, t, 0.01, 1, err) == RAPT_OK;
    }
    rapt_adam_free(adam);
    rapt_tape_free(t);
    return done;
}

/* An embedding is a parameter, the table of positions a buffer: what is counted, and what training changes. */
static void buffer_in(rapt_params *set, rapt_error *err)
{
    rapt_preprocessor m;
    rapt_preprocessor_init(&m, set, "", 10, FEATURES, 80, NULL); /* max_seq_len 80 */
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        char shape[64];
        printf("%-17s %-8s %s\n", p->value.name, rapt_shape_text(&p->value, shape, sizeof shape),
               p->buffer ? "buffer" : "parameter");
    }
    printf("parameters: %zu\n", rapt_params_size(set));
    show_check("10 x 16: the 80 x 16 of the buffer are not counted", rapt_params_size(set) == 160);
    rapt_real before[80 * FEATURES], word = m.embedding.weight->value.data[0];
    memcpy(before, m.positions.table->value.data, sizeof before);
    show_check("a step of Adam is done", train_a_step(set, &m, err));
    show_check("it changes the embedding", m.embedding.weight->value.data[0] != word);
    show_check("and not the buffer", memcmp(before, m.positions.table->value.data, sizeof before) == 0);
}

static void buffer(rapt_tape *t, rapt_params *set)
{
    rapt_error err = {0};
    rapt_params *own = rapt_params_new(1, &err);
    if (own)
        buffer_in(own, &err);
    if (err.code)
        rapt_tape_fail(t, err.code, "%s", err.message);
    show_ready(t, set);
    rapt_params_free(own);
}

/* The mean length of 1000 word vectors from N(0, 1), as they are, and scaled either way. */
static void scaling(rapt_tape *t, rapt_params *set)
{
    const rapt_tensor *words = randn(set, "scaling.words", 1, 1000, 512);
    if (!show_ready(t, set))
        return;
    double length = 0, root = sqrt(512);
    for (size_t i = 0; i < 1000; i++)
        length += sqrt(dot(512, words->data + i * 512, words->data + i * 512)) / 1000;
    printf("mean length of a word vector: %.1f\n", length);
    printf("divided by sqrt(512), as the text says: %.3f\n", length / root);
    printf("times sqrt(512), as the code does: %.1f\n", length * root);
    printf("length of a row of pe: %.1f\n", sqrt(512 / 2.0));
    show_check("sqrt(512) = 22.6, within 1 percent", fabs(length / root - 1) < 0.01);
}

static void positional_encoding(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "pos_encoder.", 5, FEATURES, NULL); /* d_model 16, max_seq_len 5 */
    const rapt_real *pe = m.table->value.data;
    rapt_tensor *embed = randn(set, "embed", 1, 1, FEATURES);
    rapt_tensor *at_0 = rapt_positions_forward(t, &m, embed, 0), *at_1 = rapt_positions_forward(t, &m, embed, 1);
    if (!show_ready(t, set))
        return;
    rapt_real corner[5 * 8];
    for (size_t i = 0; i < 5; i++)
        memcpy(corner + i * 8, pe + i * FEATURES, 8 * sizeof *corner);
    show_tensor("pe[0, :5, :8]", &(rapt_tensor){.data = corner, .ndim = 2, .shape = {5, 8}});
    const rapt_real *a = pe, *b = pe + FEATURES;
    double similarity = dot(FEATURES, a, b) / sqrt(dot(FEATURES, a, a) * dot(FEATURES, b, b));
    printf("cosine similarity of positions 0 and 1: %.4f\n", similarity);
    show_check("below 0.99: positions are told apart", similarity < 0.99);
    double moved = distance(FEATURES, at_0->data, at_1->data);
    printf("distance of one embedding at positions 0 and 1: %.4f\n", moved);
    show_check("above 0.1: the position has changed the vector", moved > 0.1);
    show_check("it is the distance of the two positions, whatever the embedding", fabs(moved - distance(FEATURES, a, b)) < 1e-5);
}

/* ---- 2.2 attention ----------------------------------------------------------------------------------------------- */

static void softmax(rapt_tape *t, rapt_params *set)
{
    static const char *const words[3] = {"I", "like", "apples"};
    rapt_tensor *scores = rapt_tape_input(t, 2, (size_t[]){3, 3}, (rapt_real[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, false);
    rapt_tensor *columns = rapt_tape_input(t, 2, (size_t[]){3, 3}, (rapt_real[]){1, 4, 7, 2, 5, 8, 3, 6, 9}, false);
    rapt_tensor *weights = rapt_op_masked_softmax(t, scores, NULL), *wrong = rapt_op_masked_softmax(t, columns, NULL);
    if (!show_ready(t, set))
        return;
    rapt_real back[9]; /* of the transposed scores, transposed again: by columns */
    for (size_t i = 0; i < 9; i++)
        back[i] = wrong->data[i % 3 * 3 + i / 3];
    show_tensor("scores", scores);
    printf("softmax(dim=-1):\n");
    show_frame(3, 3, weights->data, words, words);
    const double sum = exp(1) + exp(2) + exp(3);
    show_check("each row is e, e^2, e^3 divided by their sum",
               show_difference(9, weights->data, (rapt_real[]){
                   (rapt_real)(exp(1) / sum), (rapt_real)(exp(2) / sum), (rapt_real)(exp(3) / sum),
                   (rapt_real)(exp(1) / sum), (rapt_real)(exp(2) / sum), (rapt_real)(exp(3) / sum),
                   (rapt_real)(exp(1) / sum), (rapt_real)(exp(2) / sum), (rapt_real)(exp(3) / sum)}) < 1e-6);
    printf("softmax(dim=0), which is wrong here:\n");
    show_frame(3, 3, back, words, words);
    show_check("the row of \"I\" sums to 0.007", fabs((double)(back[0] + back[1] + back[2]) - 0.0071) < 1e-4);
}

/* [seq_len, heads, d_k] and [heads, seq_len, d_k]: three positions, two heads, one feature; 12 is of head 1, position 2. */
static void heads(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, (rapt_real[]){11, 21, 12, 22, 13, 23}, false);
    rapt_tensor *before = rapt_op_reshape(t, x, 4, (size_t[]){1, 3, 2, 1}, NULL);
    rapt_tensor *after = rapt_op_split_heads(t, x, 2), *joined = rapt_op_concat_heads(t, after);
    if (!show_ready(t, set))
        return;
    show_shape("view(batch_size, -1, heads, d_k)", before);
    show_row("its numbers in memory", 6, before->data, "  %.0f");
    show_shape("transpose(1, 2)", after);
    show_row("its numbers in memory", 6, after->data, "  %.0f");
    show_check("all positions of head 1, then those of head 2",
               show_difference(6, after->data, (rapt_real[]){11, 12, 13, 21, 22, 23}) == 0);
    show_check("concatenated again, they are what they were", show_difference(6, joined->data, x->data) == 0);
}

/* The module of the tutorial: q_linear, k_linear, v_linear and out with biases. */
static rapt_multi_head_attention new_attention(rapt_params *set, const char *prefix, double dropout)
{
    rapt_multi_head_attention m;
    rapt_attention_options options = {.hidden = FEATURES, .heads = HEADS, .bias = true, .dropout = dropout,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m, set, prefix, &options);
    return m;
}

static double row_sum(const rapt_real *weights)
{
    double sum = 0;
    for (size_t j = 0; j < TIME; j++)
        sum += (double)weights[j];
    return sum;
}

/* The tutorial's main(): three random tensors and a mask of ones. */
static const rapt_tensor *attend(rapt_tape *t, rapt_params *set, rapt_tensor **q, rapt_tensor **output)
{
    rapt_multi_head_attention m = new_attention(set, "multi_head_attn.", 0.1);
    *q = randn(set, "q", BATCH, TIME, FEATURES);
    rapt_tensor *k = randn(set, "k", BATCH, TIME, FEATURES), *v = randn(set, "v", BATCH, TIME, FEATURES);
    rapt_mask ones = {.keep = (uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}; /* [batch, 1, seq_len] */
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    *output = rapt_multi_head_attention_forward(t, &m, *q, k, v, &ones);
    return rapt_tape_attention(t, "multi_head_attn");
}

static void attention(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *q, *output;
    const rapt_tensor *weights = attend(t, set, &q, &output);
    if (!show_ready(t, set))
        return;
    show_shape("input Q", q);
    show_shape("output", output);
    show_shape("attention weights", weights);
    printf("sum of the weights of head 0, position 0: %.4f\n", row_sum(weights->data));
    show_check("the output has the shape of the input", rapt_tensor_same_shape(output, q));
    show_check("the weights sum to 1: this is not a pass in training mode", fabs(row_sum(weights->data) - 1) < 1e-6);
}

/* In training mode the weights that are returned, those after dropout, do not sum to 1. */
static void training_mode(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m = new_attention(set, "training.", 0.1);
    rapt_tensor *x = randn(set, "training.x", BATCH, TIME, FEATURES), *weights[2];
    rapt_real kept[BATCH * HEADS * TIME * TIME];
    for (int i = 0; i < 2; i++) { /* the same seed and step twice: the same draws */
        rapt_tape_capture_attention(t, i ? RAPT_CAPTURE_AFTER_DROPOUT : RAPT_CAPTURE_BEFORE_DROPOUT);
        rapt_tape_begin(t, (rapt_pass){.training = true, .seed = 1});
        rapt_multi_head_attention_forward(t, &m, x, x, x, NULL);
        weights[i] = rapt_tape_attention(t, "training");
        if (!show_ready(t, set))
            return;
        rapt_real sums[TIME];
        for (size_t row = 0; row < TIME; row++)
            sums[row] = (rapt_real)row_sum(weights[i]->data + row * TIME);
        show_row(i ? "row sums of head 0 after dropout" : "row sums of head 0 before dropout", TIME, sums, "  %.4f");
        if (i == 0)
            memcpy(kept, weights[0]->data, sizeof kept);
    }
    size_t zeros = 0, count = BATCH * HEADS * TIME * TIME;
    bool scaled = true;
    for (size_t i = 0; i < count; i++) {
        double w = (double)weights[1]->data[i];
        zeros += w == 0;
        scaled = scaled && (w == 0 || fabs(w - (double)kept[i] / 0.9) < 1e-6);
    }
    printf("weights that became 0: %zu of %zu\n", zeros, count);
    show_check("the others were multiplied by 1 / (1 - 0.1)", scaled);
    show_check("a tenth of them, more or less", zeros > count / 20 && zeros < count / 5);
}

/* Which keys a query may attend to: the same for all queries of a sentence, and for each query its own. */
static void masks(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m = new_attention(set, "masks.", 0);
    rapt_tensor *x = randn(set, "masks.x", BATCH, TIME, FEATURES);
    uint8_t padding[BATCH * TIME] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, lower[BATCH * TIME * TIME], none[BATCH * TIME] = {0};
    for (size_t i = 0; i < sizeof lower; i++)
        lower[i] = i % TIME <= i / TIME % TIME;
    const rapt_mask mask[3] = {{.keep = padding}, {.keep = lower, .keep_per_query = true}, {.keep = none}};
    static const char *const shape[3] = {"[2, 1, 5]: the last two keys of sentence 1 are padding",
                                         "[2, 5, 5]: a lower triangle", "[2, 1, 5]: no key at all"};
    for (int i = 0; i < 3; i++) {
        rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_multi_head_attention_forward(t, &m, x, x, x, &mask[i]);
        const rapt_tensor *weights = rapt_tape_attention(t, "masks");
        if (!show_ready(t, set))
            return;
        const size_t first = HEADS * TIME * TIME;
        printf("mask %s\n", shape[i]);
        show_tensor("weights[1, 0]", &(rapt_tensor){.data = weights->data + first, .ndim = 2, .shape = {TIME, TIME}});
        bool hidden = true;
        for (size_t n = 0; n < TIME * TIME; n++)
            hidden = hidden && ((i == 0 && n % TIME < 3) || (i == 1 && n % TIME <= n / TIME) || weights->data[first + n] == 0);
        show_check("what the mask hides is exactly 0", hidden);
    }
}

static void map(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *q, *output;
    const rapt_tensor *weights = attend(t, set, &q, &output);
    if (show_ready(t, set))
        show_table(TIME, TIME, weights->data, NULL, NULL);
}

/* ---- 2.3 feed-forward network ------------------------------------------------------------------------------------ */

static void ffn(rapt_tape *t, rapt_params *set)
{
    rapt_ffn m;
    rapt_ffn_init(&m, set, "ffn.", FEATURES, 4 * FEATURES, FEATURES, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
    rapt_tensor *x = randn(set, "ffn.x", BATCH, TIME, FEATURES), *y = rapt_ffn_forward(t, &m, x);
    if (!show_ready(t, set))
        return;
    show_shape("X", x);
    show_shape("W_1", &m.dense1.weight->value);
    show_shape("W_2", &m.dense2.weight->value);
    show_shape("dense2(relu(dense1(X)))", y);
    double largest = 0;
    for (size_t row = 0; row < BATCH * TIME; row++) { /* max(0, x W_1 + b_1) W_2 + b_2, in double */
        double hidden[4 * FEATURES];
        for (size_t j = 0; j < 4 * FEATURES; j++)
            hidden[j] = fmax(0, dot(FEATURES, x->data + row * FEATURES, m.dense1.weight->value.data + j * FEATURES) +
                                    (double)m.dense1.bias->value.data[j]);
        for (size_t j = 0; j < FEATURES; j++) {
            double sum = (double)m.dense2.bias->value.data[j];
            for (size_t k = 0; k < 4 * FEATURES; k++)
                sum += hidden[k] * (double)m.dense2.weight->value.data[j * 4 * FEATURES + k];
            largest = fmax(largest, fabs(sum - (double)y->data[row * FEATURES + j]));
        }
    }
    show_check("max(0, x W_1 + b_1) W_2 + b_2, computed by hand in double", largest < 1e-5);
}

int main(int argc, char **argv)
{
    static const section list[] = {
        {"div_term", div_term}, {"last_pair", last_pair}, {"broadcasting", broadcasting}, {"apple", apple},
        {"buffer", buffer}, {"scaling", scaling},
        {"positional_encoding", positional_encoding}, {"softmax", softmax}, {"heads", heads}, {"attention", attention},
        {"training_mode", training_mode}, {"masks", masks}, {"ffn", ffn}};
    return sections_run(argc, argv, list, sizeof list / sizeof *list, map);
}
