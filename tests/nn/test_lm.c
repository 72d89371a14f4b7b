/* tests/nn/test_lm.c: language models: names, shapes and numbers of parameters, initial values, options, refusals. What
 * they compute is in test_lm_training.c and, against PyTorch, in tests/golden; decoding is in test_lm_decoding.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"

/* ---- parameters ------------------------------------------------------------------------------------------- */

static rapt_lm_config preset(const char *name)
{
    rapt_error err = {0};
    rapt_lm_config c;
    if (rapt_lm_preset(name, &c, &err))
        fail_msg("%s", err.message);
    return c;
}

/* "name [shape], ..." of all parameters, in their order. */
static void check_parameters(const rapt_lm_config *config, const char *const *lines, size_t count)
{
    rapt_lm *m = lm_model(config);
    for (size_t i = 0; i < rapt_params_count(m->params) && i < count; i++) {
        char shape[96], line[256];
        const rapt_param *p = rapt_params_at(m->params, i);
        snprintf(line, sizeof line, "%s %s%s", p->value.name, rapt_shape_text(&p->value, shape, sizeof shape),
                 p->buffer ? p->transient ? " unsaved" : " buffer" : "");
        assert_string_equal(line, lines[i]);
    }
    assert_int_equal(rapt_params_count(m->params), count);
    rapt_lm_free(m);
}

