/* tests/golden/test_golden.c: operations and modules against PyTorch: outputs, gradients of inputs and parameters.
 * For definitions: what catches an eps in the wrong place. Training is in test_golden_training.c; exactness of the
 * arithmetic is checked in tests/kernels.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include "rapt/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_linear(void **state)
{
    (void)state;
    golden *g = golden_open("linear");
    while (golden_next(g)) {
        rapt_linear m;
        const size_t *shape = golden_get(g, "param/weight")->shape;
        bool bias = golden_find(g, "param/bias") != NULL;
        rapt_linear_init(&m, g->set, "", shape[1], shape[0],
                         &(rapt_linear_options){.no_bias = !bias, .init = RAPT_WEIGHT_INIT_PYTORCH});
        golden_load(g);
        golden_finish(g, rapt_linear_forward(g->tape, &m, golden_input(g, "x")));
    }
    golden_close(g);
}

static void make_embedding(golden *g, rapt_embedding *m)
{
    bool from_vectors = golden_find(g, "in/vectors") != NULL;
    const size_t *shape = golden_get(g, from_vectors ? "in/vectors" : "param/weight")->shape;
    double padding = golden_number(g, "padding_idx", -1);
    rapt_real *vectors = from_vectors ? golden_reals(g, "in/vectors") : NULL;
    rapt_embedding_options o = {.embed = {.has_padding = padding >= 0, .padding_idx = (int32_t)padding,
                                          .max_norm = golden_number(g, "max_norm", 0),
                                          .norm_type = golden_number(g, "norm_type", 0),
                                          .scale_grad_by_freq = golden_number(g, "scale_grad_by_freq", 0) != 0},
                                .sparse = golden_number(g, "sparse", 0) != 0,
                                .freeze = golden_number(g, "freeze", 0) != 0, .vectors = vectors};
    rapt_embedding_init(m, g->set, "", shape[0], shape[1], &o);
    free(vectors);
    if (!from_vectors)
        golden_load(g);
}

/* Without training, a row that is too long is shortened for the output only. */
static void check_embedding_inference(golden *g)
{
    rapt_embedding m;
    golden_again(g, false);
    make_embedding(g, &m);
    rapt_real before[64];
    size_t n = rapt_tensor_size(&m.weight->value);
    assert_true(n <= 64);
    memcpy(before, m.weight->value.data, n * sizeof *before);
    golden_output(g, "out", rapt_embedding_forward(g->tape, &m, golden_tokens(g, "tokens")));
    assert_memory_equal(before, m.weight->value.data, n * sizeof *before);
}

static void test_embedding(void **state)
{
    (void)state;
    golden *g = golden_open("embedding");
    while (golden_next(g)) {
        rapt_embedding m;
        make_embedding(g, &m);
        rapt_tensor *y = rapt_embedding_forward(g->tape, &m, golden_tokens(g, "tokens"));
        if (m.weight->frozen) {
            golden_output(g, "out", y);
            assert_false(y->requires_grad);
        } else {
            golden_finish(g, y);
        }
        if (golden_find(g, "out/weight")) /* max_norm is written back */
            golden_output(g, "weight", &m.weight->value);
        check_embedding_inference(g);
    }
    golden_close(g);
}

static void test_preprocessor(void **state)
{
    (void)state;
    golden *g = golden_open("preprocessor");
    while (golden_next(g)) {
        rapt_preprocessor m;
        const size_t *table = golden_get(g, "out/table")->shape;
        size_t entries = golden_get(g, "param/embedding.weight")->shape[0];
        bool scale = golden_size(g, "scale") != 0;
        rapt_preprocessor_init(&m, g->set, "", entries, table[1], table[0], &(rapt_preprocessor_options){.no_scale = !scale});
        golden_load(g);
        golden_output(g, "table", &m.positions.table->value);
        golden_finish(g, rapt_preprocess(g->tape, &m, golden_tokens(g, "tokens"), golden_size(g, "first")));
    }
    golden_close(g);
}

