/* examples/08_concat_projection.c: chapter 8 of docs/book: the outputs of the heads are concatenated and go
 * through one more linear layer, which mixes them; with it attention is complete.
 * Usage: 08_concat_projection [--table | --table=weights] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADS = 16, SALES_HEADS = 4 };

/* What the heads of chapter 7 give [batch, head, time, d], side by side, and projected [batch, time, features]. */
typedef struct result {
    rapt_tensor *heads, *concat, *projected;
} result;

static void init(rapt_multi_head_attention *m, rapt_params *set, const char *prefix, size_t d, size_t heads)
{
    rapt_multi_head_attention_init(m, set, prefix,
                                   &(rapt_attention_options){.hidden = d, .heads = heads, .bias = true,
                                                             .init = RAPT_WEIGHT_INIT_PYTORCH});
}

static result attend(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, const rapt_mask *mask)
{
    result r;
    rapt_tensor *q = rapt_op_split_heads(t, rapt_linear_forward(t, &m->q, x), m->heads);
    rapt_tensor *k = rapt_op_split_heads(t, rapt_linear_forward(t, &m->k, x), m->heads);
    rapt_tensor *v = rapt_op_split_heads(t, rapt_linear_forward(t, &m->v, x), m->heads);
    rapt_tensor *scores = rapt_op_scale(t, rapt_op_matmul(t, q, k, true), 1 / sqrt((double)rapt_tensor_features(q)));
    r.heads = rapt_op_matmul(t, rapt_op_masked_softmax(t, scores, mask), v, false);
    r.concat = rapt_op_concat_heads(t, r.heads);
    r.projected = rapt_linear_forward(t, &m->o, r.concat);
    return r;
}

static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_linear o;
    rapt_linear_init(&o, set, "paper.o.", 4, 2, &(rapt_linear_options){.init = RAPT_WEIGHT_INIT_ZEROS});
    rapt_tensor *heads = rapt_tape_input(t, 4, (size_t[]){1, 2, 2, 2}, (rapt_real[]){1, 2, 5, 6, 3, 4, 7, 8}, false);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    memcpy(o.weight->value.data, (rapt_real[]){1, 0, 1, 0, 0, 1, 0, -1}, 8 * sizeof(rapt_real));
    memcpy(o.bias->value.data, (rapt_real[]){0, 10}, 2 * sizeof(rapt_real));
    rapt_tensor *concat = rapt_op_concat_heads(t, heads), *projected = rapt_linear_forward(t, &o, concat);
    if (!show_ready(t, set))
        return;
    show_tensor("heads [batch, head, time, feature]", heads);
    show_tensor("side by side [batch, time, feature]", concat);
    show_tensor("projected", projected);
    show_check("as on paper: 4 8 and 12 8", show_difference(4, projected->data, (rapt_real[]){4, 8, 12, 8}) == 0);
}

/* The example backwards, for a gradient of the output of 1 0 and 1 2. */
static void backward(rapt_tape *t, rapt_params *set)
{
    rapt_linear o;
    rapt_linear_init(&o, set, "back.o.", 4, 2, &(rapt_linear_options){.init = RAPT_WEIGHT_INIT_ZEROS});
    if (!show_ready(t, set))
        return;
    memcpy(o.weight->value.data, (rapt_real[]){1, 0, 1, 0, 0, 1, 0, -1}, 8 * sizeof(rapt_real));
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *heads = rapt_tape_input(t, 4, (size_t[]){1, 2, 2, 2}, (rapt_real[]){1, 2, 5, 6, 3, 4, 7, 8}, true);
    rapt_tensor *projected = rapt_linear_forward(t, &o, rapt_op_concat_heads(t, heads));
    rapt_backward(t, rapt_op_weighted_sum(t, projected, (rapt_real[]){1, 0, 1, 2}), NULL);
    if (!show_ready(t, set))
        return;
    printf("\n-- backwards --\n");
    const rapt_tensor *w = &o.weight->value, *b = &o.bias->value;
    show_tensor("gradient of W_o", &(rapt_tensor){.data = w->grad, .ndim = 2, .shape = {2, 4}});
    show_tensor("gradient of the bias", &(rapt_tensor){.data = b->grad, .ndim = 1, .shape = {2}});
    show_tensor("gradient of the heads", &(rapt_tensor){.data = heads->grad, .ndim = 4, .shape = {1, 2, 2, 2}});
    show_check("as on paper", show_difference(8, w->grad, (rapt_real[]){6, 8, 10, 12, 10, 12, 14, 16}) == 0 &&
                                  show_difference(2, b->grad, (rapt_real[]){2, 2}) == 0 &&
                                  show_difference(8, heads->grad, (rapt_real[]){1, 0, 1, 2, 1, 0, 1, -2}) == 0);
    rapt_tape_begin(t, (rapt_pass){0});
}

