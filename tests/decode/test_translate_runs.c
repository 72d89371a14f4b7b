/* tests/decode/test_translate_runs.c: one translator, runs that differ: options of a run give what a new translator with them
 * gives, bit for bit; lines that are cancelled at any decoding step leave the others as they are; a run that is cancelled ends
 * within a step.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

#include <stdatomic.h>

#define MAX_LEN 8
#define LINES 12

static const char *const LINE[LINES] = {
    "w1 w2 w3", "", "zyzzyva", "w4", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */, "   ",
    "w9 w8 w7 w6 w5 w4", "w11 w12", "w13 w1 w13", "w2 w2 w2 w2", "w20 w21 w22 w23 w24",
};

/* A model with rapt's own search, or with the policy of a Hugging Face folder. */
static rapt_model *new_model(bool policy)
{
    rapt_model *m = case_translation_model(MAX_LEN, 2);
    if (policy)
        m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 0.7, .repetition_penalty = 1.1,
                                         .max_length = 14};
    return m;
}

/* With prefixes that are no longer than what the policy's lengths leave. */
static const rapt_translate_options OPTIONS[] = {
    {TRANSLATE_DEFAULTS},
    {TRANSLATE_DEFAULTS, .beam = 4, .n_best = 3, .length_penalty = 0.6},
    {TRANSLATE_DEFAULTS, .beam = 1, .alignment = true, .tokens = true},
    {TRANSLATE_DEFAULTS, .beam = 9, .n_best = 9, .length_penalty = 0},
    {TRANSLATE_DEFAULTS, .beam = 2, .prefix = "w5 w6", .max_ratio = 1, .tokens = true},
    {TRANSLATE_DEFAULTS, .beam = 3, .n_best = 2, .no_repeat = 1, .max_ratio = 0.5, .alignment = true},
    {TRANSLATE_DEFAULTS, .beam = 1, .no_repeat = 2, .prefix = "w3"},
    {TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1.5, .seed = 3}, .tokens = true},
    {TRANSLATE_DEFAULTS, .beam = 2, .sample = {SAMPLE_DEFAULTS, .repetition_penalty = 1.6}, .min_length = 5,
     .suppress = "w3\nw4 w5"},
};
#define OPTION_COUNT (sizeof OPTIONS / sizeof *OPTIONS)

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    assert_false(a->cancelled);
    assert_int_equal(a->cut, b->cut);
    assert_int_equal(a->split, b->split);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->source_count, b->source_count);
    for (size_t i = 0; i < a->count; i++) {
        const rapt_hypothesis *x = &a->hypotheses[i], *y = &b->hypotheses[i];
        assert_string_equal(x->text, y->text);
        assert_memory_equal(&x->score, &y->score, sizeof x->score);
        assert_memory_equal(&x->log_prob, &y->log_prob, sizeof x->log_prob);
        assert_int_equal(x->token_count, y->token_count);
        assert_int_equal(x->alignment.targets, y->alignment.targets);
        for (size_t j = 0; j < x->token_count; j++)
            assert_int_equal(x->tokens[j], y->tokens[j]);
        for (size_t j = 0; j < x->alignment.targets; j++)
            assert_memory_equal(x->alignment.rows[j].weights, y->alignment.rows[j].weights,
                                (x->alignment.rows[j].count + 1) * sizeof(rapt_real));
    }
}

static rapt_translator *new_translator(const rapt_model *m, rapt_translate_options o)
{
    rapt_error err = {0};
    rapt_translator *t = rapt_translator_new(m, &o, &err);
    if (!t)
        fail_msg("%s", err.message);
    return t;
}

static void run(rapt_translator *t, rapt_translator_request r, rapt_translation *out)
{
    rapt_error err = {0};
    if (rapt_translator_run(t, &r, TEXTS_OF(LINE, LINES), LINES, out, &err))
        fail_msg("%s", err.message);
}

static void reference(const rapt_model *m, const rapt_translate_options *o, rapt_translation *out)
{
    rapt_error err = {0};
    if (rapt_translate(m, LINE, LINES, o, out, &err))
        fail_msg("%s", err.message);
}

/* ---- options ------------------------------------------------------------------------------------------------------ */