static void test_positions(void **state)
{
    (void)state;
    golden *g = golden_open("positions");
    while (golden_next(g)) {
        rapt_positions m;
        rapt_tensor *x = golden_input(g, "x");
        size_t max_len = golden_size(g, "max_len"), d = rapt_tensor_features(x);
        rapt_positions_init(&m, g->set, "", max_len, d, &(rapt_positions_options){.persistent = true});
        double bound = 6e-8; /* a rounding of numbers below 1 */
        golden_compare(g, "first", m.table->value.data, 10 * d, bound);
        golden_compare(g, "last", m.table->value.data + (max_len - 10) * d, 10 * d, bound);
        golden_finish(g, rapt_positions_forward(g->tape, &m, x, golden_size(g, "first")));
    }
    golden_close(g);
}

static void test_layer_norm(void **state)
{
    (void)state;
    golden *g = golden_open("layer_norm");
    while (golden_next(g)) {
        rapt_layer_norm m;
        rapt_tensor *x = golden_input(g, "x");
        const safetensors_entry *weight = golden_find(g, "param/norm.weight");
        if (!weight) {
            golden_finish(g, rapt_op_layer_norm(g->tape, x, NULL, NULL, 1e-5));
            continue;
        }
        rapt_layer_norm_init(&m, g->set, "norm.", weight->ndim, weight->shape, NULL);
        golden_load(g);
        golden_finish(g, rapt_layer_norm_forward(g->tape, &m, x));
    }
    golden_close(g);
}

static void test_relu(void **state)
{
    (void)state;
    golden *g = golden_open("relu");
    while (golden_next(g))
        golden_finish(g, rapt_op_relu(g->tape, golden_input(g, "x")));
    golden_close(g);
}

static void test_add(void **state)
{
    (void)state;
    golden *g = golden_open("add");
    while (golden_next(g))
        golden_finish(g, rapt_op_add(g->tape, golden_input(g, "a"), golden_input(g, "b")));
    golden_close(g);
}

static void test_masked_softmax(void **state)
{
    (void)state;
    golden *g = golden_open("masked_softmax");
    while (golden_next(g)) {
        rapt_mask mask = golden_mask(g);
        golden_finish(g, rapt_op_masked_softmax(g->tape, golden_input(g, "x"), &mask));
    }
    golden_close(g);
}

/* ---- attention -------------------------------------------------------------------------------------------- */

typedef struct attention_inputs {
    rapt_tensor *q, *k, *v;
    size_t heads;
    rapt_mask mask;
} attention_inputs;

static attention_inputs inputs_of(golden *g)
{
    rapt_tensor *q = golden_input(g, "q"), *k = golden_input(g, "k"), *v = golden_input(g, "v");
    return (attention_inputs){q, k, v, golden_size(g, "heads"), golden_mask(g)};
}

static rapt_tensor *attention_steps(rapt_tape *t, const attention_inputs *in)
{
    rapt_tensor *q = rapt_op_split_heads(t, in->q, in->heads), *k = rapt_op_split_heads(t, in->k, in->heads);
    rapt_tensor *v = rapt_op_split_heads(t, in->v, in->heads);
    rapt_tensor *scores = rapt_op_scale(t, rapt_op_matmul(t, q, k, true), 1 / sqrt((double)rapt_tensor_features(q)));
    rapt_tensor *weights = rapt_op_masked_softmax(t, scores, &in->mask);
    return rapt_op_concat_heads(t, rapt_op_matmul(t, weights, v, false));
}

/* The bound of rapt/tape.h. */
static void check_fused_against_steps(golden *g)
{
    golden_again(g, true);
    attention_inputs in = inputs_of(g);
    rapt_tensor *fused = rapt_op_attention(g->tape, in.q, in.k, in.v,
                                           &(rapt_op_attention_options){.heads = in.heads, .mask = &in.mask});
    rapt_tensor *steps = attention_steps(g->tape, &in);
    assert_true(rapt_tensor_same_shape(fused, steps));
    double largest = 0, d = (double)(rapt_tensor_features(in.q) / in.heads), keys = (double)in.k->shape[1];
    for (size_t i = 0; i < rapt_tensor_size(in.v); i++)
        largest = fmax(largest, fabs((double)in.v->data[i]));
    double bound = 8 * (d + keys) * ldexp(1, -24) * largest;
    for (size_t i = 0; i < rapt_tensor_size(fused); i++)
        if (!(fabs((double)fused->data[i] - (double)steps->data[i]) <= bound))
            fail_msg("attention/%s: element %zu: %.9g fused, %.9g in steps, bound %.1e", g->name, i,
                     (double)fused->data[i], (double)steps->data[i], bound);
    golden_finish(g, steps);
}

