/* tests/decode/test_translate_sampling.c: translations that are drawn: their distribution against all translations that there
 * are, written down with their probabilities; the same ones in whatever portions, batches and threads; what is refused.
 * labels: levels sanitized-late raced-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

#define WORDS 10
#define LIMIT 3 /* tokens of a translation, with <eos> */
#define OUTCOMES 1000
#define PORTION 10000

/* A vocabulary of ten, and translations of up to three tokens. */
static rapt_model *small_model(void)
{
    const char *line = "w0 w1 w2 w3 w4 w5";
    rapt_error err = {0};
    rapt_transformer_config c = model_config(RAPT_NORM_PLACE_POST, false);
    c.source_vocab = c.target_vocab = WORDS;
    c.layers = 1;
    c.block.d_model = 12;
    c.block.ffn = 16;
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.special = RAPT_SPECIAL_IDS, .translation.max_len = LIMIT,
                      .translation.pad_to_max = true, .translation.net = model_of(c)};
    m->params = m->translation.net->params;
    m->translation.source = m->translation.target = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), &err);
    assert_non_null(m->translation.source);
    assert_int_equal(rapt_tokenizer_size(m->translation.source), WORDS);
    m->translation.net->decoder.output.bias->value.data[RAPT_EOS] += 1;
    return m;
}

/* ---- all translations ------------------------------------------------------------------------------------------------- */

/* The distribution after the steps of rapt/generate.h, by sorting. */
static void exact_distribution(const rapt_real *x, const rapt_sample_options *o, double *p)
{
    double sum = 0, kept = 0, left = 0;
    size_t order[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        size_t at = i;
        for (; at > 0 && x[i] > x[order[at - 1]]; at--)
            order[at] = order[at - 1];
        order[at] = i;
        p[i] = exp((double)x[i] / o->temperature);
    }
    for (size_t i = 0; i < WORDS; i++)
        if (o->top_k > 0 && i >= o->top_k)
            p[order[i]] = 0;
        else
            sum += p[order[i]];
    for (size_t i = 0; i < WORDS; i++) {
        if (kept >= o->top_p * sum)
            p[order[i]] = 0;
        kept += p[order[i]];
    }
    for (size_t i = 0; i < WORDS; i++)
        left += p[i];
    for (size_t i = 0; i < WORDS; i++)
        p[i] /= left;
}

typedef struct outcomes {
    const rapt_model *m;
    rapt_tape *t;
    rapt_sample_options o;
    double p[OUTCOMES], log_p[OUTCOMES]; /* with the options; the model's own */
    size_t counts[OUTCOMES], draws;
} outcomes;

/* A number of the tokens without <eos>, different for each translation. */
static size_t outcome_of(const int32_t *tokens, size_t count)
{
    size_t number = 0;
    for (size_t i = 0; i < LIMIT; i++)
        number = number * WORDS + (size_t)(i < count ? tokens[i] : RAPT_EOS);
    return number;
}

static void write_down(outcomes *all, int32_t *row, size_t length, double p, double log_p)
{
    int32_t source[] = {4, 5, RAPT_EOS};
    double next[WORDS], own[WORDS];
    if (length == LIMIT || (length > 0 && row[length] == RAPT_EOS)) {
        const size_t to = outcome_of(row + 1, row[length] == RAPT_EOS ? length - 1 : length);
        all->p[to] = p;
        all->log_p[to] = log_p;
        return;
    }
    rapt_tape_begin(all->t, (rapt_pass){0});
    rapt_tensor *y = rapt_transformer_forward(all->t, all->m->translation.net, (rapt_tokens){source, 1, LIMIT}, NULL,
                                              (rapt_tokens){row, 1, length + 1});
    exact_distribution(y->data + length * WORDS, &all->o, next);
    exact_distribution(y->data + length * WORDS, &(rapt_sample_options){.temperature = 1, .top_p = 1}, own);
    for (int32_t token = 0; token < WORDS; token++) {
        row[length + 1] = token;
        write_down(all, row, length + 1, p * next[token], log_p + log(own[token]));
    }
}

/* What a chi-square variable with these degrees of freedom exceeds once in 30,000 times (4 deviations of the normal
 * approximation of its cube root: Wilson & Hilferty 1931). */
static double chi_square_bound(double freedom)
{
    double variance = 2 / (9 * freedom);
    return freedom * pow(1 - variance + 4 * sqrt(variance), 3);
}

/* Translations that are expected less than 5 times count as one. */
static void check_counts(const outcomes *all)
{
    double rare = 0, rare_count = 0, sum = 0, bins = -1, total = 0;
    for (size_t i = 0; i < OUTCOMES; i++) {
        const double expected = all->p[i] * (double)all->draws, difference = (double)all->counts[i] - expected;
        total += all->p[i];
        if (all->p[i] == 0)
            assert_int_equal(all->counts[i], 0);
        if (expected < 5) {
            rare += expected;
            rare_count += (double)all->counts[i];
            continue;
        }
        sum += difference * difference / expected;
        bins++;
    }
    if (rare > 1) {
        sum += (rare_count - rare) * (rare_count - rare) / rare;
        bins++;
    }
    print_message("  T %g, k %zu, p %g: chi-square %.1f with %g degrees\n", all->o.temperature, all->o.top_k, all->o.top_p, sum,
                  bins);
    assert_true(fabs(total - 1) < 1e-9);
    assert_true(bins > 0 && sum < chi_square_bound(bins));
}

