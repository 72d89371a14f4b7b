/* tests/nn/test_block.c: the description of a block: the book's constructor arguments, each in its place, and what a whole model
 * takes of them. Sizes and shapes are from the book's classes (Zhang et al., "Dive into Deep Learning", 11.7) in PyTorch. For
 * src/nn/block.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"

static void check_shape(const rapt_params *set, const char *name, const char *want)
{
    char got[96];
    const rapt_param *p = rapt_params_find(set, name);
    if (!p)
        fail_msg("there is no %s", name);
    if (strcmp(rapt_shape_text(&p->value, got, sizeof got), want) != 0)
        fail_msg("%s is %s, not %s", name, got, want);
}

/* x [2, time, d] of random numbers. */
static rapt_tensor *random_input(rapt_tape *t, size_t time, size_t d)
{
    rapt_tensor *x = rapt_tape_tensor(t, 3, (size_t[]){2, time, d}, false);
    for (size_t i = 0; i < 2 * time * d; i++)
        x->data[i] = (rapt_real)rng_normal(8, i);
    return x;
}

/* EncoderBlock(key_size=20, query_size=24, value_size=28, num_hiddens=32, norm_shape=[5, 32], ffn_num_input=18,
 * ffn_num_hiddens=48, num_heads=4, dropout=0, use_bias=True): an nn.Linear(in, out) has a weight [out, in]. */
static const rapt_block_config of_the_book = {
    .key = 20, .query = 24, .value = 28, .d_model = 32, .norm_ndim = 2, .norm_shape = {5, 32}, .ffn_input = 18, .ffn = 48,
    .heads = 4, .bias = true};

static void sizes_of_an_encoder_block(void **state)
{
    (void)state;
    rapt_encoder_block m;
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_encoder_block_init(&m, set, "b.", &of_the_book);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    check_shape(set, "b.attention.k.weight", "[32, 20]");
    check_shape(set, "b.attention.q.weight", "[32, 24]");
    check_shape(set, "b.attention.v.weight", "[32, 28]");
    check_shape(set, "b.attention.o.weight", "[32, 32]");
    check_shape(set, "b.attention.o.bias", "[32]");
    check_shape(set, "b.norm1.weight", "[5, 32]");
    check_shape(set, "b.norm2.bias", "[5, 32]");
    check_shape(set, "b.ffn.dense1.weight", "[48, 18]");
    check_shape(set, "b.ffn.dense2.weight", "[32, 48]");
    assert_int_equal(rapt_params_count(set), 8 + 4 + 4);
    rapt_params_free(set);
}

/* The book's DecoderBlock gives both attentions the same sizes. */
static void sizes_of_a_decoder_block(void **state)
{
    (void)state;
    rapt_decoder_block m;
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_decoder_block_init(&m, set, "b.", &of_the_book);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    check_shape(set, "b.self_attention.k.weight", "[32, 20]");
    check_shape(set, "b.cross_attention.v.weight", "[32, 28]");
    check_shape(set, "b.norm3.weight", "[5, 32]");
    check_shape(set, "b.ffn.dense1.weight", "[48, 18]");
    assert_int_equal(rapt_params_count(set), 16 + 6 + 4);
    rapt_params_free(set);
}

/* A block of a language model whose memory was in use before: what no option sets is at its default. */
static void blocks_of_used_memory(void **state)
{
    const rapt_block_config c = {.d_model = 8, .heads = 2, .ffn = 16};
    rapt_lm_block m;
    rapt_params *set = rapt_params_new(1, NULL);
    (void)state;
    memset(&m, 1, sizeof m);
    rapt_lm_block_init(&m, set, "", &c);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    assert_false(m.parallel);
    assert_null(m.attention.rotary);
    assert_int_equal(m.attention.window, 0);
    assert_null(m.attention.q.lora);
    rapt_params_free(set);
}

/* As in PyTorch, a block of sizes that do not fit is made, and fails when it runs. */
static void misfits_fail_where_they_run(void **state)
{
    static const struct {
        rapt_block_config c;
        const char *says;
    } cases[] = {
        {{.d_model = 24, .heads = 2, .ffn = 5, .query = 20}, "b.attention.q.weight"},
        {{.d_model = 24, .heads = 2, .ffn = 5, .key = 20}, "b.attention.k.weight"},
        {{.d_model = 24, .heads = 2, .ffn = 5, .value = 20}, "b.attention.v.weight"},
        {{.d_model = 24, .heads = 2, .ffn = 5, .ffn_input = 20}, "b.ffn.dense1.weight"},
        {{.d_model = 24, .heads = 2, .ffn = 5, .norm_ndim = 2, .norm_shape = {4, 24}}, "b.norm1.weight"},
    };
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_encoder_block m;
        rapt_params *set = rapt_params_new(1, NULL);
        rapt_encoder_block_init(&m, set, "b.", &cases[i].c);
        assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_encoder_block_forward(t, &m, random_input(t, 3, 24), NULL);
        assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_SHAPE);
        if (!strstr(rapt_tape_error(t)->message, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", rapt_tape_error(t)->message, cases[i].says);
        rapt_params_free(set);
    }
    rapt_tape_free(t);
}

