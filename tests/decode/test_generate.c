/* tests/decode/test_generate.c: generated text is what computing every visible token anew gives, token by token, while the
 * window moves on, with any threads and kernels; seeds, samples, penalties; prompts that are refused.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"

#include "decode/prompt.h"
#include "decode/sampler.h"
#include "options.h"

#define LONG 70 /* new tokens: the window of LM_CONTEXT moves on a dozen times */

typedef struct setting {
    rapt_tape *t;
    rapt_lm *m;
    rapt_tokenizer *k;
} setting;

/* The output matrix is the embedding of every other one: with a large one these would repeat their last token. */
static setting new_setting(size_t variant, const char *isa, int threads)
{
    rapt_lm_config c = lm_variant(variant);
    c.embedding_std = c.tied ? 0.15 : 2;
    return (setting){model_tape(isa, threads), lm_model(&c), case_characters()};
}

static void free_setting(setting *s)
{
    rapt_tape_free(s->t);
    rapt_lm_free(s->m);
    rapt_tokenizer_free(s->k);
}

static rapt_generated generate_sample(const setting *s, const char *start, uint64_t sample, rapt_generate_options o)
{
    rapt_error err = {0};
    rapt_generated result;
    const rapt_model m = case_model(s->m, s->k);
    if (case_generate(s->t, &m, start, sample, &o, &result, &err))
        fail_msg("%s", err.message);
    return result;
}

static char *generate(const setting *s, const char *start, rapt_generate_options o)
{
    rapt_generated result = generate_sample(s, start, 0, o);
    char *text = result.text;
    result.text = NULL;
    rapt_generated_free(&result);
    return text;
}

/* ---- everything anew ------------------------------------------------------------------------------------------ */

/* The number of visible tokens of n, by playing the rule of rapt/lm.h. */
static size_t visible_of(size_t context, size_t n)
{
    size_t held = 0;
    for (size_t i = 0; i < n; i++)
        held = (held == context ? held - context / 2 : held) + 1;
    return held;
}

static size_t largest(const rapt_real *x, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        at = x[i] > x[at] ? i : at;
    return at;
}

static int32_t choose(const setting *s, const rapt_sample_options *o, const rapt_real *logits, const int32_t *ids,
                      size_t count, size_t visible, uint64_t row)
{
    arena scratch;
    sampler how;
    int32_t id;
    size_t history = o->repetition_window ? count : visible;
    sampler_input in = {logits, s->m->config.vocab, row, count, ids + count - history, history};
    if (o->greedy && o->repetition_penalty == RAPT_AS_MODEL)
        return (int32_t)largest(logits, in.vocab);
    arena_init(&scratch, 4096);
    assert_int_equal(sampler_init(&how, o, kernels_of_isa("scalar", NULL), NULL), RAPT_OK);
    assert_int_equal(sampler_choose(&how, &in, &scratch, &id, NULL), RAPT_OK);
    arena_free(&scratch);
    return id;
}

/* Characters are tokens here, so that the text is theirs one after the other. */
static void anew(const setting *s, const char *start, uint64_t sample, const rapt_generate_options *o, char *text,
                 size_t *distinct)
{
    int32_t ids[200], *given;
    size_t count, size, put = 0;
    bool seen[MODEL_VOCAB] = {false};
    assert_int_equal(rapt_tokenizer_encode(s->k, start, &given, &count, NULL), RAPT_OK);
    memcpy(ids, given, count * sizeof *ids);
    free(given);
    for (size_t i = 0; i < o->max_tokens; i++, count++) {
        size_t visible = visible_of(s->m->config.context, count);
        rapt_real *logits = lm_whole(s->t, s->m, ids + count - visible, 1, visible);
        ids[count] = choose(s, &o->sample, logits + (visible - 1) * MODEL_VOCAB, ids, count, visible, sample);
        const char *token = rapt_tokenizer_token(s->k, ids[count], &size);
        memcpy(text + put, token, size);
        put += size;
        *distinct += !seen[ids[count]];
        seen[ids[count]] = true;
        free(logits);
    }
    text[put] = '\0';
}