static void check_attention(golden *g, rapt_attention_capture wish)
{
    golden_again(g, true);
    attention_inputs in = inputs_of(g);
    bool unmasked = !in.mask.valid_lens && !in.mask.causal && !in.mask.keep;
    rapt_tensor *weights = NULL;
    const rapt_op_attention_options options = {.heads = in.heads, .mask = unmasked ? NULL : &in.mask, .capture = wish,
                                               .weights = &weights};
    rapt_tensor *y = rapt_op_attention(g->tape, in.q, in.k, in.v, &options);
    assert_true((weights != NULL) == (wish != RAPT_CAPTURE_NONE));
    if (weights && golden_find(g, "out/weights"))
        golden_output(g, "weights", weights);
    golden_finish(g, y);
}

static void test_attention(void **state)
{
    (void)state;
    golden *g = golden_open("attention");
    while (golden_next(g)) {
        check_attention(g, RAPT_CAPTURE_NONE);
        check_attention(g, RAPT_CAPTURE_BEFORE_DROPOUT);
        check_attention(g, RAPT_CAPTURE_AFTER_DROPOUT);
        check_fused_against_steps(g);
    }
    golden_close(g);
}

typedef rapt_tensor *attention_fn(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q, rapt_tensor *k,
                                  rapt_tensor *v, const rapt_mask *mask);

static void check_multi_head_attention(golden *g, attention_fn *attention)
{
    rapt_multi_head_attention m;
    bool bias = golden_find(g, "param/o.bias") != NULL, self = golden_find(g, "in/x") != NULL;
    rapt_attention_options options = {.query = golden_get(g, "param/q.weight")->shape[1],
                                      .key = golden_get(g, "param/k.weight")->shape[1],
                                      .value = golden_get(g, "param/v.weight")->shape[1],
                                      .hidden = golden_get(g, "param/o.weight")->shape[0],
                                      .heads = golden_size(g, "heads"), .bias = bias};
    golden_again(g, true);
    rapt_multi_head_attention_init(&m, g->set, "", &options);
    golden_load(g);
    rapt_mask mask = golden_mask(g);
    rapt_tensor *q = golden_input(g, self ? "x" : "q"), *k = self ? q : golden_input(g, "k");
    rapt_tensor *y = attention(g->tape, &m, q, k, self ? q : golden_input(g, "v"), &mask);
    assert_non_null(rapt_tape_attention(g->tape, ""));
    golden_output(g, "weights", rapt_tape_attention(g->tape, ""));
    golden_finish(g, y);
}

static void look_away(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

/* Step by step. */
static rapt_tensor *observed_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q, rapt_tensor *k,
                                       rapt_tensor *v, const rapt_mask *mask)
{
    rapt_observe(t, look_away, NULL);
    rapt_tensor *y = rapt_multi_head_attention_forward(t, m, q, k, v, mask);
    rapt_observe(t, NULL, NULL);
    return y;
}

static void test_multi_head_attention(void **state)
{
    (void)state;
    golden *g = golden_open("multi_head_attention");
    rapt_tape_capture_attention(g->tape, RAPT_CAPTURE_BEFORE_DROPOUT);
    while (golden_next(g)) {
        check_multi_head_attention(g, rapt_multi_head_attention_forward);
        check_multi_head_attention(g, observed_attention);
    }
    golden_close(g);
}

/* ---- the rest of a block ---------------------------------------------------------------------------------- */