static void check_runs(bool policy, int threads)
{
    rapt_model *m = new_model(policy);
    rapt_translation want[OPTION_COUNT][LINES], base[LINES], out[LINES];
    const rapt_translate_options own = {TRANSLATE_DEFAULTS, .beam = 2, .n_best = 2, .prefix = "w8", .tokens = true, .batch = 4,
                                        .compute.threads = threads};
    rapt_translator *t = new_translator(m, own);
    reference(m, &own, base);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        reference(m, &OPTIONS[i], want[i]);
    for (size_t i = 0; i < 4 * OPTION_COUNT; i++) {
        const size_t o = i * 5 % OPTION_COUNT; /* narrow beams after wide ones, and the other way */
        run(t, (rapt_translator_request){.options = &OPTIONS[o]}, out);
        for (size_t j = 0; j < LINES; j++)
            assert_same(&out[j], &want[o][j]);
        rapt_translations_free(out, LINES);
        run(t, (rapt_translator_request){0}, out);
        for (size_t j = 0; j < LINES; j++)
            assert_same(&out[j], &base[j]);
        rapt_translations_free(out, LINES);
    }
    for (size_t i = 0; i < OPTION_COUNT; i++)
        rapt_translations_free(want[i], LINES);
    rapt_translations_free(base, LINES);
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void options_of_runs_are_those_of_new_translators(void **state)
{
    (void)state;
    for (int policy = 0; policy < 2; policy++) {
        check_runs(policy, 1);
        check_runs(policy, 2);
        check_runs(policy, 5);
    }
}

/* What is packed stays: precision and KV cache of a run's options are not read. */
static void what_is_fixed_stays(void **state)
{
    (void)state;
    rapt_model *m = new_model(false);
    rapt_translation want[LINES], out[LINES];
    const rapt_translate_options fixed = {TRANSLATE_DEFAULTS, .compute.kv_cache = RAPT_TYPE_BF16, .as_tokens = true};
    const rapt_translate_options own = {TRANSLATE_DEFAULTS, .compute.kv_cache = RAPT_TYPE_Q8_0};
    rapt_translator *t = new_translator(m, fixed);
    reference(m, &fixed, want);
    run(t, (rapt_translator_request){.options = &own}, out);
    for (size_t i = 0; i < LINES; i++)
        assert_same(&out[i], &want[i]);
    rapt_translations_free(want, LINES);
    rapt_translations_free(out, LINES);
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void refuse(rapt_translator *t, rapt_translate_options o, const char *message)
{
    rapt_translation out[LINES];
    rapt_error err = {0}, again = {0};
    assert_int_equal(rapt_translator_check(t, &o, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.options = &o}, TEXTS_OF(LINE, LINES), LINES, out, &again),
                     RAPT_ERR_VALUE);
    assert_string_equal(again.message, message);
    assert_null(out[0].hypotheses);
}

static void options_are_checked(void **state)
{
    (void)state;
    rapt_model *m = new_model(false);
    rapt_translator *t = new_translator(m, TRANSLATE(.compute.threads = 1));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        assert_int_equal(rapt_translator_check(t, &OPTIONS[i], NULL), RAPT_OK);
    assert_int_equal(rapt_translator_check(t, NULL, NULL), RAPT_OK);
    refuse(t, TRANSLATE(.beam = 70000), "a beam of 70000: it is 1 to 65536");
    refuse(t, TRANSLATE(.beam = 2, .n_best = 3),
           "3 hypotheses (--n-best) need a beam (--beam) of as many or more, not 2");
    refuse(t, TRANSLATE(.max_ratio = -1), "a largest ratio of lengths of -1: it is above 0");
    refuse(t, TRANSLATE(.prefix = "w1 zyzzyva"), "the prefix has a word that the model doesn't know");
    rapt_translator_free(t);
    rapt_model_free(m);
}

/* ---- lines that are cancelled ------------------------------------------------------------------------------------- */

typedef struct stops {
    atomic_size_t asked[LINES];
    size_t after[LINES]; /* questions that are answered with no */
    rapt_translator *cancels; /* at question cancel_at of any line */
    size_t cancel_at;
    atomic_size_t all;
} stops;

static bool stop(void *context, size_t line)
{
    stops *s = context;
    if (atomic_fetch_add(&s->all, 1) == s->cancel_at && s->cancels)
        rapt_translator_cancel(s->cancels);
    return atomic_fetch_add(&s->asked[line], 1) >= s->after[line];
}

/* Some lines stop at random steps, some never. */
static size_t check_stops(rapt_translator *t, const rapt_translate_options *o, const rapt_translation *want, uint64_t key)
{
    rapt_translation out[LINES];
    size_t cancelled = 0;
    stops s = {0};
    for (size_t i = 0; i < LINES; i++)
        s.after[i] = rng_below(key, i, 3) == 0 ? SIZE_MAX : rng_below(key, LINES + i, 12);
    run(t, (rapt_translator_request){.options = o, .stop = stop, .context = &s}, out);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(out[i].cancelled, s.asked[i] > s.after[i]);
        cancelled += out[i].cancelled;
        if (!out[i].cancelled) {
            assert_same(&out[i], &want[i]);
            continue;
        }
        assert_int_equal(out[i].count, 1);
        assert_string_equal(out[i].hypotheses[0].text, "");
        assert_null(out[i].source);
    }
    rapt_translations_free(out, LINES);
    return cancelled;
}