static void check_anew(size_t variant, const char *start, uint64_t sample, rapt_generate_options o, size_t at_least)
{
    char want[MOST_TEXT];
    size_t distinct = 0;
    setting s = new_setting(variant, NULL, 1 + (int)(variant % 2));
    anew(&s, start, sample, &o, want, &distinct);
    rapt_generated got = generate_sample(&s, start, sample, o);
    assert_string_equal(got.text, want);
    assert_int_equal(got.token_count, o.max_tokens);
    assert_int_equal(got.finish, RAPT_FINISH_LENGTH);
    if (distinct < at_least)
        fail_msg("variant %zu: only %zu tokens", variant, distinct);
    rapt_generated_free(&got);
    free_setting(&s);
}

static void greedy_is_the_argmax_of_all_anew(void **state)
{
    (void)state;
    for (size_t variant = 0; variant < LM_VARIANTS; variant += 5)
        check_anew(variant, variant % 2 ? "abc" : "bananas", 0,
                   GENERATE(.sample.greedy = true, .max_tokens = LONG), 1);
}

static void draws_are_those_of_all_anew(void **state)
{
    static const rapt_logit_bias biases[] = {{1, 0.25}, {2, -5}};
    static const rapt_sample_options options[] = {
        {SAMPLE_DEFAULTS, .temperature = 1, .seed = 1},
        {SAMPLE_DEFAULTS, .temperature = 0.8, .top_k = 20, .seed = 2},
        {SAMPLE_DEFAULTS, .temperature = 1.5, .top_p = 0.9, .seed = 3},
        {SAMPLE_DEFAULTS, .temperature = 1, .repetition_penalty = 1.5, .seed = 4},
        {SAMPLE_DEFAULTS, .temperature = 1, .repetition_penalty = 3, .repetition_window = 3, .seed = 5},
        {SAMPLE_DEFAULTS, .temperature = 1, .repetition_penalty = 3, .repetition_window = 40,
         .seed = 6}, /* further than the model sees */
        {SAMPLE_DEFAULTS, .greedy = true, .repetition_penalty = 2, .seed = 7},
        {SAMPLE_DEFAULTS, .temperature = 1, .typical_p = 0.5, .seed = 9},
        {SAMPLE_DEFAULTS, .temperature = 1, .min_p = 0.05, .biases = biases, .bias_count = 2, .seed = 8},
    };
    (void)state;
    for (size_t variant = 0; variant < LM_VARIANTS; variant += 11) {
        const rapt_sample_options *o = &options[variant % (sizeof options / sizeof *options)];
        check_anew(variant, "abcabc", variant % 4, GENERATE(.sample = *o, LONG), 3);
    }
}

/* More tokens at once than the context has room for. */
static void long_prompts(void **state)
{
    (void)state;
    for (size_t variant = 0; variant < 30; variant += 7)
        check_anew(variant, "abcdefghijklmnopqrstabcdefghijklmnopqrstabcdefg", 0,
                   GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 9}, 20), 3);
}

/* ---- the same, however it is computed -------------------------------------------------------------------------- */

static void any_threads_and_kernels(void **state)
{
    (void)state;
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .top_p = 0.95,
                                                             .repetition_penalty = 1.2, .seed = 3}, LONG};
    for (size_t variant = 0; variant < LM_VARIANTS; variant += 29) {
        setting s = new_setting(variant, "scalar", 1);
        char *want = generate(&s, "abc", o);
        free_setting(&s);
        for (const char *const *isa = kernels_names; *isa; isa++)
            for (int threads = 1; threads <= 3 && kernels_of_isa(*isa, NULL); threads++) {
                s = new_setting(variant, *isa, threads);
                char *got = generate(&s, "abc", o);
                assert_string_equal(got, want);
                free(got);
                free_setting(&s);
            }
        free(want);
    }
}

