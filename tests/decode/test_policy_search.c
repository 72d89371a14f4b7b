/* tests/decode/test_policy_search.c: greedy and beam search with the settings of Hugging Face folders, against what generate() of
 * transformers finds. For src/decode/policy_*.c and generator_beam.c. tests/golden/hub_search.json is made by
 * tools/make_hub_search.py.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/generator_beam.h"
#include "options.h"
#include "policy_case.h"
#include "rapt/generate.h"

static json_t *searches(void)
{
    return policy_cases("hub_search.json", 100);
}

static rapt_model *load_with(const char *name, const json_t *settings)
{
    char path[64];
    snprintf(path, sizeof path, "hub/%s", name);
    return policy_model(path, "config.json", settings);
}

static policy_case golden_read(const json_t *json)
{
    return policy_read(json, load_with(json_string_value(json_object_get(json, "model")), json_object_get(json, "settings")));
}

/* ---- all hypotheses ----------------------------------------------------------------------------------------------- */

static void check_hypotheses(const json_t *json, int threads, arena *memory)
{
    rapt_error err = {0};
    policy_case c = golden_read(json);
    search_result found = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads}, &err);
    const generator_beams b = {t, c.m, c.prompt, c.count, c.m->search.beams, c.max_tokens, policy_never, NULL};
    assert_int_equal(generator_beam(&b, c.m->search.repetition_penalty, memory, &found, &err), RAPT_OK);
    assert_int_equal(found.count, json_array_size(c.ids));
    for (size_t i = 0; i < found.count; i++) {
        policy_same_ids(json, json_array_get(c.ids, i), found.best[i].tokens, found.best[i].length);
        assert_true(fabs(found.best[i].score - json_real_value(json_array_get(c.scores, i))) <
                    1e-4 * fmax(1, fabs(found.best[i].score)));
    }
    rapt_tape_free(t);
    rapt_model_free(c.m);
}

static void beams_are_the_references(void **state)
{
    (void)state;
    size_t at, checked = 0;
    json_t *json, *all = searches();
    arena memory;
    arena_init(&memory, (size_t)1 << 16);
    json_array_foreach(all, at, json) {
        if (!json_object_get(json_object_get(json, "settings"), "num_beams"))
            continue;
        const arena_mark mark = arena_save(&memory);
        check_hypotheses(json, 1 + (int)at % 3, &memory);
        arena_release(&memory, mark);
        checked++;
    }
    assert_true(checked >= 90);
    arena_free(&memory);
    json_decref(all);
}

/* ---- the generator ------------------------------------------------------------------------------------------------ */

/* The end of text is not among the tokens of a generator. */
static void generators_find_the_best(void **state)
{
    (void)state;
    size_t at;
    json_t *json, *all = searches();
    json_array_foreach(all, at, json) {
        rapt_error err = {0};
        rapt_generated out;
        policy_case c = golden_read(json);
        bool greedy = c.m->search.beams == 1;
        json_t *best = json_array_get(c.ids, 0);
        rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = c.max_tokens, .compute.threads = 2, .sample.greedy = greedy};
        rapt_generator *g = rapt_generator_new(c.m, &o, &err);
        assert_int_equal(rapt_generator_begin_tokens(g, c.prompt, c.count, &err), RAPT_OK);
        assert_int_equal(rapt_generator_run(g, 0, &out, &err), RAPT_OK);
        if (out.finish == RAPT_FINISH_END_OF_TEXT)
            assert_int_equal(json_array_remove(best, json_array_size(best) - 1), 0);
        policy_same_ids(json, best, out.tokens, out.token_count);
        if (!greedy)
            assert_true(fabs(out.score - json_real_value(json_array_get(c.scores, 0))) < 1e-4 * fmax(1, fabs(out.score)));
        rapt_generated_free(&out);
        rapt_generator_free(g);
        rapt_model_free(c.m);
    }
    json_decref(all);
}

/* One beam is greedy search, with rules on logits: the same as the sampler's greedy way. */
static void one_beam_is_greedy_search(void **state)
{
    (void)state;
    size_t at, checked = 0;
    json_t *json, *all = searches();
    arena memory;
    arena_init(&memory, (size_t)1 << 16);
    json_array_foreach(all, at, json) {
        rapt_error err = {0};
        search_result found = {0};
        if (json_object_get(json_object_get(json, "settings"), "num_beams"))
            continue;
        policy_case c = golden_read(json);
        rapt_tape *t = rapt_tape_new(NULL, &err);
        const generator_beams b = {t, c.m, c.prompt, c.count, 1, c.max_tokens, policy_never, NULL};
        assert_int_equal(generator_beam(&b, c.m->search.repetition_penalty, &memory, &found, &err), RAPT_OK);
        assert_int_equal(found.count, 1);
        policy_same_ids(json, json_array_get(c.ids, 0), found.best[0].tokens, found.best[0].length);
        assert_true(found.best[0].log_prob <= 0 && found.best[0].log_prob > -1e3);
        rapt_tape_free(t);
        rapt_model_free(c.m);
        checked++;
    }
    assert_true(checked >= 6);
    arena_free(&memory);
    json_decref(all);
}

/* ---- bits --------------------------------------------------------------------------------------------------------- */