static void cancelled_lines_leave_the_others(void **state)
{
    (void)state;
    size_t cancelled = 0, runs = 0;
    for (int policy = 0; policy < 2; policy++) {
        rapt_model *m = new_model(policy);
        for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            rapt_translator *t = new_translator(m, TRANSLATE(.batch = 5, .compute.threads = threads));
            for (size_t o = 0; o < OPTION_COUNT; o++) {
                rapt_translation want[LINES];
                reference(m, &OPTIONS[o], want);
                for (size_t i = 0; i < 8; i++, runs++)
                    cancelled += check_stops(t, &OPTIONS[o], want, rng_mix(1, runs));
                rapt_translations_free(want, LINES);
            }
            rapt_translator_free(t);
        }
        rapt_model_free(m);
    }
    if (!(cancelled > 2 * runs && cancelled < 8 * runs))
        fail_msg("%zu lines of %zu runs were cancelled", cancelled, runs);
}

/* A line is asked about before each of its tokens. */
static void each_step_asks(void **state)
{
    (void)state;
    for (size_t o = 1; o <= 2; o++) {
        rapt_model *m = new_model(false);
        rapt_translator *t = new_translator(m, TRANSLATE(.compute.threads = 1));
        rapt_translation out[LINES];
        stops s = {0};
        memset(s.after, -1, sizeof s.after);
        run(t, (rapt_translator_request){.options = &OPTIONS[o], .stop = stop, .context = &s}, out);
        for (size_t i = 0; i < LINES; i++)
            assert_true(s.asked[i] > out[i].hypotheses[0].token_count || *out[i].hypotheses[0].text == '\0');
        rapt_translations_free(out, LINES);
        rapt_translator_free(t);
        rapt_model_free(m);
    }
}

static void all_lines_may_be_cancelled(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(MAX_LEN, -60); /* translations do not end by themselves */
    for (int threads = 1; threads <= 2; threads++)
        for (size_t after = 0; after <= 3; after++) {
            rapt_translator *t = new_translator(m, TRANSLATE(.compute.threads = threads, .max_ratio = 100));
            rapt_translation out[LINES];
            stops s = {0};
            for (size_t i = 0; i < LINES; i++)
                s.after[i] = after;
            run(t, (rapt_translator_request){.stop = stop, .context = &s}, out);
            for (size_t i = 0; i < LINES; i++)
                assert_int_equal(out[i].cancelled, LINE[i][strspn(LINE[i], " ")] != '\0');
            assert_true(s.all <= LINES * (after + 1) + 1);
            rapt_translations_free(out, LINES);
            rapt_translator_free(t);
        }
    rapt_model_free(m);
}

/* When a run is cancelled, even in the middle of a batch, the callback is not called again. */
static void runs_are_cancelled_within_a_step(void **state)
{
    (void)state;
    for (int policy = 0; policy < 2; policy++) {
        rapt_model *m = new_model(policy);
        m->translation.net->decoder.output.bias->value.data[RAPT_EOS] -= 60;
        for (size_t o = 0; o < 2; o++)
            for (size_t at = 0; at < 60; at += 7) {
                rapt_translator *t = new_translator(m, TRANSLATE(.compute.threads = 1));
                rapt_translation out[LINES];
                rapt_error err = {0};
                stops s = {.cancels = t, .cancel_at = at};
                memset(s.after, -1, sizeof s.after);
                const rapt_translator_request r = {.options = &OPTIONS[o], .stop = stop, .context = &s};
                assert_int_equal(rapt_translator_run(t, &r, TEXTS_OF(LINE, LINES), LINES, out, &err), RAPT_ERR_INTERRUPTED);
                assert_string_equal(err.message, "the translation was cancelled");
                assert_null(out[0].hypotheses);
                assert_int_equal(s.all, at + 1);
                run(t, (rapt_translator_request){0}, out);
                rapt_translations_free(out, LINES);
                rapt_translator_free(t);
            }
        rapt_model_free(m);
    }
}