static void tape_keeps_nothing(void **state)
{
    (void)state;
    setting s = new_setting(3, NULL, 1);
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 5}, LONG};
    char *first = generate(&s, "abc", o), *other = generate(&s, "tsr", o), *again = generate(&s, "abc", o);
    assert_string_equal(first, again);
    free(first);
    free(other);
    free(again);
    free_setting(&s);
}

static void seed_and_sample_count(void **state)
{
    (void)state;
    setting s = new_setting(3, NULL, 1);
    static const uint64_t seeds[] = {0, 1, 2};
    enum { TEXTS = 9 };
    rapt_generated texts[TEXTS];
    for (uint64_t i = 0; i < TEXTS; i++)
        texts[i] = generate_sample(&s, "abc", i % 3, GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = seeds[i / 3]},
                                                              LONG));
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(texts[i].text, texts[j].text);
    for (size_t i = 0; i < TEXTS; i++)
        rapt_generated_free(&texts[i]);
    rapt_generated a = generate_sample(&s, "abc", 0, GENERATE(.sample = {SAMPLE_DEFAULTS, .greedy = true, .seed = 1}, LONG));
    rapt_generated b = generate_sample(&s, "abc", 3, GENERATE(.sample = {SAMPLE_DEFAULTS, .greedy = true, .seed = 2}, LONG));
    assert_string_equal(a.text, b.text);
    rapt_generated_free(&a);
    rapt_generated_free(&b);
    free_setting(&s);
}

/* ---- next-token probabilities --------------------------------------------------------------------------------------- */

static void check_likeliest(const setting *s, rapt_generator *g, const prompt *p, size_t position)
{
    enum { TOP = 7 };
    int32_t ids[TOP];
    double probabilities[TOP], sum = 0;
    rapt_error err = {0};
    size_t visible = visible_of(s->m->config.context, position + 1), first = position + 1 - visible;
    rapt_real *all = lm_whole(s->t, s->m, p->ids + first, 1, visible), *x = all + (visible - 1) * MODEL_VOCAB;
    assert_int_equal(rapt_generator_likeliest(g, TOP, ids, probabilities, &err), RAPT_OK);
    for (size_t i = 0; i < MODEL_VOCAB; i++)
        sum += exp((double)x[i]);
    for (size_t i = 0; i < TOP; i++) {
        size_t best = largest(x, MODEL_VOCAB);
        assert_int_equal(ids[i], best);
        if (fabs(probabilities[i] - exp((double)x[best]) / sum) > 1e-6)
            fail_msg("token %zu has probability %g, not %g", best, probabilities[i], exp((double)x[best]) / sum);
        x[best] = -INFINITY;
    }
    free(all);
}