/* EncoderBlock(24, 24, 24, 24, [100, 24], 24, 48, 8, 0.5) of [2, 100, 24] gives [2, 100, 24]. With weights of zero, each
 * sublayer adds nothing, and what comes out is the input normalized over 100 * 24 numbers at once. */
static void norms_over_two_dimensions(void **state)
{
    (void)state;
    const rapt_block_config c = {.key = 24, .query = 24, .value = 24, .d_model = 24, .norm_ndim = 2, .norm_shape = {100, 24},
                                 .ffn_input = 24, .ffn = 48, .heads = 8, .dropout = 0.5, .init = RAPT_WEIGHT_INIT_ZEROS};
    rapt_encoder_block m;
    char shape[96];
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_tape *t = model_tape(NULL, 2);
    rapt_encoder_block_init(&m, set, "", &c);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = random_input(t, 100, 24);
    for (size_t i = 0; i < 2400; i++)
        x->data[i] = 3 * x->data[i] + (rapt_real)(i / 24) / 10; /* mean and variance of a row differ from the mean and variance of
                                                                   all */
    rapt_tensor *y = rapt_encoder_block_forward(t, &m, x, (int32_t[]){3, 2});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    assert_string_equal(rapt_shape_text(y, shape, sizeof shape), "[2, 100, 24]");
    for (size_t b = 0; b < 2; b++) {
        double mean = 0, variance = 0;
        const rapt_real *row = x->data + b * 2400;
        for (size_t i = 0; i < 2400; i++)
            mean += (double)row[i] / 2400;
        for (size_t i = 0; i < 2400; i++)
            variance += ((double)row[i] - mean) * ((double)row[i] - mean) / 2400;
        for (size_t i = 0; i < 2400; i++) {
            double want = ((double)row[i] - mean) / sqrt(variance + 1e-5);
            assert_true(fabs((double)y->data[b * 2400 + i] - want) < 3e-5); /* the second norm's eps is 1e-5 of it */
        }
    }
    rapt_tape_free(t);
    rapt_params_free(set);
}

/* ---- whole models ------------------------------------------------------------------------------------------- */

static void refuse(rapt_block_config block, const char *says)
{
    rapt_transformer_config pair = {.source_vocab = 5, .target_vocab = 6, .layers = 1, .max_positions = 8, .block = block};
    rapt_lm_config lm = {.vocab = 5, .layers = 1, .context = 8, .block = block};
    rapt_error err = {0}, lm_err = {0};
    assert_null(rapt_transformer_new(&pair, 1, &err));
    assert_null(rapt_lm_new(&lm, 1, &lm_err));
    assert_int_equal(err.code, RAPT_ERR_SHAPE);
    assert_int_equal(lm_err.code, RAPT_ERR_SHAPE);
    if (!strstr(err.message, says) || !strstr(lm_err.message, says))
        fail_msg("\"%s\", \"%s\" do not say \"%s\"", err.message, lm_err.message, says);
}

static void models_take_one_width(void **state)
{
    const rapt_block_config good = {.d_model = 8, .heads = 2, .ffn = 5, .query = 8, .key = 8, .value = 8, .ffn_input = 8,
                                    .norm_ndim = 1, .norm_shape = {8}};
    rapt_transformer_config pair = {.source_vocab = 5, .target_vocab = 6, .layers = 1, .max_positions = 8, .block = good};
    rapt_block_config bad = good;
    rapt_error err = {0};
    (void)state;
    rapt_transformer *m = rapt_transformer_new(&pair, 1, &err);
    assert_non_null(m);
    rapt_transformer_free(m);
    bad.key = 7;
    refuse(bad, "keys of 7");
    bad = good, bad.ffn_input = 9;
    refuse(bad, "9 features");
    bad = good, bad.norm_ndim = 2, bad.norm_shape[0] = 4, bad.norm_shape[1] = 8;
    refuse(bad, "norms over 2 dimensions, the first of 4");
    bad = good, bad.norm_shape[0] = 4;
    refuse(bad, "norms over 1 dimensions, the first of 4");
    bad = good, bad.heads = 3;
    refuse(bad, "3 heads do not divide d_model, 8");
    bad = good, bad.kv_heads = 3;
    refuse(bad, "3 key-value heads do not divide 2 heads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_an_encoder_block),   cmocka_unit_test(sizes_of_a_decoder_block),
        cmocka_unit_test(blocks_of_used_memory),
        cmocka_unit_test(misfits_fail_where_they_run), cmocka_unit_test(norms_over_two_dimensions),
        cmocka_unit_test(models_take_one_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