/* Whatever the threads, and whatever text a generator had before. */
static void scores_have_the_same_bits(void **state)
{
    (void)state;
    static const int32_t prompt[] = {12, 200, 7, 90, 33}, other[] = {5, 5, 9};
    json_t *settings = json_pack("{s:i, s:f, s:i, s:f}", "num_beams", 4, "length_penalty", 0.6, "no_repeat_ngram_size", 2,
                                 "repetition_penalty", 1.2);
    rapt_model *m = load_with("llama", settings);
    rapt_generated first = {0};
    for (int threads = 1; threads <= 4; threads++) {
        rapt_error err = {0};
        rapt_generated out;
        rapt_generator *g = rapt_generator_new(m, &GENERATE(.max_tokens = 12, .compute.threads = threads), &err);
        assert_int_equal(rapt_generator_begin_tokens(g, other, 1 + (size_t)threads % 3, &err), RAPT_OK);
        assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_OK);
        assert_int_equal(rapt_generator_begin_tokens(g, prompt, 2, &err), RAPT_OK);
        assert_int_equal(rapt_generator_append_tokens(g, prompt + 2, 3, &err), RAPT_OK);
        assert_int_equal(rapt_generator_run(g, 0, &out, &err), RAPT_OK);
        if (threads == 1) {
            first = out;
        } else {
            assert_int_equal(out.token_count, first.token_count);
            assert_memory_equal(out.tokens, first.tokens, out.token_count * sizeof *out.tokens);
            assert_memory_equal(&out.score, &first.score, sizeof out.score);
            rapt_generated_free(&out);
        }
        rapt_generator_free(g);
    }
    rapt_generated_free(&first);
    rapt_model_free(m);
    json_decref(settings);
}

/* ---- limits ------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_searched_is_refused(void **state)
{
    (void)state;
    int32_t text[100] = {0};
    json_t *settings = json_pack("{s:i}", "num_beams", 3);
    rapt_model *m = load_with("llama", settings);
    rapt_error err = {0};
    rapt_generated out;
    rapt_logit_bias bias = {3, 1};
    assert_null(rapt_generator_new(m, &GENERATE(.sample = {SAMPLE_DEFAULTS, .biases = &bias, .bias_count = 1}), &err));
    assert_string_equal(err.message, "beam search, of 3 beams, takes no logit bias; --beam 1 turns it off");
    err = (rapt_error){0};
    assert_null(rapt_generator_new(m, &GENERATE(.sample.repetition_window = 4), &err));
    assert_string_equal(err.message, "beam search, of 3 beams, takes no repetition window; --beam 1 turns it off");
    rapt_generator *g = rapt_generator_new(m, NULL, &err);
    err = (rapt_error){0};
    assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_ERR_VALUE);
    assert_int_equal(rapt_generator_begin_tokens(g, text, 97, &err), RAPT_OK);
    err = (rapt_error){0};
    assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "beam search continues texts of up to the model's context, 96 tokens; this one has 97");
    assert_int_equal(rapt_generator_rewind(g, 90, &err), RAPT_OK); /* room for 7 tokens: the last one is not continued */
    assert_int_equal(rapt_generator_run(g, 0, &out, &err), RAPT_OK);
    assert_true(out.token_count <= 7);
    assert_int_equal(out.finish, out.token_count == 7 ? RAPT_FINISH_LENGTH : RAPT_FINISH_END_OF_TEXT);
    rapt_generated_free(&out);
    assert_int_equal(rapt_generator_rewind(g, 90, &err), RAPT_OK);
    rapt_generator_cancel(g);
    assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_ERR_INTERRUPTED);
    rapt_generator_free(g);
    rapt_model_free(m);
    json_decref(settings);
}

/* Asked for the third time. */
static bool third_time(void *context)
{
    return ++*(size_t *)context == 3;
}

static void searches_can_be_stopped(void **state)
{
    (void)state;
    size_t asked = 0;
    json_t *settings = json_pack("{s:i, s:i}", "num_beams", 3, "min_new_tokens", 9);
    rapt_model *m = load_with("llama", settings);
    rapt_error err = {0};
    rapt_generated out;
    const rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 9, .compute.threads = 1, .stop = third_time,
                                     .context = &asked};
    assert_int_equal(rapt_generate(m, "a", &o, &out, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the generation was cancelled");
    assert_int_equal(asked, 3);
    assert_int_equal(out.token_count, 0);
    assert_int_equal(out.finish, RAPT_FINISH_NONE);
    rapt_generated_free(&out);
    rapt_model_free(m);
    json_decref(settings);
}

static void settings_that_leave_no_token_are_an_error(void **state)
{
    (void)state;
    for (int renormalized = 0; renormalized < 2; renormalized++) {
        json_t *settings = json_pack("{s:i, s:i, s:[i], s:b}", "num_beams", 3, "forced_bos_token_id", 9, "suppress_tokens", 9,
                                     "renormalize_logits", renormalized);
        rapt_model *m = load_with("gpt2", settings);
        rapt_error err = {0};
        const int32_t text[] = {4};
        rapt_generator *g = rapt_generator_new(m, NULL, &err);
        assert_int_equal(rapt_generator_begin_tokens(g, text, 1, &err), RAPT_OK);
        assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, "the model's generation settings exclude every token at position 1");
        rapt_generator_free(g);
        rapt_model_free(m);
        json_decref(settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(beams_are_the_references), IN_FOLDER(generators_find_the_best), IN_FOLDER(one_beam_is_greedy_search),
        IN_FOLDER(scores_have_the_same_bits), IN_FOLDER(what_cannot_be_searched_is_refused),
        IN_FOLDER(searches_can_be_stopped), IN_FOLDER(settings_that_leave_no_token_are_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
