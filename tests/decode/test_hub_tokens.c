/* tests/decode/test_hub_tokens.c: 64 tokens of each family of Hugging Face folders by greedy and by beam search, against
 * generate() of transformers, with config.json of version 5 and of version 4. tests/golden/hub_tokens.json is made by
 * tools/make_hub_tokens.py.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "decode/generator_beam.h"
#include "search/sentence.h"
#include "policy_case.h"
#include "rapt/generate.h"

static void continue_prompt(const policy_case *c, rapt_tape *t, arena *memory, search_result *found)
{
    rapt_error err = {0};
    const generator_beams b = {t, c->m, c->prompt, c->count, c->m->search.beams, c->max_tokens, policy_never, NULL};
    assert_int_equal(generator_beam(&b, c->m->search.repetition_penalty, memory, found, &err), RAPT_OK);
}

static void translate_source(const policy_case *c, rapt_tape *t, sentence *s, search_result *found)
{
    rapt_error err = {0};
    const rapt_search_policy *p = &c->m->search;
    const sentence_net net = {c->m->translation.net, NULL};
    const sentence_model on = {.t = t, .nets = &net, .count = 1, .kv_cache = RAPT_TYPE_FP32};
    const search_options o = {.beam = p->beams, .n_best = p->beams, .length_penalty = p->length_penalty,
                              .no_repeat = p->no_repeat_ngram, .special = c->m->translation.special, .policy = p};
    const sentence_source from = {.ids = c->prompt, .count = c->count, .limit = c->max_tokens, .options = &o};
    if (sentence_run(&on, s, &from, &err))
        fail_msg("%s", err.message);
    *found = search_found(s->search);
}

static void check(const json_t *json, const char *config, int threads, arena *memory, sentence *s)
{
    rapt_error err = {0};
    search_result found = {0};
    const json_t *settings = json_object_get(json, "settings");
    policy_case c = policy_read(json, policy_model(json_string_value(json_object_get(json, "model")), config, settings));
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads}, &err);
    if (c.m->task == RAPT_TASK_TRANSLATION)
        translate_source(&c, t, s, &found);
    else
        continue_prompt(&c, t, memory, &found);
    assert_int_equal(found.count, json_array_size(c.ids));
    for (size_t i = 0; i < found.count; i++) {
        policy_same_ids(json, json_array_get(c.ids, i), found.best[i].tokens, found.best[i].length);
        if (c.m->search.beams > 1)
            assert_true(fabs(found.best[i].score - json_real_value(json_array_get(c.scores, i))) <
                        1e-4 * fmax(1, fabs(found.best[i].score)));
    }
    rapt_tape_free(t);
    rapt_model_free(c.m);
}

static bool has_config_4(const json_t *json)
{
    char path[1024];
    snprintf(path, sizeof path, GOLDEN "%s/config_4.json", json_string_value(json_object_get(json, "model")));
    return file_exists(path);
}

static void tokens_are_the_references(void **state)
{
    (void)state;
    size_t at, older = 0;
    json_t *json, *all = policy_cases("hub_tokens.json", 90);
    arena memory;
    sentence s;
    arena_init(&memory, (size_t)1 << 16);
    assert_int_equal(sentence_init(&s, 1, NULL), RAPT_OK);
    json_array_foreach(all, at, json) {
        check(json, "config.json", 1 + (int)at % 3, &memory, &s);
        if (has_config_4(json)) {
            check(json, "config_4.json", 1, &memory, &s);
            older++;
        }
    }
    assert_true(older >= 36);
    sentence_free(&s);
    arena_free(&memory);
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(tokens_are_the_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
