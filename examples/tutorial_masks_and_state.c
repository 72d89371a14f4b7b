/* examples/tutorial_masks_and_state.c: the code of docs/tutorials/masks-and-state.md, section by section: dot-product attention,
 * masked softmax, several heads, positions, embeddings, and what a decoder keeps between two words.
 * Usage: tutorial_masks_and_state [--table | SECTION] */
#include "sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rapt_tensor *randn(rapt_params *set, const char *name, size_t batch, size_t time, size_t d)
{
    return &rapt_params_add(set, name, 3, (size_t[]){batch, time, d}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* Ten equal keys, values 0 ... 39 in rows of four, of which the first 2 and the first 6 count. */
static void dot_product_attention(rapt_tape *t, rapt_params *set)
{
    rapt_real numbers[2 * 10 * 4], ones[2 * 10 * 2];
    for (size_t i = 0; i < 80; i++)
        numbers[i] = (rapt_real)(i % 40);
    for (size_t i = 0; i < 40; i++)
        ones[i] = 1;
    rapt_tensor *queries = randn(set, "queries", 2, 1, 2), *weights;
    rapt_tensor *keys = rapt_tape_input(t, 3, (size_t[]){2, 10, 2}, ones, false);
    rapt_tensor *values = rapt_tape_input(t, 3, (size_t[]){2, 10, 4}, numbers, false);
    rapt_mask mask = {.valid_lens = (int32_t[]){2, 6}};
    const rapt_op_attention_options options = {.heads = 1, .mask = &mask, .dropout = 0.5,
                                               .capture = RAPT_CAPTURE_BEFORE_DROPOUT, .weights = &weights};
    rapt_tensor *y = rapt_op_attention(t, queries, keys, values, &options);
    if (!show_ready(t, set))
        return;
    show_shape("queries", queries);
    show_shape("keys", keys);
    show_shape("values", values);
    show_tensor("output", y);
    show_tensor("attention_weights", weights);
    show_check("equal keys, equal weights: the means of the first 2 rows of values and of the first 6",
               show_difference(8, y->data, (rapt_real[]){2, 3, 4, 5, 10, 11, 12, 13}) < 1e-5);
}

/* Scores of 0: each key that counts gets an equal share. */
static bool are_shares(const rapt_tensor *weights, const int32_t *lens)
{
    bool equal = true;
    for (size_t i = 0; i < rapt_tensor_size(weights); i++) {
        int32_t n = lens[i / 4];
        equal = equal && fabs((double)weights->data[i] - ((int32_t)(i % 4) < n ? 1.0 / n : 0)) < 1e-6;
    }
    return equal;
}

static void masked_softmax(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *zeros = rapt_tape_input(t, 3, (size_t[]){2, 2, 4}, (rapt_real[16]){0}, false);
    rapt_mask mask_1d = {.valid_lens = (int32_t[]){2, 3}}, mask_2d = {.valid_lens = (int32_t[]){1, 3, 2, 4}, .per_query = true};
    rapt_mask mask_0 = {.valid_lens = (int32_t[]){0, 4}};
    rapt_tensor *all = rapt_op_masked_softmax(t, zeros, NULL), *each = rapt_op_masked_softmax(t, zeros, &mask_1d);
    rapt_tensor *rows = rapt_op_masked_softmax(t, zeros, &mask_2d), *none = rapt_op_masked_softmax(t, zeros, &mask_0);
    if (!show_ready(t, set))
        return;
    show_tensor("valid_lens None", all);
    show_tensor("valid_lens [2, 3]", each);
    show_tensor("valid_lens [[1, 3], [2, 4]]", rows);
    show_tensor("valid_lens [0, 4]", none);
    show_check("None: every key counts", are_shares(all, (int32_t[]){4, 4, 4, 4}));
    show_check("one length for each sentence", are_shares(each, (int32_t[]){2, 2, 3, 3}));
    show_check("one length for each query", are_shares(rows, (int32_t[]){1, 3, 2, 4}));
    rapt_real zero[8] = {0};
    show_check("no key is left: weights of 0, where -1e6 in place of the scores would give 0.25",
               show_difference(8, none->data, zero) == 0);
}

/* valid_lens need not be repeated for the heads: all heads of a sentence have its length. */
static void multi_head_attention(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m, n;
    rapt_attention_options options = {.hidden = 100, .heads = 5, .dropout = 0.5};
    rapt_multi_head_attention_init(&m, set, "attention.", &options);
    rapt_attention_options sizes = {.key = 20, .query = 24, .value = 28, .hidden = 32, .heads = 4, .dropout = 0.5};
    rapt_multi_head_attention_init(&n, set, "sizes.", &sizes);
    rapt_tensor *x = randn(set, "X", 2, 4, 100), *y = randn(set, "Y", 2, 6, 100);
    rapt_mask mask = {.valid_lens = (int32_t[]){3, 2}};
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tensor *output = rapt_multi_head_attention_forward(t, &m, x, y, y, &mask);
    rapt_tensor *other = rapt_multi_head_attention_forward(t, &n, randn(set, "Q", 2, 4, 24), randn(set, "K", 2, 6, 20),
                                                           randn(set, "V", 2, 6, 28), &mask);
    const rapt_tensor *weights = rapt_tape_attention(t, "attention");
    if (!show_ready(t, set))
        return;
    show_shape("X", x);
    show_shape("Y", y);
    show_shape("attention(X, Y, Y, valid_lens)", output);
    show_shape("attention weights", weights);
    bool hidden = true;
    for (size_t i = 0; i < rapt_tensor_size(weights); i++)
        hidden = hidden && (i % 6 < (i / (5 * 4 * 6) ? 2 : 3) || weights->data[i] == 0);
    show_check("in all five heads keys 3 to 5 of sentence 0 and 2 to 5 of sentence 1 have weight 0", hidden);
    show_check("there are no biases", !m.q.bias && !m.k.bias && !m.v.bias && !m.o.bias);
    show_shape("W_k", &n.k.weight->value);
    show_shape("W_q", &n.q.weight->value);
    show_shape("W_v", &n.v.weight->value);
    show_shape("W_o", &n.o.weight->value);
    show_shape("key_size 20, query_size 24, value_size 28, num_hiddens 32", other);
}

/* [batch, n, num_hiddens] to [batch * num_heads, n, num_hiddens / num_heads], and back. */
static void transpose_qkv(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = randn(set, "transpose.X", 2, 4, 100), *heads = rapt_op_split_heads(t, x, 5);
    rapt_tensor *flat = rapt_op_reshape(t, heads, 3, (size_t[]){10, 4, 20}, NULL);
    rapt_tensor *again = rapt_op_reshape(t, flat, 4, (size_t[]){2, 5, 4, 20}, NULL), *back = rapt_op_concat_heads(t, again);
    if (!show_ready(t, set))
        return;
    show_shape("X", x);
    show_shape("after reshape and permute", heads);
    show_shape("transpose_qkv(X, 5)", flat);
    show_shape("transpose_output of it", back);
    bool placed = true;
    for (size_t i = 0; i < rapt_tensor_size(flat); i++) { /* row b * 5 + h, position p, feature j: feature 20 h + j of X[b, p] */
        size_t j = i % 20, p = i / 20 % 4, h = i / 80 % 5, b = i / 400;
        placed = placed && flat->data[i] == x->data[(b * 4 + p) * 100 + h * 20 + j];
    }
    show_check("head h of sentence b is entry 5 b + h, with features 20 h to 20 h + 19", placed);
    show_check("transpose_output undoes transpose_qkv", show_difference(rapt_tensor_size(x), x->data, back->data) == 0);
}

/* ---- positions and embedding ------------------------------------------------------------------------------------- */

/* The sums are x + P, of which dropout keeps about a half and doubles it, in training only. */
static void positional_encoding(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "positions.", 1000, 32, &(rapt_positions_options){.dropout = 0.5});
    rapt_tensor *zeros = &rapt_params_add(set, "zeros", 3, (size_t[]){1, 60, 32}, (rapt_init){0})->value;
    rapt_tensor *x = rapt_positions_forward(t, &m, zeros, 0);
    if (!show_ready(t, set))
        return;
    double largest = 0;
    for (size_t i = 0; i < 1000 * 32; i++) {
        double angle = (double)(i / 32) / pow(10000, (double)(i % 32 - i % 2) / 32);
        largest = fmax(largest, fabs((double)m.table->value.data[i] - (i % 2 ? cos(angle) : sin(angle))));
    }
    show_shape("P", &(rapt_tensor){.ndim = 3, .shape = {1, m.table->value.shape[0], m.table->value.shape[1]}});
    show_shape("X + P[:, :60]", x);
    show_check("sin(X) at 0::2, cos(X) at 1::2, within 1e-6", largest < 1e-6);
    show_check("no dropout outside training", memcmp(x->data, m.table->value.data, 60 * 32 * sizeof *x->data) == 0);
    rapt_tape_begin(t, (rapt_pass){.training = true, .seed = 1});
    x = rapt_positions_forward(t, &m, zeros, 0);
    if (!show_ready(t, set))
        return;
    size_t dropped = 0;
    bool doubled = true;
    for (size_t i = 32; i < 60 * 32; i++) { /* position 0 has zeros of its own */
        dropped += x->data[i] == 0;
        doubled = doubled && (x->data[i] == 0 || x->data[i] == 2 * m.table->value.data[i]);
    }
    printf("in training, p = 0.5: %zu of %d numbers are 0\n", dropped, 59 * 32);
    show_check("about a half; the others are doubled", doubled && dropped > 59 * 32 * 0.45 && dropped < 59 * 32 * 0.55);
}

/* The weights that the tutorial prints. */
static const rapt_real printed_weights[5 * 3] = {1.2475f, 0.2461f,  -0.1228f, 0.5988f,  -2.0277f, -1.4456f, 1.2011f, 0.2131f,
                                                 -0.9624f, 1.2717f, 1.7339f,  1.2558f,  -0.3740f, 2.0479f,  0.6131f};

static void embedding(rapt_tape *t, rapt_params *set)
{
    rapt_embedding m;
    rapt_embedding_init(&m, set, "embedding.", 5, 3, &(rapt_embedding_options){.vectors = printed_weights});
    rapt_tokens x = {(int32_t[]){1, 2, 4, 3, 4, 3, 2, 1}, 2, 4, NULL};
    rapt_tensor *y = rapt_embedding_forward(t, &m, x);
    if (!show_ready(t, set))
        return;
    show_tensor("weight", &m.weight->value);
    show_tensor("output", y);
    bool rows = true;
    for (size_t i = 0; i < 8 * 3; i++)
        rows = rows && y->data[i] == printed_weights[x.ids[i / 3] * 3 + (int)(i % 3)];
    show_check("row x[i] of the weight for each id", rows);
}

/* The ids 5 and 9, which the tutorial's comment has for its vocabulary of 5: an error, in a tape of its own. */
static void out_of_range(rapt_tape *t, rapt_params *set)
{
    rapt_error err = {0};
    rapt_embedding m;
    rapt_embedding_init(&m, set, "out_of_range.", 5, 3, NULL);
    rapt_tape *own = rapt_tape_new(NULL, &err);
    if (own && show_ready(t, set)) {
        rapt_tape_begin(own, (rapt_pass){0});
        rapt_embedding_forward(own, &m, (rapt_tokens){(int32_t[]){1, 2, 4, 5, 4, 3, 2, 9}, 2, 4, NULL});
        rapt_tape_status(own, &err);
    }
    printf("%s\n", err.message);
    show_check("an id has to be below vocab_size", err.code == RAPT_ERR_VALUE);
    rapt_tape_free(own);
}

/* The gradient of the sum of all looked-up rows: how often each was looked up. `one` is a row of ones, a parameter, which needs a
 * gradient where the embedding is frozen. Is it as expected? */
static bool gradients(rapt_tape *t, rapt_params *set, const rapt_embedding *m, rapt_param *one, const char *name,
                      const rapt_real *expected)
{
    rapt_error err = {0};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tokens x = {(int32_t[]){1, 2, 4, 2, 4, 0, 2, 1}, 2, 4, NULL};
    rapt_tensor *sums = rapt_op_linear(t, rapt_embedding_forward(t, m, x), one, NULL, RAPT_ACTIVATION_IDENTITY);
    if (rapt_backward(t, rapt_op_sum(t, sums), &err) != RAPT_OK)
        rapt_tape_fail(t, err.code, "%s", err.message);
    if (!show_ready(t, set))
        return false;
    const rapt_tensor *w = &m->weight->value;
    rapt_real first[5] = {0}; /* a frozen one has no gradient */
    for (size_t i = 0; i < 5 && w->grad_filled; i++)
        first[i] = w->grad[3 * i];
    show_row(name, 5, first, "  %.0f");
    return show_difference(5, first, expected) == 0;
}

static void embedding_options(rapt_tape *t, rapt_params *set)
{
    rapt_embedding plain, padding, freq, norm, frozen;
    rapt_param *one = rapt_params_add(set, "one", 2, (size_t[]){1, 3}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_embedding_init(&plain, set, "plain.", 5, 3, NULL);
    rapt_embedding_init(&padding, set, "padding.", 5, 3,
                        &(rapt_embedding_options){.embed = {.has_padding = true, .padding_idx = 2}});
    rapt_embedding_init(&freq, set, "freq.", 5, 3, &(rapt_embedding_options){.embed = {.scale_grad_by_freq = true}});
    rapt_embedding_options at_most_1 = {.embed = {.max_norm = 1}, .vectors = printed_weights};
    rapt_embedding_init(&norm, set, "norm.", 5, 3, &at_most_1);
    rapt_embedding_options pretrained = {.vectors = printed_weights, .freeze = true};
    rapt_embedding_init(&frozen, set, "frozen.", 5, 3, &pretrained);
    if (!show_ready(t, set))
        return;
    printf("ids 1 2 4 2 / 4 0 2 1; gradient of rows 0 to 4\n");
    bool right = gradients(t, set, &plain, one, "nn.Embedding(5, 3)", (rapt_real[]){1, 2, 3, 0, 2});
    right = gradients(t, set, &padding, one, "padding_idx=2", (rapt_real[]){1, 2, 0, 0, 2}) && right;
    right = gradients(t, set, &freq, one, "scale_grad_by_freq=True", (rapt_real[]){1, 1, 1, 0, 1}) && right;
    right = gradients(t, set, &frozen, one, "from_pretrained(weight), frozen", (rapt_real[]){0, 0, 0, 0, 0}) && right;
    show_check("id 2 occurs three times; padding and what is frozen get no gradient", right);
    show_tensor("padding_idx=2: weight[2]", &(rapt_tensor){.data = padding.weight->value.data + 6, .ndim = 1, .shape = {3}});
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *y = rapt_embedding_forward(t, &norm, (rapt_tokens){(int32_t[]){0, 1, 2, 3, 4}, 1, 5, NULL});
    bool at_most = show_ready(t, set);
    for (size_t i = 0; i < 5 && at_most; i++) {
        const rapt_real *row = y->data + 3 * i;
        at_most = sqrt((double)(row[0] * row[0] + row[1] * row[1] + row[2] * row[2])) < 1 + 1e-5;
    }
    show_check("max_norm=1: no row is longer", at_most);
}

/* self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens)), step by step and as one operation. */
static void scaling(rapt_tape *t, rapt_params *set)
{
    rapt_preprocessor m;
    rapt_preprocessor_init(&m, set, "scaling.", 5, 32, 1000, NULL);
    rapt_tokens ids = {(int32_t[]){1, 2, 4, 3, 4, 3, 2, 1}, 2, 4, NULL};
    rapt_tensor *scaled = rapt_op_scale(t, rapt_embedding_forward(t, &m.embedding, ids), sqrt(32));
    rapt_tensor *steps = rapt_positions_forward(t, &m.positions, scaled, 0), *x = rapt_preprocess(t, &m, ids, 0);
    if (!show_ready(t, set))
        return;
    show_shape("pos_encoding(embedding(X) * sqrt(32))", x);
    show_check("one operation gives what the steps give", show_difference(rapt_tensor_size(x), x->data, steps->data) < 1e-5);
}

/* ---- the decoder's state ------------------------------------------------------------------------------------------- */

enum { BATCH = 2, TIME = 5, FEATURES = 32, HEADS = 4 };

static rapt_decoder_block new_block(rapt_params *set, const char *prefix)
{
    rapt_decoder_block m;
    rapt_block_config c = {.d_model = FEATURES, .heads = HEADS, .ffn = 64, .dropout = 0.1};
    rapt_decoder_block_init(&m, set, prefix, &c);
    return m;
}

/* "Each row is [1, 2, ..., num_steps]". */
static void dec_valid_lens(rapt_tape *t, rapt_params *set)
{
    rapt_decoder_block m = new_block(set, "lens.");
    rapt_tensor *x = randn(set, "lens.X", BATCH, TIME, FEATURES);
    int32_t lens[BATCH * TIME];
    for (int i = 0; i < BATCH * TIME; i++)
        lens[i] = i % TIME + 1;
    rapt_mask by_query = {.valid_lens = lens, .per_query = true}, causal = {.causal = true};
    rapt_tensor *a = rapt_multi_head_attention_forward(t, &m.self_attention, x, x, x, &by_query);
    rapt_tensor *b = rapt_multi_head_attention_forward(t, &m.self_attention, x, x, x, &causal);
    rapt_tensor *none = rapt_multi_head_attention_forward(t, &m.self_attention, x, x, x, NULL);
    if (!show_ready(t, set))
        return;
    show_ids("dec_valid_lens", (rapt_tokens){lens, BATCH, TIME, NULL});
    show_check("they do what .causal = true does, to the bit", show_difference(rapt_tensor_size(a), a->data, b->data) == 0);
    show_check("None, as the tutorial has it in evaluation: another result for a whole row",
               show_difference(rapt_tensor_size(a), a->data, none->data) > 0.01);
    const size_t last = (TIME - 1) * FEATURES;
    show_check("but the same for the last word, which sees all words in any case",
               show_difference(FEATURES, a->data + last, none->data + last) == 0);
}

/* Word i of each sentence [BATCH, 1, FEATURES], and the words up to it [BATCH, i + 1, FEATURES]: what the tutorial has in X and,
 * after torch.cat, in key_values. */
static void words_until(const rapt_tensor *x, size_t i, rapt_real *word, rapt_real *so_far)
{
    const size_t row = FEATURES * sizeof *word;
    for (size_t b = 0; b < BATCH; b++) {
        memcpy(word + b * FEATURES, x->data + (b * TIME + i) * FEATURES, row);
        memcpy(so_far + b * (i + 1) * FEATURES, x->data + b * TIME * FEATURES, (i + 1) * row);
    }
}

/* One word after the other: the tutorial keeps the inputs X and projects all of them at each step; rapt keeps their keys and
 * values. */
static void state(rapt_tape *t, rapt_params *set)
{
    rapt_decoder_block m = new_block(set, "state.");
    rapt_tensor *x = randn(set, "state.X", BATCH, TIME, FEATURES);
    rapt_param *k = rapt_params_add(set, "state.k", 3, (size_t[]){BATCH, TIME, FEATURES}, (rapt_init){0});
    rapt_param *v = rapt_params_add(set, "state.v", 3, (size_t[]){BATCH, TIME, FEATURES}, (rapt_init){0});
    if (!show_ready(t, set))
        return;
    rapt_kv cache = {.k = k->value, .v = v->value};
    const rapt_multi_head_attention *self = &m.self_attention;
    bool same = true;
    for (size_t i = 0; i < TIME; i++) {
        rapt_real word[BATCH * FEATURES], so_far[BATCH * TIME * FEATURES];
        words_until(x, i, word, so_far);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *step = rapt_tape_input(t, 3, (size_t[]){BATCH, 1, FEATURES}, word, false);
        rapt_tensor *key_values = rapt_tape_input(t, 3, (size_t[]){BATCH, i + 1, FEATURES}, so_far, false);
        rapt_tensor *theirs = rapt_multi_head_attention_forward(t, self, step, key_values, key_values, NULL);
        rapt_tensor *ours = rapt_causal_self_attention(t, self, step, &cache, i);
        rapt_tensor *whole = rapt_multi_head_attention_forward(t, self, x, x, x, &(rapt_mask){.causal = true});
        if (!show_ready(t, set))
            return;
        printf("step %zu: ", i);
        show_shape("key_values", key_values);
        same = same && show_difference(BATCH * FEATURES, theirs->data, ours->data) == 0;
        for (size_t b = 0; b < BATCH; b++) {
            const rapt_real *at = whole->data + (b * TIME + i) * FEATURES;
            same = same && show_difference(FEATURES, ours->data + b * FEATURES, at) == 0;
        }
    }
    show_check("inputs concatenated, keys and values cached, or the whole row at once: the same, to the bit", same);
}

static void picture(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *zeros = rapt_tape_input(t, 3, (size_t[]){1, 10, 10}, (rapt_real[100]){0}, false);
    rapt_tensor *weights = rapt_op_masked_softmax(t, zeros, &(rapt_mask){.causal = true});
    if (show_ready(t, set))
        show_table(10, 10, weights->data, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const section list[] = {
        {"dot_product_attention", dot_product_attention}, {"masked_softmax", masked_softmax},
        {"multi_head_attention", multi_head_attention}, {"transpose_qkv", transpose_qkv},
        {"positional_encoding", positional_encoding}, {"embedding", embedding}, {"out_of_range", out_of_range},
        {"embedding_options", embedding_options}, {"scaling", scaling}, {"dec_valid_lens", dec_valid_lens}, {"state", state}};
    return sections_run(argc, argv, list, sizeof list / sizeof *list, picture);
}