/* concat[b][i][h d + j] is heads[b][h][i][j]. */
static bool side_by_side(const rapt_tensor *heads, const rapt_tensor *concat)
{
    size_t h = heads->shape[1], time = heads->shape[2], d = heads->shape[3];
    bool equal = true;
    for (size_t row = 0; row < rapt_tensor_rows(heads); row++) {
        size_t b = row / (h * time), head = row / time % h, i = row % time;
        const rapt_real *place = concat->data + ((b * time + i) * h + head) * d;
        equal = equal && memcmp(place, heads->data + row * d, d * sizeof *place) == 0;
    }
    return equal;
}

static void usual_batch(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m;
    rapt_tensor *x = input_batch(t, set);
    init(&m, set, "attention.", 512, HEADS);
    result r = attend(t, &m, x, NULL);
    rapt_tensor *whole = rapt_multi_head_attention_forward(t, &m, x, x, x, NULL);
    printf("\n-- a batch of the usual size --\n");
    if (!show_ready(t, set))
        return;
    show_shape("output of the heads", r.heads);
    show_shape("side by side", r.concat);
    show_shape("W_o", &m.o.weight->value);
    show_shape("projected", r.projected);
    show_corner("projected", r.projected);
    show_check("the features of a position are those of its heads, in order", side_by_side(r.heads, r.concat));
    show_check("to read the same numbers in another shape, [32, 50, 512], would mix positions up",
               memcmp(r.heads->data, r.concat->data, 512 * sizeof(rapt_real)) != 0);
    show_check("rapt_multi_head_attention_forward gives the same",
               show_difference(rapt_tensor_size(whole), whole->data, r.projected->data) < 1e-5);
}

static result sales_attention(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m;
    init(&m, set, "sales.attention.", SALES_FEATURES, SALES_HEADS);
    return attend(t, &m, input_sales(t, set), &(rapt_mask){.causal = true});
}

static void sales_textbook(rapt_tape *t, rapt_params *set)
{
    result r = sales_attention(t, set);
    printf("\n-- four windows of the sales textbook --\n");
    if (!show_ready(t, set))
        return;
    show_shape("output of the heads", r.heads);
    show_shape("side by side", r.concat);
    show_shape("projected", r.projected);
    show_check("the features of a position are those of its heads, in order", side_by_side(r.heads, r.concat));
}

/* Two sentences of 5 tokens: queries, keys and values from different tensors, and a mask that keeps every key. Returns the output
 * of the layer, and sets *input to its queries. */
static rapt_tensor *pair_attention(rapt_tape *t, rapt_params *set, rapt_tensor **input)
{
    rapt_multi_head_attention m;
    rapt_init normal = {RAPT_INIT_NORMAL, 1};
    size_t shape[] = {2, 5, 16};
    rapt_param *q = rapt_params_add(set, "pair.q", 3, shape, normal);
    rapt_param *k = rapt_params_add(set, "pair.k", 3, shape, normal);
    rapt_param *v = rapt_params_add(set, "pair.v", 3, shape, normal);
    init(&m, set, "pair.attention.", 16, 4);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_mask every = {.keep = (uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    *input = &q->value;
    return rapt_multi_head_attention_forward(t, &m, &q->value, &k->value, &v->value, &every);
}

static void whole_layer(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *q, *y = pair_attention(t, set, &q);
    printf("\n-- the whole layer, on two sentences --\n");
    if (!show_ready(t, set))
        return;
    const rapt_tensor *weights = rapt_tape_attention(t, "pair.attention");
    double sum = 0;
    for (size_t j = 0; j < 5; j++)
        sum += (double)weights->data[j];
    show_shape("input Q", q);
    show_mask(weights->shape[0], weights->shape[3]);
    show_shape("output", y);
    show_shape("attention weights", weights);
    printf("sum of the weights of head 0, position 0: %.4f\n", sum);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(y, q));
    show_check("the weights sum to 1", fabs(sum - 1) < 1e-6);
}

/* The weights of head 0 of that layer, in the first sentence: 5 queries, 5 keys. */
static void weights(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *q;
    pair_attention(t, set, &q);
    if (show_ready(t, set))
        show_table(5, 5, rapt_tape_attention(t, "pair.attention")->data, NULL, NULL);
}

static void picture(rapt_tape *t, rapt_params *set)
{
    result r = sales_attention(t, set);
    if (show_ready(t, set))
        show_table(SALES_TIME, SALES_FEATURES, r.concat->data, input_sales_words, NULL);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    on_paper(t, set);
    backward(t, set);
    sales_textbook(t, set);
    usual_batch(t, set);
    whole_layer(t, set);
}

int main(int argc, char **argv)
{
    const bool wants_weights = argc == 2 && strcmp(argv[1], "--table=weights") == 0;
    if (wants_weights)
        argv[1] = "--table";
    return show_run(argc, argv, chapter, wants_weights ? weights : picture);
}