static void test_ffn(void **state)
{
    (void)state;
    golden *g = golden_open("ffn");
    while (golden_next(g)) {
        rapt_ffn m;
        const size_t *dense1 = golden_get(g, "param/dense1.weight")->shape;
        size_t out = golden_get(g, "param/dense2.weight")->shape[0];
        rapt_ffn_init(&m, g->set, "", dense1[1], dense1[0], out, NULL);
        golden_load(g);
        golden_finish(g, rapt_ffn_forward(g->tape, &m, golden_input(g, "x")));
    }
    golden_close(g);
}

static void test_add_norm(void **state)
{
    (void)state;
    golden *g = golden_open("add_norm");
    while (golden_next(g)) {
        rapt_add_norm m;
        bool pre = golden_size(g, "pre") != 0;
        const safetensors_entry *weight = golden_get(g, "param/norm.weight");
        rapt_add_norm_init(&m, g->set, "norm.", weight->ndim, weight->shape,
                           &(rapt_add_norm_options){.place = pre ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST});
        golden_load(g);
        rapt_tensor *x = golden_input(g, "x"), *h = rapt_add_norm_before(g->tape, &m, x);
        rapt_tensor *y = pre ? rapt_op_relu(g->tape, h) : golden_input(g, "y");
        golden_finish(g, rapt_add_norm_after(g->tape, &m, x, y));
    }
    golden_close(g);
}

static void test_encoder_block(void **state)
{
    (void)state;
    golden *g = golden_open("encoder_block");
    while (golden_next(g)) {
        rapt_encoder_block m;
        rapt_block_config c = golden_block_config(g);
        rapt_encoder_block_init(&m, g->set, "", &c);
        golden_load(g);
        golden_finish(g, rapt_encoder_block_forward(g->tape, &m, golden_input(g, "x"), golden_ints(g, "valid_lens")));
    }
    golden_close(g);
}

static void test_decoder_block(void **state)
{
    (void)state;
    golden *g = golden_open("decoder_block");
    while (golden_next(g)) {
        rapt_decoder_block m;
        rapt_block_config c = golden_block_config(g);
        rapt_decoder_block_init(&m, g->set, "", &c);
        golden_load(g);
        rapt_tensor *x = golden_input(g, "x");
        rapt_decoder_memory memory = {.output = golden_input(g, "memory"), .lens = golden_ints(g, "memory_lens")};
        golden_finish(g, rapt_decoder_block_forward(g->tape, &m, x, &memory, NULL, 0));
    }
    golden_close(g);
}

/* ---- encoder, decoder, both ------------------------------------------------------------------------------- */

static void test_encoder(void **state)
{
    (void)state;
    golden *g = golden_open("encoder");
    while (golden_next(g)) {
        rapt_encoder m;
        rapt_transformer_config c = golden_transformer_config(g);
        rapt_encoder_init(&m, g->set, &c);
        golden_load(g);
        golden_finish(g, rapt_encoder_forward(g->tape, &m, golden_tokens(g, "tokens"), golden_ints(g, "valid_lens")));
    }
    golden_close(g);
}

/* The same logits, token by token with the cache. */
static void check_decoder_steps(golden *g, const rapt_transformer_config *c)
{
    rapt_decoder m;
    rapt_error err = {0};
    golden_again(g, false);
    rapt_decoder_init(&m, g->set, c, NULL);
    golden_load(g);
    rapt_tokens tokens = golden_tokens(g, "tokens");
    const int32_t *lens = golden_ints(g, "valid_lens");
    rapt_decoder_state *s = rapt_decoder_state_new(&err);
    assert_non_null(s);
    rapt_decoder_start(g->tape, &m, s, golden_input(g, "memory"), lens, (rapt_decoder_sizes){.capacity = tokens.time});
    rapt_real *all = calloc(tokens.batch * tokens.time * c->target_vocab, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < tokens.time; i++) {
        int32_t column[8];
        for (size_t b = 0; b < tokens.batch; b++)
            column[b] = tokens.ids[b * tokens.time + i];
        rapt_tape_begin(g->tape, (rapt_pass){0});
        rapt_tensor *y = rapt_decoder_step(g->tape, &m, s, (rapt_tokens){column, tokens.batch, 1});
        assert_int_equal(rapt_tape_error(g->tape)->code, RAPT_OK);
        for (size_t b = 0; b < tokens.batch; b++)
            memcpy(all + (b * tokens.time + i) * c->target_vocab, y->data + b * c->target_vocab,
                   c->target_vocab * sizeof *all);
    }
    golden_compare(g, "out", all, tokens.batch * tokens.time * c->target_vocab, GOLDEN_OUTPUT);
    free(all);
    rapt_decoder_state_free(s);
}

