/* tests/decode/test_shared_model.c: one const model serves eight threads at once, without a lock: each with a translator or a
 * generator of its own, made while others are at work. Results equal one thread's, byte for byte. Under the thread sanitizer
 * (.ci/run threads) it shows that inference writes to nothing that is shared.
 * labels: threads */
#define _GNU_SOURCE /* barriers */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

#include <pthread.h>

enum { THREADS = 8, LINES = 12, ROUNDS = 2, TOKENS = 30 };

static const char *const LINE[LINES] = {"w1 w2 w3", "", "w4", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8 w9", "w30",
                                        "w9 w8 w7 w6 w5 w4", "w11 w12", "w0 w0 w0", "w40 w41 w42 w43", "w5 w5", "w17 w3 w21"};

typedef struct models {
    const rapt_model *translation, *language;
} models;

/* What each kind of work gives: the texts and numbers of its results, one after the other. */
typedef struct outcome {
    char text[4096];
    double numbers[512];
    size_t size, count;
} outcome;

static bool put(outcome *o, const char *text, const double *numbers, size_t count)
{
    size_t size = strlen(text) + 1;
    if (o->size + size > sizeof o->text || o->count + count > sizeof o->numbers / sizeof *o->numbers)
        return false;
    memcpy(o->text + o->size, text, size);
    memcpy(o->numbers + o->count, numbers, count * sizeof *numbers);
    o->size += size;
    o->count += count;
    return true;
}

/* With a precision and a beam that depend on the kind. No cmocka here: it is not for threads. */
static bool translate(const rapt_model *m, int kind, outcome *o)
{
    const rapt_translate_options options = {TRANSLATE_DEFAULTS, .beam = (size_t)(1 + 3 * (kind % 2)), .batch = 5,
                                            .compute.threads = 1 + kind % 2,
                                            .compute.type = kind / 2 ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32};
    rapt_translation out[LINES];
    rapt_translator *t = rapt_translator_new(m, &options, NULL);
    bool ok = t != NULL;
    for (int round = 0; ok && round < ROUNDS; round++) {
        ok = rapt_translator_run(t, NULL, TEXTS_OF(LINE, LINES), LINES, out, NULL) == RAPT_OK;
        for (size_t i = 0; ok && i < LINES; i++)
            ok = put(o, out[i].hypotheses[0].text, &out[i].hypotheses[0].score, 1);
        rapt_translations_free(out, ok ? LINES : 0);
    }
    rapt_translator_free(t);
    return ok;
}

static bool generate(const rapt_model *m, int kind, outcome *o)
{
    const rapt_generate_options options = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 4,
                                                                         .greedy = kind == 1}, .max_tokens = TOKENS,
                                           .compute.threads = 1 + kind % 2,
                                           .compute.type = kind / 2 ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32};
    rapt_generator *g = rapt_generator_new(m, &options, NULL);
    bool ok = g && rapt_generator_begin(g, "abc", 3, NULL) == RAPT_OK;
    for (uint64_t sample = 0; ok && sample < ROUNDS; sample++) {
        rapt_generated got;
        ok = rapt_generator_run(g, sample, &got, NULL) == RAPT_OK && put(o, got.text, got.log_probs, got.token_count) &&
             rapt_generator_rewind(g, 3, NULL) == RAPT_OK;
        rapt_generated_free(&got);
    }
    rapt_generator_free(g);
    return ok;
}

/* Four kinds of translating and four of generating. */
static bool work(const models *m, int index, outcome *o)
{
    return index % 2 ? translate(m->translation, index / 2 % 4, o) : generate(m->language, index / 2 % 4, o);
}

typedef struct worker {
    const models *m;
    int index;
    pthread_barrier_t *start;
    outcome outcome;
    bool ok;
} worker;

static void *run(void *context)
{
    worker *w = context;
    pthread_barrier_wait(w->start); /* all at once */
    w->ok = work(w->m, w->index, &w->outcome);
    return NULL;
}

static void eight_threads_share_a_model(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(43);
    c.embedding_std = c.tied ? 0.15 : 2;
    rapt_model *translation = case_translation_model(8, 2), language = case_model(lm_model(&c), case_characters());
    const models m = {translation, &language};
    worker *w = calloc(THREADS, sizeof *w);
    outcome *alone = calloc(THREADS, sizeof *alone);
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    assert_true(w && alone);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.m = &m, .index = i, .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(w[i].ok && work(&m, i, &alone[i]));
        assert_int_equal(w[i].outcome.size, alone[i].size);
        assert_int_equal(w[i].outcome.count, alone[i].count);
        assert_memory_equal(w[i].outcome.text, alone[i].text, alone[i].size);
        assert_memory_equal(w[i].outcome.numbers, alone[i].numbers, alone[i].count * sizeof *alone[i].numbers);
        assert_true(alone[i].count >= ROUNDS * LINES);
    }
    pthread_barrier_destroy(&start);
    free(w);
    free(alone);
    rapt_model_free(translation);
    rapt_lm_free(language.language.net);
    rapt_tokenizer_free(language.language.tokenizer);
}

/* A model is what it was: parameters to the byte. */
static void nothing_is_written_to_a_model(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    const rapt_model before = *m;
    outcome o = {.size = 0};
    uint64_t sums[2] = {0};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < rapt_params_count(m->params); i++) {
            const rapt_param *p = rapt_params_at(m->params, i);
            const unsigned char *bytes = (const unsigned char *)p->value.data;
            for (size_t j = 0; j < rapt_tensor_size(&p->value) * sizeof(rapt_real); j++)
                sums[round] = rng_mix(sums[round], bytes[j]);
        }
        if (round == 0)
            for (int kind = 0; kind < 4; kind++)
                assert_true(translate(m, kind, &o));
    }
    assert_true(sums[0] == sums[1]);
    assert_memory_equal(&before, m, sizeof before);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_threads_share_a_model),
                                       cmocka_unit_test(nothing_is_written_to_a_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