static void draw_all(outcomes *all, rapt_sample_options sample)
{
    static rapt_text lines[PORTION];
    static rapt_translation out[PORTION];
    rapt_error err = {0};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .sample = sample, .batch = 500, .tokens = true};
    rapt_translator *t = rapt_translator_new(all->m, &o, &err);
    assert_non_null(t);
    for (size_t i = 0; i < PORTION; i++)
        lines[i] = rapt_text_of("w0 w1");
    for (size_t first = 0; first < all->draws; first += PORTION) {
        const rapt_translator_request r = {.first_line = first};
        assert_int_equal(rapt_translator_run(t, &r, lines, PORTION, out, &err), RAPT_OK);
        for (size_t i = 0; i < PORTION; i++) {
            const rapt_hypothesis *h = &out[i].hypotheses[0];
            const size_t number = outcome_of(h->tokens, h->token_count);
            all->counts[number]++;
            assert_true(fabs(h->log_prob - all->log_p[number]) < 1e-4);
        }
        rapt_translations_free(out, PORTION);
    }
    rapt_translator_free(t);
}

static void draws_have_the_distribution_of_all_translations(void **state)
{
    static const rapt_sample_options samples[] = {
        {SAMPLE_DEFAULTS, .temperature = 1},
        {SAMPLE_DEFAULTS, .temperature = 0.5, .top_k = 6, .seed = 2},
        {SAMPLE_DEFAULTS, .top_p = 0.8, .seed = 3},
    };
    static outcomes all;
    rapt_model *m = small_model();
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        int32_t row[LIMIT + 1] = {RAPT_BOS};
        all = (outcomes){.m = m, .t = model_tape(NULL, 1), .o = samples[i], .draws = i == 0 ? 100000 : 30000};
        all.o.temperature = i == 1 ? 0.5 : 1;
        all.o.top_k = i == 1 ? 6 : 0;
        all.o.top_p = i == 2 ? 0.8 : 1;
        write_down(&all, row, 0, 1, 0);
        draw_all(&all, samples[i]);
        check_counts(&all);
        rapt_tape_free(all.t);
    }
    rapt_model_free(m);
}

/* ---- the same bytes --------------------------------------------------------------------------------------------------- */

#define LINES 14

static const char *const LINE[LINES] = {
    "w1 w2 w3", "", "zyzzyva", "w4", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */, "   ",
    "w9 w8 w7 w6 w5 w4", "w11 w12", "w1 w2 w3" /* the first again */, "w2 w2 w2 w2", "w20 w21 w22 w23 w24",
    "w3 w4 w5 w6 w7 w8 w9 w1 w2 w3 w4 w5 w6 w7 w8 w9", "w4",
};

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    assert_int_equal(a->count, b->count);
    assert_string_equal(a->hypotheses[0].text, b->hypotheses[0].text);
    assert_memory_equal(&a->hypotheses[0].log_prob, &b->hypotheses[0].log_prob, sizeof(double));
}

/* Portions of 14, 1, 2, 3, ... lines. */
static void check_portions(const rapt_model *m, rapt_translate_options o, const rapt_translation *want)
{
    rapt_error err = {0};
    rapt_translation out[LINES];
    rapt_text lines[LINES];
    texts_fill(lines, LINE, LINES);
    rapt_translator *t = rapt_translator_new(m, &o, &err);
    assert_non_null(t);
    for (size_t portion = 1; portion <= LINES; portion++)
        for (size_t first = 0; first < LINES; first += portion) {
            const size_t count = LINES - first < portion ? LINES - first : portion;
            const rapt_translator_request r = {.options = portion % 2 ? &o : NULL, .first_line = first};
            assert_int_equal(rapt_translator_run(t, &r, lines + first, count, out, &err), RAPT_OK);
            for (size_t i = 0; i < count; i++)
                assert_same(&out[i], &want[first + i]);
            rapt_translations_free(out, count);
        }
    rapt_translator_free(t);
}

static void check_same_draws(const rapt_model *m)
{
    rapt_translation want[LINES];
    rapt_error err = {0};
    rapt_translate_options o = {TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1.3, .seed = 9},
                                .compute = {.threads = 1, .isa = "scalar"}};
    assert_int_equal(rapt_translate(m, LINE, LINES, &o, want, &err), RAPT_OK);
    assert_string_not_equal(want[0].hypotheses[0].text, want[9].hypotheses[0].text); /* of one sentence, in two lines */
    o.compute.isa = NULL;
    for (int threads = 1; threads <= 3; threads++)
        for (size_t batch = 1; batch <= 16; batch *= 4) {
            o.compute.threads = threads;
            o.batch = batch;
            check_portions(m, o, want);
        }
    rapt_translations_free(want, LINES);
}

