/* tests/io/test_heads.c: models with attention heads switched off: what the heads hand over is zero, all else is as computed from
 * the rest, in every shape of model, in whole passes and decoding steps, for any number of threads; and what is refused.
 * labels: threads levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "io/model_heads.h"
#include "levels.h"
#include "nn/observed.h"
#include "rapt/decode.h"

#define PAIR_SOURCE 6
#define PAIR_TARGET 7

static rapt_model *without(const rapt_model *m, size_t count, const char *const *names)
{
    rapt_error err = {0};
    rapt_model *less = rapt_model_without_heads(m, names, count, &err);
    if (!less)
        fail_msg("%s", err.message);
    return less;
}

/* A model without tokenizers. */
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

/* ---- passes ---- */

/* Logits of whole rows; free() them. */
static rapt_real *logits_of(rapt_tape *t, const rapt_model *m, size_t *size)
{
    int32_t ids[2 * LM_CONTEXT], target[2 * PAIR_TARGET];
    model_ids(ids, 2 * LM_CONTEXT, 5);
    model_ids(target, 2 * PAIR_TARGET, 6);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = m->language.net
                               ? rapt_lm_forward(t, m->language.net, (rapt_tokens){.ids = ids, .batch = 2, .time = LM_CONTEXT})
                               : rapt_transformer_forward(t, m->translation.net,
                                                          (rapt_tokens){.ids = ids, .batch = 2, .time = PAIR_SOURCE}, NULL,
                                                          (rapt_tokens){.ids = target, .batch = 2, .time = PAIR_TARGET});
    *size = rapt_tensor_size(y);
    return model_copy(t, y);
}

static rapt_real *pair_steps(rapt_tape *t, const rapt_transformer *m)
{
    rapt_error err = {0};
    int32_t ids[2 * LM_CONTEXT], target[2 * PAIR_TARGET], step[2];
    rapt_real *all = malloc(2 * PAIR_TARGET * MODEL_VOCAB * sizeof *all);
    rapt_decoder_state *s = rapt_decoder_state_new(&err);
    model_ids(ids, 2 * LM_CONTEXT, 5);
    model_ids(target, 2 * PAIR_TARGET, 6);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){.ids = ids, .batch = 2, .time = PAIR_SOURCE}, NULL);
    rapt_decoder_start(t, &m->decoder, s, memory, NULL, (rapt_decoder_sizes){.capacity = PAIR_TARGET});
    for (size_t i = 0; i < PAIR_TARGET; i++) {
        step[0] = target[i];
        step[1] = target[PAIR_TARGET + i];
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){.ids = step, .batch = 2, .time = 1});
        assert_int_equal(rapt_tape_status(t, &err), RAPT_OK);
        for (size_t b = 0; b < 2; b++)
            memcpy(all + (b * PAIR_TARGET + i) * MODEL_VOCAB, y->data + b * MODEL_VOCAB, MODEL_VOCAB * sizeof *all);
    }
    rapt_decoder_state_free(s);
    return all;
}

static rapt_real *lm_steps(rapt_tape *t, const rapt_lm *m)
{
    rapt_error err = {0};
    int32_t ids[2 * LM_CONTEXT], step[2];
    rapt_real *all = malloc(2 * LM_CONTEXT * MODEL_VOCAB * sizeof *all);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 2), &err);
    model_ids(ids, 2 * LM_CONTEXT, 5);
    for (size_t i = 0; i < LM_CONTEXT; i++) {
        step[0] = ids[i];
        step[1] = ids[LM_CONTEXT + i];
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_step(t, m, cache, (rapt_tokens){.ids = step, .batch = 2, .time = 1}, true);
        assert_int_equal(rapt_tape_status(t, &err), RAPT_OK);
        for (size_t b = 0; b < 2; b++)
            memcpy(all + (b * LM_CONTEXT + i) * MODEL_VOCAB, y->data + b * MODEL_VOCAB, MODEL_VOCAB * sizeof *all);
    }
    rapt_kv_cache_free(cache);
    return all;
}

/* The same logits from decoding steps with caches. */
static rapt_real *logits_of_steps(rapt_tape *t, const rapt_model *m)
{
    return m->language.net ? lm_steps(t, m->language.net) : pair_steps(t, m->translation.net);
}

/* ---- a head is off: the columns of its output projection do nothing ---- */