#define CHECK_PARAMETERS(config, ...)                                                                     \
    check_parameters(config, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void names_and_shapes(void **state)
{
    (void)state;
    rapt_lm_config c = preset("seed");
    c.vocab = 9;
    CHECK_PARAMETERS(&c, "embedding.weight [9, 64]", "positions.table [16, 64] buffer", "blocks.0.norm1.weight [64]",
                     "blocks.0.norm1.bias [64]", "blocks.0.attention.q.weight [64, 64]", "blocks.0.attention.q.bias [64]",
                     "blocks.0.attention.k.weight [64, 64]", "blocks.0.attention.k.bias [64]",
                     "blocks.0.attention.v.weight [64, 64]", "blocks.0.attention.v.bias [64]",
                     "blocks.0.attention.o.weight [64, 64]", "blocks.0.attention.o.bias [64]",
                     "blocks.0.ffn.dense1.weight [256, 64]", "blocks.0.ffn.dense1.bias [256]",
                     "blocks.0.ffn.dense2.weight [64, 256]", "blocks.0.ffn.dense2.bias [64]", "output.weight [9, 64]",
                     "output.bias [9]");
    c = (rapt_lm_config){.vocab = 9, .layers = 1, .context = 5, .positions = RAPT_POSITIONS_ROTARY,
                         .block = {.d_model = 12, .heads = 6, .kv_heads = 2, .ffn = 20, .norm_place = RAPT_NORM_PLACE_PRE,
                                   .norm_kind = RAPT_NORM_KIND_RMS, .ffn_kind = RAPT_FFN_SWIGLU,
                                   .init = RAPT_WEIGHT_INIT_PYTORCH, .no_ffn_bias = true, .no_norm_bias = true}};
    CHECK_PARAMETERS(&c, "embedding.weight [9, 12]", "rotary.table [5, 2] unsaved", "blocks.0.norm1.weight [12]",
                     "blocks.0.attention.q.weight [12, 12]", "blocks.0.attention.k.weight [4, 12]",
                     "blocks.0.attention.v.weight [4, 12]", "blocks.0.attention.o.weight [12, 12]",
                     "blocks.0.norm2.weight [12]", "blocks.0.ffn.gate.weight [20, 12]", "blocks.0.ffn.up.weight [20, 12]",
                     "blocks.0.ffn.down.weight [12, 20]", "norm.weight [12]", "output.weight [9, 12]");
    c.positions = RAPT_POSITIONS_LEARNED, c.tied = true;
    c.block.ffn_kind = RAPT_FFN_GELU, c.block.norm_kind = RAPT_NORM_KIND_LAYER;
    CHECK_PARAMETERS(&c, "embedding.weight [9, 12]", "positions.weight [5, 12]", "blocks.0.norm1.weight [12]",
                     "blocks.0.attention.q.weight [12, 12]", "blocks.0.attention.k.weight [4, 12]",
                     "blocks.0.attention.v.weight [4, 12]", "blocks.0.attention.o.weight [12, 12]",
                     "blocks.0.norm2.weight [12]", "blocks.0.ffn.dense1.weight [20, 12]",
                     "blocks.0.ffn.dense2.weight [12, 20]", "norm.weight [12]");
}

static size_t size_of(const rapt_lm_config *config)
{
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(config, RAPT_SEED_NONE, &err);
    if (!m)
        fail_msg("%s", err.message);
    size_t n = rapt_params_size(m->params);
    rapt_lm_free(m);
    return n;
}

/* GPT-2's is the number that its authors' weights have; nanoGPT prints 0.80M for the second without its positions. */
static void known_sizes(void **state)
{
    (void)state;
    rapt_lm_config gpt2 = preset("gpt2"), seed = preset("seed");
    rapt_lm_config nano = {.vocab = 65, .layers = 4, .context = 64, .positions = RAPT_POSITIONS_LEARNED, .tied = true,
                           .block = {.d_model = 128, .heads = 4, .ffn = 512, .norm_place = RAPT_NORM_PLACE_PRE,
                                     .ffn_kind = RAPT_FFN_GELU, .init = RAPT_WEIGHT_INIT_GPT2, .no_ffn_bias = true,
                                     .no_norm_bias = true}};
    assert_int_equal(size_of(&gpt2), 124439808);
    assert_int_equal(size_of(&nano) - 64 * 128, 795904);
    assert_int_equal(size_of(&seed), 100070 * 64 + 4 * (64 * 64 + 64) + 64 * 256 + 256 + 256 * 64 + 64 + 128 +
                                         100070 * 64 + 100070);
}

static double deviation(const rapt_lm *m, const char *name)
{
    double sum = 0;
    const rapt_param *p = rapt_params_find(m->params, name);
    assert_non_null(p);
    size_t n = rapt_tensor_size(&p->value);
    for (size_t i = 0; i < n; i++)
        sum += (double)p->value.data[i] * (double)p->value.data[i];
    return sqrt(sum / (double)n);
}

/* Within five standard errors of the deviation of n normal numbers, 1 / sqrt(2n) of it. */
static void check_deviation(const rapt_lm *m, const char *name, double want)
{
    double n = (double)rapt_tensor_size(&rapt_params_find(m->params, name)->value), got = deviation(m, name);
    if (fabs(got - want) > 5 * want / sqrt(2 * n))
        fail_msg("%s has a deviation of %g, not %g", name, got, want);
}

static void initial_values_of_gpt2(void **state)
{
    (void)state;
    rapt_lm_config c = preset("gpt2");
    c.vocab = 100, c.layers = 2, c.block.d_model = 96, c.block.ffn = 200, c.context = 32, c.tied = false;
    rapt_lm *m = lm_model(&c);
    check_deviation(m, "embedding.weight", 0.02);
    check_deviation(m, "positions.weight", 0.02);
    check_deviation(m, "blocks.1.attention.q.weight", 0.02);
    check_deviation(m, "blocks.1.ffn.dense1.weight", 0.02);
    check_deviation(m, "blocks.0.attention.o.weight", 0.01);
    check_deviation(m, "blocks.1.ffn.dense2.weight", 0.01);
    check_deviation(m, "output.weight", 0.02);
    assert_true(deviation(m, "blocks.0.attention.o.bias") == 0);
    assert_true(deviation(m, "norm.weight") == 1);
    rapt_lm_free(m);
    c.block.std = 0.1, c.embedding_std = 0.5, c.block.ffn_kind = RAPT_FFN_SWIGLU;
    m = lm_model(&c);
    check_deviation(m, "embedding.weight", 0.5);
    check_deviation(m, "positions.weight", 0.1);
    check_deviation(m, "blocks.0.ffn.gate.weight", 0.1);
    check_deviation(m, "blocks.0.ffn.down.weight", 0.05);
    rapt_lm_free(m);
}

/* nn.Linear: U(-a, a) with a = 1 / sqrt(in), whose deviation is a / sqrt(3). */
static void initial_values_of_pytorch(void **state)
{
    (void)state;
    rapt_lm_config c = preset("seed");
    c.vocab = 500;
    rapt_lm *m = lm_model(&c);
    check_deviation(m, "embedding.weight", 1);
    check_deviation(m, "output.weight", 0.125 / sqrt(3));
    check_deviation(m, "output.bias", 0.125 / sqrt(3));
    check_deviation(m, "blocks.0.ffn.dense2.weight", 0.0625 / sqrt(3));
    check_deviation(m, "blocks.0.attention.o.weight", 0.125 / sqrt(3));
    assert_true(deviation(m, "blocks.0.norm1.bias") == 0);
    assert_ptr_equal(m->blocks[0].norm1.norm.weight, m->blocks[0].norm2.norm.weight);
    rapt_lm_free(m);
}

/* ---- options ---------------------------------------------------------------------------------------------- */

static rapt_real *logits_of(const rapt_lm_config *c)
{
    int32_t ids[LM_CONTEXT];
    model_ids(ids, LM_CONTEXT, 3);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_lm *m = lm_model(c);
    rapt_real *x = lm_whole(t, m, ids, 1, LM_CONTEXT);
    rapt_tape_free(t);
    rapt_lm_free(m);
    return x;
}

static bool same_logits(rapt_lm_config a, rapt_lm_config b)
{
    rapt_real *x = logits_of(&a), *y = logits_of(&b);
    bool same = memcmp(x, y, LM_CONTEXT * MODEL_VOCAB * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

#define WITH(field, value_)                                                                               \
    do {                                                                                                  \
        changed = c, changed.field = (value_);                                                            \
        if (same_logits(c, changed))                                                                      \
            fail_msg("%s = %s changes nothing", #field, #value_);                                         \
    } while (0)

static void every_option_counts(void **state)
{
    rapt_lm_config c = lm_variant(74), changed; /* rotary */
    (void)state;
    c.tied = false, c.block.bias = true, c.block.no_ffn_bias = c.block.no_norm_bias = false, c.output_bias = true;
    WITH(block.kv_heads, 3);
    WITH(block.norm_place, RAPT_NORM_PLACE_POST);
    WITH(block.norm_kind, RAPT_NORM_KIND_RMS);
    WITH(block.norm_eps, 1e-3);
    WITH(block.ffn_kind, RAPT_FFN_GELU);
    WITH(block.ffn_kind, RAPT_FFN_SWIGLU);
    WITH(positions, RAPT_POSITIONS_SINUSOIDAL);
    WITH(positions, RAPT_POSITIONS_LEARNED);
    WITH(positions, RAPT_POSITIONS_NONE);
    WITH(positions, RAPT_POSITIONS_ALIBI);
    WITH(rotary_base, 500);
    WITH(tied, (changed.output_bias = false, true));
    WITH(block.bias, false);
    WITH(block.no_ffn_bias, true);
    WITH(output_bias, false);
    WITH(scale_embedding, true);
    WITH(block.init, RAPT_WEIGHT_INIT_GPT2);
    WITH(embedding_std, 0.3);
    c.block.ffn_kind = RAPT_FFN_GELU;
    WITH(block.ffn_kind, RAPT_FFN_GELU_TANH);
    c.block.norm_place = RAPT_NORM_PLACE_POST; /* gammas start as ones: one norm or two is the same before training */
    changed = c, changed.block.shared_norm = true;
    assert_true(same_logits(c, changed));
}

static void zeros_stand_for_numbers(void **state)
{
    rapt_lm_config c = lm_variant(74), full = c;
    (void)state;
    full.block.kv_heads = 6, full.block.norm_eps = 1e-5, full.rotary_base = 10000, full.embedding_std = 1;
    assert_true(same_logits(c, full));
    c.block.init = full.block.init = RAPT_WEIGHT_INIT_GPT2, full.block.std = full.embedding_std = 0.02;
    assert_true(same_logits(c, full));
}

/* Also in a block without a model around it. */
static void zeros_stand_for_numbers_in_a_block(void **state)
{
    (void)state;
    const rapt_block_config c = {.d_model = 12, .heads = 6, .ffn = 20};
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_lm_block block;
    rapt_lm_block_init(&block, set, "b.", &c);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    assert_int_equal(rapt_params_find(set, "b.attention.k.weight")->value.shape[0], 12);
    assert_true(block.norm1.norm.eps == 1e-5);
    rapt_params_free(set);
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static void refuse(rapt_lm_config c, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_lm_new(&c, 1, &err));
    assert_string_equal(err.message, message);
}

static void sizes_must_fit(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(1), bad = c;
    bad.block.heads = 5;
    refuse(bad, "5 heads do not divide d_model, 24");
    bad.block.heads = 0;
    refuse(bad, "0 heads do not divide d_model, 24");
    bad = c, bad.block.kv_heads = 4;
    refuse(bad, "attention blocks.0.attention.: 4 key-value heads do not divide 6 heads");
    bad = c, bad.block.heads = 8, bad.positions = RAPT_POSITIONS_ROTARY;
    refuse(bad, "rotary.table: rotary positions turn pairs of features; a head has 3");
    bad = c, bad.vocab = 0;
    refuse(bad, "a model of 2 layers, d_model 24, ffn 37, vocabulary 0, context 12");
    bad = c, bad.output_bias = true;
    refuse(bad, "a tied model has no output bias");
    bad = c, bad.vocab = SIZE_MAX / 8;
    refuse(bad, "parameter \"embedding.weight\": an empty or too large shape");
    rapt_lm_free(NULL);
}

static void presets_have_names(void **state)
{
    rapt_error err = {0};
    rapt_lm_config c;
    (void)state;
    assert_int_equal(rapt_lm_preset("gpt3", &c, &err), RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "there is no model \"gpt3\"; there are seed and gpt2");
}

static void tokens_must_fit(void **state)
{
    (void)state;
    int32_t ids[2 * LM_CONTEXT] = {0};
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < 3; i++) { /* each kind of positions */
        rapt_lm_config c = lm_variant(i);
        rapt_lm *m = lm_model(&c);
        ids[LM_CONTEXT + 3] = 70000;
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_forward(t, m, (rapt_tokens){ids, 2, LM_CONTEXT});
        assert_string_equal(rapt_tape_error(t)->message,
                            "token 70000 at position 3 of row 1 is not in the vocabulary of 53");
        ids[LM_CONTEXT + 3] = 0;
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_forward(t, m, (rapt_tokens){ids, 1, LM_CONTEXT + 1});
        assert_string_equal(rapt_tape_error(t)->message, "13 tokens are more than the model's context of 12");
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_shapes),       cmocka_unit_test(known_sizes),
        cmocka_unit_test(initial_values_of_gpt2), cmocka_unit_test(initial_values_of_pytorch),
        cmocka_unit_test(every_option_counts),    cmocka_unit_test(zeros_stand_for_numbers),
        cmocka_unit_test(zeros_stand_for_numbers_in_a_block),
        cmocka_unit_test(sizes_must_fit),         cmocka_unit_test(presets_have_names),
        cmocka_unit_test(tokens_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
