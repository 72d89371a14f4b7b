/* tests/io/test_heads_types.c: models with attention heads switched off, whose weights are held in fewer bits (bf16, q8_0): the
 * same bits for any number of threads, for a row alone and among others, and in steps with a KV cache; and the heads hand over
 * zeros.
 * labels: threads levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define LEVELS_QUANTIZED
#include "explain/explain_case.h"
#include "levels.h"
#include "nn/pack.h"
#include "rapt/decode.h"
#include "rapt/heads.h"
#include "tape/tape_core.h"

enum { ROWS = 3, TIME = LM_CONTEXT, SIZE = ROWS * TIME * MODEL_VOCAB };

static const rapt_type TYPES[] = {RAPT_TYPE_BF16, RAPT_TYPE_Q8_0};

static rapt_model *pair_of(size_t variant)
{
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.net = model_of(model_variant(variant))};
    m->params = m->translation.net->params;
    return m;
}

static rapt_model *lm_of(size_t variant)
{
    const rapt_lm_config c = lm_variant(variant);
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_LANGUAGE_MODEL, .language.net = lm_model(&c)};
    m->params = m->language.net->params;
    return m;
}

/* Some heads, or all. */
static rapt_model *without(const rapt_model *m, bool all)
{
    static const char *const every[] = {"*"}, *const some[] = {"*.*attention.1"};
    rapt_error err = {0};
    rapt_model *less = rapt_model_without_heads(m, all ? every : some, 1, &err);
    if (!less)
        fail_msg("%s", err.message);
    return less;
}

/* ---- passes ---------------------------------------------------------------------------------------------------------- */

/* A tape with the weights of a model. */
typedef struct holding {
    rapt_tape *t;
    packed_weights *packed;
} holding;

/* `weights`: their types, or NULL. */
static holding hold(const rapt_model *m, const char *isa, int threads, rapt_type type, const char *weights)
{
    rapt_error err = {0};
    holding h = {.t = rapt_tape_new(&(rapt_compute){.threads = threads, .isa = isa, .type = type, .weights = weights}, &err)};
    assert_non_null(h.t);
    h.packed = m->language.net ? pack_lm(m->language.net, h.t, h.t->pool, false, &err)
                               : pack_transformer(m->translation.net, h.t, h.t->pool, &err);
    assert_non_null(h.packed);
    tape_use_packed(h.t, h.packed);
    return h;
}

static void let_go(holding h)
{
    packed_weights_free(h.packed);
    rapt_tape_free(h.t);
}

/* Logits of `count` rows from `first` on; free() them. */
static rapt_real *logits_of(holding h, const rapt_model *m, size_t first, size_t count)
{
    int32_t source[ROWS * TIME], target[ROWS * TIME];
    model_ids(source, ROWS * TIME, 3);
    model_ids(target, ROWS * TIME, 4);
    if (m->language.net)
        return lm_whole(h.t, m->language.net, source + first * TIME, count, TIME);
    rapt_tape_begin(h.t, (rapt_pass){0});
    const rapt_tokens read = {source + first * TIME, count, TIME}, written = {target + first * TIME, count, TIME};
    return model_copy(h.t, rapt_transformer_forward(h.t, m->translation.net, read, NULL, written));
}

static void check_alone(holding h, const rapt_model *m, const rapt_real *want)
{
    for (size_t i = 0; i < ROWS; i++) {
        rapt_real *one = logits_of(h, m, i, 1);
        model_same("a row alone", want + i * TIME * MODEL_VOCAB, one, TIME * MODEL_VOCAB);
        free(one);
    }
}

static void check_steps(holding h, const rapt_lm *m, const rapt_real *want)
{
    rapt_error err = {0};
    int32_t ids[ROWS * TIME];
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), &err);
    model_ids(ids, ROWS * TIME, 3);
    for (size_t i = 0; i < TIME; i++) {
        rapt_tape_begin(h.t, (rapt_pass){0});
        rapt_real *got = model_copy(h.t, rapt_lm_step(h.t, m, cache, (rapt_tokens){ids + i, 1, 1}, false));
        model_same("a step", want + i * MODEL_VOCAB, got, MODEL_VOCAB);
        free(got);
    }
    rapt_kv_cache_free(cache);
}

/* ---- what the heads would hand over is zero -------------------------------------------------------------------------- */

/* Zeroes the columns of W_o that multiply what heads hand over which are off in `less`. */
static void zero_columns(const rapt_model *less, const rapt_model *like)
{
    for (size_t i = 0; i < rapt_model_head_count(less); i++) {
        char name[160];
        const rapt_head head = rapt_model_head(less, i);
        size_t heads = 0;
        for (size_t k = 0; k < rapt_model_head_count(less); k++)
            heads += rapt_model_head(less, k).attention == head.attention;
        snprintf(name, sizeof name, "%s.o.weight", head.attention);
        rapt_param *w = rapt_params_find(like->params, name);
        assert_non_null(w);
        const size_t columns = w->value.shape[1], d = columns / heads;
        for (size_t row = 0; head.off && row < w->value.shape[0]; row++)
            memset(w->value.data + row * columns + head.index * d, 0, d * sizeof *w->value.data);
    }
}