/* Zeroes the columns of W_o that multiply the context of a head. */
static void zero_columns(const rapt_model *m, rapt_head head)
{
    char name[160];
    snprintf(name, sizeof name, "%s.o.weight", head.attention);
    rapt_param *w = rapt_params_find(m->params, name);
    assert_non_null(w);
    size_t heads = 0;
    for (size_t i = 0; i < rapt_model_head_count(m); i++)
        heads += rapt_model_head(m, i).attention == head.attention;
    const size_t rows = w->value.shape[0], columns = w->value.shape[1], d = columns / heads;
    for (size_t i = 0; i < rows; i++)
        memset(w->value.data + i * columns + head.index * d, 0, d * sizeof *w->value.data);
}

/* As numbers: a zero may have either sign. */
static void same_numbers(const char *what, const rapt_real *want, const rapt_real *got, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (want[i] != got[i])
            fail_msg("%s: logit %zu is %a, not %a", what, i, (double)got[i], (double)want[i]);
}

/* Every third head is off in `less`, and has no columns in `like`. */
static rapt_model *every_third(const rapt_model *m, rapt_model *like)
{
    static char texts[64][MODEL_HEAD_NAME];
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < rapt_model_head_count(m); i += 3, count++) {
        names[count] = model_heads_name(rapt_model_head(m, i), texts[count]);
        zero_columns(like, rapt_model_head(like, i));
    }
    return without(m, count, names);
}

static void check_columns(rapt_tape *t, rapt_model *m, rapt_model *like, const char *what)
{
    size_t size;
    rapt_model *less = every_third(m, like);
    rapt_real *before = logits_of(t, m, &size), *got = logits_of(t, less, &size), *want = logits_of(t, like, &size);
    rapt_real *steps = logits_of_steps(t, less), *after = logits_of(t, m, &size);
    same_numbers(what, want, got, size);
    model_same("decoding steps", got, steps, size);
    model_same("the model that it was made of", before, after, size);
    assert_true(memcmp(before, got, size * sizeof *got) != 0);
    free(before);
    free(got);
    free(want);
    free(steps);
    free(after);
    rapt_model_free(less);
    rapt_model_free(m);
    rapt_model_free(like);
}

static void check_all_columns(rapt_tape *t)
{
    char what[80];
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        snprintf(what, sizeof what, "translator %zu", i);
        check_columns(t, pair_of(i), pair_of(i), what);
    }
    for (size_t i = 0; i < LM_VARIANTS; i += 23) {
        snprintf(what, sizeof what, "language model %zu", i);
        check_columns(t, lm_of(i), lm_of(i), what);
    }
}

static void test_columns(void **state)
{
    const char *isa = levels_wanted(state);
    for (int threads = 1; threads <= 3; threads += 2) {
        rapt_tape *t = model_tape(isa, threads);
        check_all_columns(t);
        rapt_tape_free(t);
    }
}

/* ---- the steps of an observed pass ---- */

static const observed *step_of(const observer *o, const char *attention, const char *what)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s", attention, what);
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->steps[i].name, name) == 0)
            return &o->steps[i];
    fail_msg("no step %s", name);
    return NULL;
}

/* Context [batch, heads, queries, d] is zero where its head is off, and not elsewhere. */
static void check_context(const observed *context, rapt_head head)
{
    const size_t *n = context->tensor.shape, block = n[2] * n[3];
    for (size_t b = 0; b < n[0]; b++) {
        bool zero = true;
        for (size_t i = 0; i < block; i++)
            zero = zero && context->values[(b * n[1] + head.index) * block + i] == 0;
        assert_int_equal(zero, head.off);
    }
}

/* The output is concat W_o^T + b: of zeros, the bias alone. */
static void check_output(const rapt_model *m, const observer *o, const char *attention)
{
    char name[160];
    const observed *concat = step_of(o, attention, "concat"), *output = step_of(o, attention, "output");
    snprintf(name, sizeof name, "%s.o.weight", attention);
    const rapt_tensor *w = &rapt_params_find(m->params, name)->value;
    snprintf(name, sizeof name, "%s.o.bias", attention);
    const rapt_param *b = rapt_params_find(m->params, name);
    const size_t in = w->shape[1], out = w->shape[0], rows = rapt_tensor_size(&concat->tensor) / in;
    for (size_t i = 0; i < rows * out; i++) {
        double sum = b ? (double)b->value.data[i % out] : 0, most = fabs(sum);
        bool none = true;
        for (size_t k = 0; k < in; k++) {
            const double product = (double)concat->values[i / out * in + k] * (double)w->data[i % out * in + k];
            sum += product;
            most += fabs(product);
            none = none && product == 0;
        }
        if (none)
            assert_true((double)output->values[i] == sum);
        assert_true(fabs((double)output->values[i] - sum) <= (double)(in + 4) * most * 0x1p-24);
    }
}