/* ---- tokens in ---------------------------------------------------------------------------------------------------- */

static const int32_t NO_TOKENS[1];

/* A line's own tokens give what the line gives, beside lines that are texts. */
static void tokens_take_the_place_of_texts(void **state)
{
    (void)state;
    for (int policy = 0; policy < 2; policy++) {
        rapt_model *m = new_model(policy);
        rapt_translation want[LINES], out[LINES];
        rapt_source_tokens tokens[LINES] = {{0}};
        const char *lines[LINES];
        rapt_error err = {0};
        rapt_translator *t = new_translator(m, (rapt_translate_options){TRANSLATE_DEFAULTS, .beam = 2, .tokens = true});
        run(t, (rapt_translator_request){0}, want);
        for (size_t i = 0; i < LINES; i++) {
            const bool text = want[i].split || i % 3 == 2;
            lines[i] = text ? LINE[i] : NULL;
            tokens[i] = text ? (rapt_source_tokens){0}
                             : (rapt_source_tokens){want[i].source_count ? want[i].source : NO_TOKENS, want[i].source_count};
        }
        if (rapt_translator_run(t, &(rapt_translator_request){.tokens = tokens}, TEXTS_OF(lines, LINES), LINES, out, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < LINES; i++)
            assert_same(&out[i], &want[i]);
        rapt_translations_free(want, LINES);
        rapt_translations_free(out, LINES);
        rapt_translator_free(t);
        rapt_model_free(m);
    }
}

/* Words are tokens from RAPT_SPECIALS on. */
static void tokens_are_checked(void **state)
{
    static const int32_t long_ids[MAX_LEN + 3] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    static const int32_t bad_ids[][2] = {{4, MODEL_VOCAB}, {4, -1}, {4, RAPT_EOS}, {4, RAPT_PAD}};
    rapt_model *m = new_model(false);
    rapt_translator *t = new_translator(m, (rapt_translate_options){TRANSLATE_DEFAULTS, .beam = 1, .tokens = true});
    rapt_translation out[2];
    rapt_error err = {0};
    (void)state;
    rapt_source_tokens tokens[2] = {{long_ids, MAX_LEN + 3}, {long_ids, 1}};
    assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.tokens = tokens}, NULL, 2, out, &err), RAPT_OK);
    assert_true(out[0].cut);
    assert_false(out[1].cut);
    assert_memory_equal(out[0].source, long_ids, out[0].source_count * sizeof *long_ids);
    rapt_translations_free(out, 2);
    for (size_t i = 0; i < sizeof bad_ids / sizeof *bad_ids; i++) {
        tokens[1] = (rapt_source_tokens){bad_ids[i], 2};
        err = (rapt_error){0};
        const rapt_translator_request r = {.tokens = tokens};
        assert_int_equal(rapt_translator_run(t, &r, NULL, 2, out, &err), RAPT_ERR_VALUE);
        assert_non_null(strstr(err.message, "line 2: token 2: id "));
    }
    for (size_t i = 0; i < 2; i++) { /* no tokens, and tokens that are nowhere */
        tokens[1] = (rapt_source_tokens){NULL, i};
        err = (rapt_error){0};
        const rapt_translator_request r = {.tokens = tokens};
        assert_int_equal(rapt_translator_run(t, &r, NULL, 2, out, &err), RAPT_ERR_VALUE);
        assert_non_null(strstr(err.message, "line 2 has neither a text nor tokens"));
    }
    assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.reserved = {t}}, NULL, 0, out, &err), RAPT_ERR_VALUE);
    rapt_translator_free(t);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_take_the_place_of_texts), cmocka_unit_test(tokens_are_checked),
        cmocka_unit_test(options_of_runs_are_those_of_new_translators), cmocka_unit_test(what_is_fixed_stays),
        cmocka_unit_test(options_are_checked), cmocka_unit_test(cancelled_lines_leave_the_others),
        cmocka_unit_test(each_step_asks), cmocka_unit_test(all_lines_may_be_cancelled),
        cmocka_unit_test(runs_are_cancelled_within_a_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