/* As numbers: a zero may have either sign. Where columns of W_o share a scale with others, W_o stays in fp32. */
static void check_columns(const rapt_model *m, const rapt_model *less, const rapt_model *like, const char *isa, rapt_type type)
{
    const char *weights = type == RAPT_TYPE_Q8_0 ? "q8_0,*.o.weight=fp32" : NULL;
    zero_columns(less, like);
    holding h = hold(m, isa, 1, type, weights);
    rapt_real *got = logits_of(h, less, 0, ROWS);
    let_go(h);
    h = hold(like, isa, 1, type, weights);
    rapt_real *want = logits_of(h, like, 0, ROWS);
    let_go(h);
    for (size_t i = 0; i < SIZE; i++)
        if (want[i] != got[i])
            fail_msg("logit %zu is %a, not %a", i, (double)got[i], (double)want[i]);
    free(want);
    free(got);
}

/* The held weights have the type. */
static void check_type(const rapt_model *m, const rapt_model *less, const char *isa, const rapt_real *got)
{
    holding h = hold(m, isa, 1, RAPT_TYPE_FP32, NULL);
    rapt_real *exact = logits_of(h, less, 0, ROWS);
    assert_true(memcmp(exact, got, SIZE * sizeof *got) != 0);
    free(exact);
    let_go(h);
}

static void check_model(rapt_model *m, rapt_model *like, const char *isa, rapt_type type, bool all)
{
    rapt_model *less = without(m, all);
    rapt_real *want = NULL;
    for (int threads = 1; threads <= 2; threads++) {
        holding h = hold(m, isa, threads, type, NULL); /* the weights are the model's */
        rapt_real *got = logits_of(h, less, 0, ROWS), *whole = logits_of(h, m, 0, ROWS);
        if (want)
            model_same("two threads", want, got, SIZE);
        assert_true(memcmp(whole, got, SIZE * sizeof *got) != 0);
        check_alone(h, less, got);
        if (m->language.net)
            check_steps(h, less->language.net, got);
        free(whole);
        free(want);
        want = got;
        let_go(h);
    }
    check_type(m, less, isa, want);
    check_columns(m, less, like, isa, type);
    free(want);
    rapt_model_free(less);
    rapt_model_free(m);
    rapt_model_free(like);
}

static void test_passes(void **state)
{
    const char *isa = levels_wanted(state);
    for (size_t k = 0; k < 2; k++)
        for (int all = 0; all < 2; all++) {
            for (size_t i = 0; i < MODEL_VARIANTS; i += 3)
                check_model(pair_of(i), pair_of(i), isa, TYPES[k], all);
            for (size_t i = 0; i < LM_VARIANTS; i += 41)
                check_model(lm_of(i), lm_of(i), isa, TYPES[k], all);
        }
}

/* ---- translations ---------------------------------------------------------------------------------------------------- */

static const char *const LINES[ROWS] = {"w1 w2 w3", "w9 w4", "w30 w2 w7 w11 w5"};

static void translate(const rapt_model *m, size_t first, size_t count, int threads, rapt_type type, rapt_translation *out)
{
    rapt_error err = {0};
    rapt_translate_options o = TRANSLATE(.compute = {.threads = threads, .type = type});
    if (rapt_translate(m, LINES + first, count, &o, out, &err))
        fail_msg("%s", err.message);
}

/* In one batch with two threads, and alone with one. */
static void test_translations(void **state)
{
    (void)state;
    rapt_model *m = case_translator(), *less = without(m, false);
    for (size_t k = 0; k < 2; k++) {
        rapt_translation together[ROWS], whole[ROWS], alone;
        translate(less, 0, ROWS, 2, TYPES[k], together);
        translate(m, 0, ROWS, 1, TYPES[k], whole);
        for (size_t i = 0; i < ROWS; i++) {
            translate(less, i, 1, 1, TYPES[k], &alone);
            assert_string_equal(alone.hypotheses->text, together[i].hypotheses->text);
            assert_true(alone.hypotheses->log_prob == together[i].hypotheses->log_prob);
            assert_true(alone.hypotheses->log_prob != whole[i].hypotheses->log_prob);
            rapt_translations_free(&alone, 1);
        }
        rapt_translations_free(together, ROWS);
        rapt_translations_free(whole, ROWS);
    }
    rapt_model_free(less);
    rapt_model_free(m);
}

int main(void)
{
    struct CMUnitTest tests[1 + LEVELS_MOST] = {cmocka_unit_test(test_translations)};
    levels_tests(tests + 1, "passes", test_passes, kernels_names);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
