/* tests/engine/test_forked.c: a child of fork(), as Python's multiprocessing makes, computes with its parent's translator and
 * generator and frees them; an engine refuses there, and does not wait for its thread.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "engine/gate.h"
#include "engine/lm_requests.h"
#include "forked.h"
#include "options.h"
#include "rapt/engine.h"
#include "texts.h"

enum { CHILDREN = 5, TOKENS = 20 };

static const char *const LINE = "w1 w2 w3 w4";

/* ---- models --------------------------------------------------------------------------------------------------------- */

typedef struct models {
    rapt_model *translation, *language;
    rapt_translator *t;
    rapt_generator *g;
    char translated[512], generated[512];
} models;

static bool translate(rapt_translator *t, char out[512])
{
    rapt_translation got;
    if (rapt_translator_run(t, NULL, TEXTS_OF(&LINE, 1), 1, &got, NULL) != RAPT_OK)
        return false;
    snprintf(out, 512, "%.17g %s", got.hypotheses[0].score, got.hypotheses[0].text);
    rapt_translations_free(&got, 1);
    return true;
}

static bool generate(rapt_generator *g, char out[512])
{
    rapt_generated got;
    if (rapt_generator_begin(g, "abc", 3, NULL) != RAPT_OK || rapt_generator_run(g, 0, &got, NULL) != RAPT_OK)
        return false;
    snprintf(out, 512, "%.17g %s", got.log_probs[got.token_count - 1], got.text);
    rapt_generated_free(&got);
    return true;
}

static bool same_in_a_child(void *context)
{
    models *m = context;
    char translated[512], generated[512];
    const bool same = translate(m->t, translated) && generate(m->g, generated) && !strcmp(translated, m->translated) &&
                      !strcmp(generated, m->generated);
    rapt_translator_free(m->t);
    rapt_generator_free(m->g);
    rapt_model_free(m->translation);
    rapt_model_free(m->language);
    return same;
}

static void children_compute_and_free(void **state)
{
    (void)state;
    models m = {.translation = case_translation_model(20, 0), .language = request_model(0)};
    m.t = rapt_translator_new(m.translation, &TRANSLATE(.beam = 4, .compute.threads = 2), NULL);
    m.g = rapt_generator_new(m.language, &GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 4}, .max_tokens = TOKENS,
                                                                  .compute.threads = 2), NULL);
    assert_true(m.t && m.g);
    for (int i = 0; i < CHILDREN; i++) {
        assert_true(translate(m.t, m.translated));
        assert_true(generate(m.g, m.generated));
        usleep(i % 2 ? 20000 : 0); /* its threads are asleep, or still wait awake */
        assert_true(forked_is_fine(same_in_a_child, &m));
    }
    rapt_translator_free(m.t);
    rapt_generator_free(m.g);
    rapt_model_free(m.translation);
    rapt_model_free(m.language);
}

/* ---- an engine ------------------------------------------------------------------------------------------------------ */

typedef struct engine_case {
    rapt_engine *engine;
    rapt_engine_model *model;
    rapt_engine_job *job;
} engine_case;

static bool refused_in_a_child(void *context)
{
    engine_case *c = context;
    rapt_error err = {0};
    const rapt_engine_translation request = {.lines = TEXTS_OF(&LINE, 1), .count = 1};
    const bool refused = rapt_engine_translate(c->model, &request, NULL, &err) == RAPT_ERR_VALUE &&
                         strstr(err.message, "forked") &&
                         rapt_engine_call(c->model, wait_at_gate, NULL, NULL, NULL, NULL) == RAPT_ERR_VALUE &&
                         rapt_engine_model_counts(c->model).running == 0 &&
                         !rapt_engine_add(c->engine, case_translation_model(20, 0), NULL, NULL);
    rapt_engine_cancel(c->job);
    rapt_engine_job_free(c->job);
    rapt_engine_remove(c->model);
    rapt_engine_free(c->engine);
    return refused;
}

static void engines_refuse_in_children(void **state)
{
    (void)state;
    gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};
    engine_case c = {.engine = rapt_engine_new(&ENGINE(.threads = 2), NULL)};
    c.model = rapt_engine_add(c.engine, case_translation_model(20, 0), NULL, NULL);
    assert_int_equal(rapt_engine_call(c.model, wait_at_gate, NULL, &g, &c.job, NULL), RAPT_OK);
    for (int i = 0; i < CHILDREN; i++)
        assert_true(forked_is_fine(refused_in_a_child, &c));
    open_gate(&g);
    rapt_engine_job_free(c.job);
    rapt_engine_free(c.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(children_compute_and_free), cmocka_unit_test(engines_refuse_in_children)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