static void check_steps(rapt_tape *t, rapt_model *m, size_t count, const char *const *names)
{
    size_t size;
    observer o = {0};
    rapt_model *less = without(m, count, names);
    rapt_observe(t, observer_keep, &o);
    free(logits_of(t, less, &size));
    rapt_observe(t, NULL, NULL);
    for (size_t i = 0; i < rapt_model_head_count(less); i++) {
        const rapt_head head = rapt_model_head(less, i);
        check_context(step_of(&o, head.attention, "heads"), head);
        if (head.index == 0)
            check_output(less, &o, head.attention);
    }
    observer_free(&o);
    rapt_model_free(less);
    rapt_model_free(m);
}

static void test_steps(void **state)
{
    (void)state;
    static const char *const some[] = {"decoder.1.cross_attention.1", "encoder.*.attention.0", "decoder.0.self_attention.*"};
    static const char *const of_lm[] = {"blocks.0.attention.[13]", "blocks.1.attention.5"};
    static const char *const all[] = {"*"};
    rapt_tape *t = model_tape(NULL, 2);
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        check_steps(t, pair_of(i), 3, some);
        check_steps(t, pair_of(i), 1, all);
    }
    for (size_t i = 0; i < LM_VARIANTS; i += 37)
        check_steps(t, lm_of(i), 2, of_lm);
    rapt_tape_free(t);
}

static void test_none(void **state)
{
    (void)state;
    size_t size;
    rapt_tape *t = model_tape(NULL, 1);
    rapt_model *m = lm_of(30), *same = without(m, 0, NULL);
    rapt_real *want = logits_of(t, m, &size), *got = logits_of(t, same, &size);
    model_same("no head is off", want, got, size);
    assert_null(same->language.net->blocks[0].attention.off);
    free(want);
    free(got);
    rapt_model_free(same);
    rapt_model_free(m);
    rapt_tape_free(t);
}

/* ---- names ---- */

static void test_heads(void **state)
{
    (void)state;
    char name[MODEL_HEAD_NAME];
    static const char *const first[] = {"encoder.0.attention.2"}, *const second[] = {"decoder.1.cross_attention.0"};
    rapt_model *m = pair_of(0), *one = without(m, 1, first), *two = without(one, 1, second);
    assert_int_equal(rapt_model_head_count(m), 2 * 3 + 2 * 2 * 3);
    assert_string_equal(model_heads_name(rapt_model_head(two, 4), name), "encoder.1.attention.1");
    assert_string_equal(model_heads_name(rapt_model_head(two, 9), name), "decoder.0.cross_attention.0");
    assert_null(rapt_model_head(two, 18).attention);
    size_t off[3] = {0};
    for (size_t i = 0; i < 18; i++) {
        off[0] += rapt_model_head(m, i).off;
        off[1] += rapt_model_head(one, i).off;
        off[2] += rapt_model_head(two, i).off;
    }
    assert_true(off[0] == 0 && off[1] == 1 && off[2] == 2);
    assert_true(rapt_model_head(two, 2).off && rapt_model_head(two, 15).off);
    rapt_model_free(two);
    rapt_model_free(one);
    rapt_model_free(m);
}