static void likeliest_at_any_position(void **state)
{
    (void)state;
    rapt_error err = {0};
    prompt p;
    const char *text = "thegirlbehindthedeskofferedmethreeale"; /* characters a to t; three windows */
    setting s = new_setting(50, NULL, 1);
    const rapt_model m = case_model(s.m, s.k);
    rapt_generator *g = generator_on_tape(&m, s.t, NULL, &err);
    assert_int_equal(prompt_encode(&m, text, strlen(text), &p, &err), RAPT_OK);
    assert_int_equal(p.count, strlen(text));
    for (size_t position = 0; position < p.count; position++) { /* one token more each time, twice; all at once */
        assert_int_equal(rapt_generator_append_tokens(g, p.ids + position, 1, &err), RAPT_OK);
        check_likeliest(&s, g, &p, position);
        check_likeliest(&s, g, &p, position);
    }
    for (size_t position = 0; position < p.count; position += 5) {
        assert_int_equal(rapt_generator_begin_tokens(g, p.ids, position + 1, &err), RAPT_OK);
        check_likeliest(&s, g, &p, position);
    }
    rapt_generator_free(g);
    free(p.ids);
    free_setting(&s);
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

static void refused(const setting *s, const char *text, rapt_generate_options o, rapt_code code, const char *message)
{
    rapt_error err = {0};
    case_text got = {.size = 0};
    rapt_generated result;
    const rapt_model m = case_model(s->m, s->k);
    o.on_text = case_take;
    o.context = &got;
    o.compute.threads = 1;
    assert_int_equal(rapt_generate(&m, text, &o, &result, &err), code);
    assert_string_equal(err.message, message);
    assert_int_equal(got.pieces, 0);
    assert_null(result.text);
    assert_int_equal(result.finish, RAPT_FINISH_NONE);
    assert_int_equal(rapt_generate(&m, text, &o, NULL, NULL), code);
}

static void prompts_that_are_refused(void **state)
{
    (void)state;
    setting s = new_setting(3, NULL, 1);
    rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 3}, none = {GENERATE_DEFAULTS};
    refused(&s, "", o, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    refused(&s, "", none, RAPT_ERR_VALUE, "a prompt of at least one token is needed");
    refused(&s, "ab!", o, RAPT_ERR_VALUE, "the prompt: byte 3: character U+0021 is not in the vocabulary");
    refused(&s, "ab\xff", o, RAPT_ERR_FORMAT, "the prompt: byte 3: not UTF-8");
    o.sample.temperature = -1;
    refused(&s, "ab", o, RAPT_ERR_VALUE, "temperature -1: it is a number of 0 or more");
    o.sample.temperature = 1;
    o.stops = (const char *[]){"x", ""};
    o.stop_count = 2;
    refused(&s, "ab", o, RAPT_ERR_VALUE, "stop string 2 is empty");
    free_setting(&s);
}

static void tokens_beyond_the_model(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(4);
    c.vocab = 40;
    setting s = {model_tape(NULL, 1), lm_model(&c), case_characters()};
    rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 3}, none = {GENERATE_DEFAULTS};
    /* a, U+00E0 + 20 (number 20), U+4E00 + 41 (number 41): bytes 1, 2 to 3, 4 to 6 */
    refused(&s, "a\xC3\xB4\xE4\xB8\xA9z", o, RAPT_ERR_VALUE, "the prompt: byte 7: character U+007A is not in the vocabulary");
    refused(&s, "a\xC3\xB4\xE4\xB8\xA9""a", o, RAPT_ERR_VALUE, "token 2, at byte 4 of the prompt, is 41; the model knows 40");
    refused(&s, "a\xC3\xB4\xE4\xB8\xA9""a", none, RAPT_ERR_VALUE, "token 2, at byte 4 of the prompt, is 41; the model knows 40");
    char *text = generate(&s, "a\xC3\xB4", o);
    assert_true(strlen(text) >= 3);
    free(text);
    free_setting(&s);
}

static void words_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"a b c", "b c d"};
    setting s = new_setting(3, NULL, 1);
    rapt_tokenizer_free(s.k);
    s.k = rapt_tokenizer_train_words(lines, 2, &TRAIN_WORDS(), NULL);
    refused(&s, "a b", GENERATE(.max_tokens = 3), RAPT_ERR_VALUE,
            "a tokenizer of words cannot continue a text: its tokens are words without what stands between them");
    free_setting(&s);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    setting s = new_setting(72, NULL, 1);
    rapt_error err = {0};
    rapt_generated got;
    const rapt_model m = case_model(s.m, s.k);
    rapt_param *w = rapt_params_find(s.m->params, "blocks.1.ffn.dense2.weight");
    w->value.data[5] = NAN;
    rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 3};
    assert_int_equal(case_generate(s.t, &m, "abc", 0, &o, &got, &err), RAPT_ERR_NOT_FINITE);
    rapt_generated_free(&got);
    assert_non_null(strstr(err.message, "the logits of position 3 are not finite"));
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_is_the_argmax_of_all_anew), cmocka_unit_test(draws_are_those_of_all_anew),
        cmocka_unit_test(long_prompts),                     cmocka_unit_test(any_threads_and_kernels),
        cmocka_unit_test(tape_keeps_nothing),               cmocka_unit_test(seed_and_sample_count),
        cmocka_unit_test(likeliest_at_any_position),        cmocka_unit_test(prompts_that_are_refused),
        cmocka_unit_test(tokens_beyond_the_model),          cmocka_unit_test(words_are_refused),
        cmocka_unit_test(numbers_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