static void test_decoder(void **state)
{
    (void)state;
    golden *g = golden_open("decoder");
    while (golden_next(g)) {
        rapt_decoder m;
        rapt_transformer_config c = golden_transformer_config(g);
        rapt_decoder_init(&m, g->set, &c, NULL);
        golden_load(g);
        rapt_tensor *memory = golden_input(g, "memory");
        const int32_t *lens = golden_ints(g, "valid_lens");
        golden_finish(g, rapt_decoder_forward(g->tape, &m, golden_tokens(g, "tokens"), memory, lens));
        check_decoder_steps(g, &c);
    }
    golden_close(g);
}

/* The case's loss over logits, checked with its parts, and the gradients. */
static void finish_with_loss(golden *g, rapt_tensor *logits)
{
    rapt_tokens labels = golden_tokens(g, "labels");
    rapt_loss_options o = {.label_smoothing = golden_number(g, "label_smoothing", 0),
                           .valid_lens = golden_ints(g, "label_lens"),
                           .normalizer = golden_size(g, "by_steps") ? (double)labels.time : 0};
    rapt_loss_sums parts = {0};
    rapt_tensor *loss = rapt_op_cross_entropy(g->tape, logits, labels, &o, &parts);
    double expected = golden_at(golden_get(g, "out/loss"), 0), nll = golden_at(golden_get(g, "out/nll"), 0);
    assert_int_equal(rapt_tape_error(g->tape)->code, RAPT_OK);
    assert_true(fabs((double)loss->data[0] - expected) <= 1e-6 * expected);
    assert_true(fabs(parts.nll - nll) <= 1e-6 * nll);
    assert_int_equal(parts.tokens, (size_t)golden_at(golden_get(g, "out/tokens"), 0));
    golden_gradients(g, loss);
}

static void test_cross_entropy(void **state)
{
    (void)state;
    golden *g = golden_open("cross_entropy");
    while (golden_next(g))
        finish_with_loss(g, golden_input(g, "logits"));
    golden_close(g);
}

static void check_transformers(const char *file)
{
    golden *g = golden_open(file);
    while (golden_next(g)) {
        rapt_error err = {0};
        rapt_transformer_config c = golden_transformer_config(g);
        rapt_transformer *m = rapt_transformer_new(&c, 1, &err);
        if (!m)
            fail_msg("%s", err.message);
        rapt_params *own = g->set;
        g->set = m->params;
        golden_load(g);
        rapt_tokens source = golden_tokens(g, "source"), target = golden_tokens(g, "target");
        rapt_tensor *logits = rapt_transformer_forward(g->tape, m, source, golden_ints(g, "valid_lens"), target);
        golden_output(g, "out", logits);
        finish_with_loss(g, logits);
        g->set = own;
        rapt_transformer_free(m);
    }
    golden_close(g);
}

static void test_transformer(void **state)
{
    (void)state;
    check_transformers("transformer");
}

/* RMS norm, SwiGLU and GELU, learned and rotary positions, grouped queries. */
static void test_transformer_later(void **state)
{
    (void)state;
    check_transformers("transformer_later");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),         cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_preprocessor),   cmocka_unit_test(test_positions),
        cmocka_unit_test(test_layer_norm),     cmocka_unit_test(test_relu),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_masked_softmax), cmocka_unit_test(test_attention),
        cmocka_unit_test(test_ffn),            cmocka_unit_test(test_multi_head_attention),
        cmocka_unit_test(test_add_norm),       cmocka_unit_test(test_encoder_block),
        cmocka_unit_test(test_decoder_block),  cmocka_unit_test(test_encoder),
        cmocka_unit_test(test_decoder),        cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_transformer),    cmocka_unit_test(test_transformer_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