static void refused(const rapt_model *m, const char *name, const char *why)
{
    rapt_error err = {0};
    assert_null(rapt_model_without_heads(m, (const char *const[]){"*.0", name}, 2, &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, why);
}

static void test_names(void **state)
{
    (void)state;
    rapt_model *m = pair_of(0);
    refused(m, "decoder.1.cross_attention.3",
            "there is no head \"decoder.1.cross_attention.3\": decoder.1.cross_attention has heads 0 to 2");
    refused(m, "decoder.1.cross_attention",
            "\"decoder.1.cross_attention\" is an attention of 3 heads: its first is \"decoder.1.cross_attention.0\", all are "
            "\"decoder.1.cross_attention.*\"");
    refused(m, "decoder.1.cros_atention.2",
            "there is no head \"decoder.1.cros_atention.2\"; did you mean \"decoder.1.cross_attention.2\"?");
    refused(m, "*.head.7",
            "there is no head \"*.head.7\"; there are \"encoder.0.attention.0\" to \"decoder.1.cross_attention.2\"");
    refused(m, "", "there is no head \"\"; there are \"encoder.0.attention.0\" to \"decoder.1.cross_attention.2\"");
    rapt_model_free(m);
}

/* ---- translations, explanations ---- */

static const char *const SOME[] = {"decoder.1.cross_attention.1", "encoder.0.attention.*"};
static const char *const LINES[] = {"w1 w2 w3", "w9 w4", "w30 w2 w7 w11 w5"};

static void translate(const rapt_model *m, size_t first, size_t count, int threads, rapt_translation *out)
{
    rapt_error err = {0};
    rapt_translate_options o = TRANSLATE(.compute.threads = threads);
    if (rapt_translate(m, LINES + first, count, &o, out, &err))
        fail_msg("%s", err.message);
}

/* In one batch and alone, with one thread and three; like a model whose heads have no columns; and as the uncached pass of an
 * explanation has it. */
static void test_translations(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = case_translator(), *less = without(m, 2, SOME), *like = case_translator();
    rapt_translation together[3], whole[3], zeroed[3], alone;
    for (size_t i = 0; i < rapt_model_head_count(less); i++)
        if (rapt_model_head(less, i).off)
            zero_columns(like, rapt_model_head(like, i));
    translate(less, 0, 3, 3, together);
    translate(m, 0, 3, 1, whole);
    translate(like, 0, 3, 1, zeroed);
    for (size_t i = 0; i < 3; i++) {
        translate(less, i, 1, 1, &alone);
        assert_string_equal(alone.hypotheses->text, together[i].hypotheses->text);
        assert_true(alone.hypotheses->log_prob == together[i].hypotheses->log_prob);
        assert_true(alone.hypotheses->log_prob == zeroed[i].hypotheses->log_prob);
        assert_true(alone.hypotheses->log_prob != whole[i].hypotheses->log_prob);
        rapt_explanation *e = rapt_explanation_new(less, LINES[i], strlen(LINES[i]), NULL, &err);
        assert_non_null(e);
        const rapt_explained_sequence read = rapt_explanation_sequence(e, 1);
        assert_string_equal(rapt_explanation_target(e, NULL), alone.hypotheses->text);
        double sum = 0;
        for (size_t k = 0; k < read.count; k++)
            sum -= rapt_explanation_prediction(e, k).loss;
        if (read.count < CASE_MAX_LEN) /* else it ends without <eos> */
            assert_true(fabs(sum - alone.hypotheses->log_prob) < 1e-4);
        rapt_explanation_free(e);
        rapt_translations_free(&alone, 1);
    }
    rapt_translations_free(together, 3);
    rapt_translations_free(whole, 3);
    rapt_translations_free(zeroed, 3);
    rapt_model_free(like);
    rapt_model_free(less);
    rapt_model_free(m);
}

/* The text and the JSON name the heads that are off; without any, neither has a word of it. */
static void test_explanation(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = case_translator(), *less = without(m, 2, SOME);
    for (int i = 0; i < 2; i++) {
        char *text = NULL, *json = NULL;
        size_t count;
        rapt_explanation *e = rapt_explanation_new(i ? less : m, "w1 w2", 5, NULL, &err);
        assert_non_null(e);
        const char *const *off = rapt_explanation_heads_off(e, &count);
        assert_int_equal(count, i ? 4 : 0);
        assert_int_equal(rapt_explanation_text(e, NULL, &text, NULL, &err), RAPT_OK);
        assert_int_equal(rapt_explanation_json(e, NULL, &json, NULL, &err), RAPT_OK);
        assert_int_equal(strstr(text, "heads that are off: encoder.0.attention.0, encoder.0.attention.1, encoder.0.attention.2, "
                                      "decoder.1.cross_attention.1\n") != NULL, i);
        assert_int_equal(strstr(json, "\"heads_off\": [\"encoder.0.attention.0\", ") != NULL, i);
        assert_int_equal(strstr(text, "0 for heads that are off") != NULL, i);
        if (i)
            assert_string_equal(off[3], "decoder.1.cross_attention.1");
        free(text);
        free(json);
        rapt_explanation_free(e);
    }
    rapt_model_free(less);
    rapt_model_free(m);
}

/* ---- what such a model is not for ---- */

static void must_refuse(rapt_code code, const rapt_error *err, const char *part)
{
    assert_int_equal(code, RAPT_ERR_VALUE);
    if (!strstr(err->message, part))
        fail_msg("%s", err->message);
}

static void test_refused(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = case_translator(), *less = without(m, 2, SOME);
    const rapt_explain_options gradients = EXPLAIN(.gradients = true);
    must_refuse(rapt_model_save(less, "no-such-folder", &err), &err, "switched off is not saved");
    err = (rapt_error){0};
    must_refuse(rapt_model_save_config(less, "no-such-folder", &err), &err, "switched off is not saved");
    err = (rapt_error){0};
    must_refuse(rapt_model_save_params(less, "no-such-folder", &err), &err, "switched off is not saved");
    err = (rapt_error){0};
    must_refuse(rapt_model_add_lora(less, NULL, &err), &err, "switched off is not trained");
    err = (rapt_error){0};
    must_refuse(rapt_model_export(less, "no-such-folder", NULL, &err), &err, "switched off is not exported");
    err = (rapt_error){0};
    assert_null(rapt_explanation_new(less, "w1 w2", 5, &gradients, &err));
    must_refuse(err.code, &err, "has no gradients");
    rapt_model_free(less);
    rapt_model_free(m);
}

/* A program may record a pass of the modules itself. */
static void test_recorded(void **state)
{
    (void)state;
    const int32_t ids[4] = {1, 2, 3, 4};
    rapt_tape *t = model_tape(NULL, 1);
    rapt_model *m = lm_of(30), *less = without(m, 1, (const char *const[]){"blocks.1.attention.0"});
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_lm_forward(t, less->language.net, (rapt_tokens){.ids = ids, .batch = 1, .time = 4});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_VALUE);
    assert_non_null(strstr(rapt_tape_error(t)->message, "no backward pass of heads that are switched off"));
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_lm_forward(t, m->language.net, (rapt_tokens){.ids = ids, .batch = 1, .time = 4});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    rapt_model_free(less);
    rapt_model_free(m);
    rapt_tape_free(t);
}