static void draws_depend_on_seed_line_and_position(void **state)
{
    rapt_model *m = case_translation_model(8, 1);
    (void)state;
    check_same_draws(m);
    m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 0.7, .repetition_penalty = 1.1,
                                     .max_length = 14, .no_repeat_ngram = 2};
    check_same_draws(m);
    rapt_model_free(m);
}

/* The segments of a line draw different numbers. */
static void segments_of_a_line_draw_by_themselves(void **state)
{
    static const char *const lines[] = {"w1 w2 w3 w4 w5 w6 w7 w1 w2 w3 w4 w5 w6 w7"}, *const part[] = {"w1 w2 w3 w4 w5 w6 w7"};
    rapt_model *m = case_translation_model(8, 1);
    rapt_translation whole[1], first[1], second[1];
    rapt_error err = {0};
    char joined[2000];
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .top_k = 20}};
    (void)state;
    assert_int_equal(rapt_translate(m, lines, 1, &o, whole, &err), RAPT_OK);
    rapt_translator *t = rapt_translator_new(m, &o, &err);
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(part, 1), 1, first, &err), RAPT_OK);
    const rapt_translator_request r = {.first_line = (size_t)((uint64_t)1 << 40)};
    if (r.first_line == 0)
        skip(); /* a size has 32 bits */
    assert_int_equal(rapt_translator_run(t, &r, TEXTS_OF(part, 1), 1, second, &err), RAPT_OK);
    snprintf(joined, sizeof joined, "%s %s", first[0].hypotheses[0].text, second[0].hypotheses[0].text);
    assert_string_equal(whole[0].hypotheses[0].text, joined);
    assert_string_not_equal(first[0].hypotheses[0].text, second[0].hypotheses[0].text);
    rapt_translations_free(whole, 1);
    rapt_translations_free(first, 1);
    rapt_translations_free(second, 1);
    rapt_translator_free(t);
    rapt_model_free(m);
}

/* ---- greedy search and refusals ---------------------------------------------------------------------------------------- */

static void temperature_0_and_one_token_are_greedy(void **state)
{
    static const rapt_sample_options samples[] = {{SAMPLE_DEFAULTS, .temperature = 0}, {SAMPLE_DEFAULTS, .greedy = true},
                                                  {SAMPLE_DEFAULTS, .top_k = 1, .temperature = 2}};
    rapt_model *m = case_translation_model(8, 1);
    rapt_translation want[LINES], out[LINES];
    rapt_error err = {0};
    (void)state;
    assert_int_equal(rapt_translate(m, LINE, LINES, NULL, want, &err), RAPT_OK);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const rapt_translate_options o = {TRANSLATE_DEFAULTS, .sample = samples[i]};
        assert_int_equal(rapt_translate(m, LINE, LINES, &o, out, &err), RAPT_OK);
        for (size_t j = 0; j < LINES; j++)
            assert_same(&out[j], &want[j]);
        rapt_translations_free(out, LINES);
    }
    rapt_translations_free(want, LINES);
    rapt_model_free(m);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const rapt_logit_bias bias = {5, 1};
    static const struct {
        rapt_translate_options o;
        const char *message;
    } refused[] = {
        {{TRANSLATE_DEFAULTS, .beam = 4, .sample = {SAMPLE_DEFAULTS, .temperature = 1}},
         "a beam of 4 does not sample: temperature, greedy, top_k, top_p, min_p and typical_p go with a beam of 1"},
        {{TRANSLATE_DEFAULTS, .beam = 2, .sample = {SAMPLE_DEFAULTS, .temperature = 0}},
         "a beam of 2 does not sample: temperature, greedy, top_k, top_p, min_p and typical_p go with a beam of 1"},
        {{TRANSLATE_DEFAULTS, .n_best = 2, .sample = {SAMPLE_DEFAULTS, .top_k = 5}},
         "2 hypotheses (--n-best) need a beam (--beam) of as many or more, not 1"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = -1}}, "temperature -1: it is a number of 0 or more"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .top_p = 0}}, "top-p 0: a probability above 0, at most 1"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .biases = &bias, .bias_count = 1}}, "translations take no logit bias"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .repetition_window = 5}}, "translations take no repetition window"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .presence_penalty = 1}}, "translations take no presence penalty"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .frequency_penalty = 1}}, "translations take no frequency penalty"},
        {{TRANSLATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .repetition_penalty = 0}},
         "repetition penalty 0: it is from 0.001 to 1000"},
    };
    rapt_model *m = case_translation_model(8, 1);
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rapt_error err = {0};
        rapt_translator *t = rapt_translator_new(m, NULL, &err);
        assert_null(rapt_translator_new(m, &refused[i].o, &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        assert_string_equal(err.message, refused[i].message);
        err = (rapt_error){0};
        assert_int_equal(rapt_translator_check(t, &refused[i].o, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, refused[i].message);
        rapt_translator_free(t);
    }
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_distribution_of_all_translations),
        cmocka_unit_test(draws_depend_on_seed_line_and_position),
        cmocka_unit_test(segments_of_a_line_draw_by_themselves),
        cmocka_unit_test(temperature_0_and_one_token_are_greedy),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