/* ---- an encoder ---- */

static void test_encoder(void **state)
{
    (void)state;
    rapt_error err = {0};
    const rapt_transformer_config c = model_config(RAPT_NORM_PLACE_POST, false);
    rapt_model m = {.task = RAPT_TASK_ENCODER, .encoder.net = rapt_encoder_only_new(&c, 3, &err)};
    const int32_t ids[5] = {4, 9, 17, 3, 8};
    assert_non_null(m.encoder.net);
    m.params = m.encoder.net->params;
    assert_int_equal(rapt_model_head_count(&m), 6);
    rapt_model *less = without(&m, 1, (const char *const[]){"encoder.1.attention.2"});
    rapt_tape *t = model_tape(NULL, 1);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_encoder_forward(t, &less->encoder.net->encoder, (rapt_tokens){.ids = ids, .batch = 1, .time = 5},
                                                NULL);
    rapt_real *got = model_copy(t, y);
    zero_columns(&m, rapt_model_head(&m, 5));
    rapt_tape_begin(t, (rapt_pass){0});
    y = rapt_encoder_forward(t, &m.encoder.net->encoder, (rapt_tokens){.ids = ids, .batch = 1, .time = 5}, NULL);
    same_numbers("encoder", y->data, got, rapt_tensor_size(y));
    free(got);
    rapt_tape_free(t);
    rapt_model_free(less);
    rapt_encoder_only_free(m.encoder.net);
}

int main(void)
{
    struct CMUnitTest tests[9 + LEVELS_MOST] = {
        cmocka_unit_test(test_steps),       cmocka_unit_test(test_none),    cmocka_unit_test(test_heads),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_encoder), cmocka_unit_test(test_translations),
        cmocka_unit_test(test_explanation), cmocka_unit_test(test_refused), cmocka_unit_test(test_recorded),
    };
    levels_tests(tests + 9, "columns", test_columns, kernels_names);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
