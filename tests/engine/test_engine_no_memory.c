/* tests/engine/test_engine_no_memory.c: every allocation of an engine's life, of adding a model, and of requests to a running
 * one, by whichever thread, is made to fail in turn: what cannot be done ends with an error, requests beside it have their bits,
 * and the next one finds the engine as it was. (That nothing is left then, the address sanitizer sees.) Linked as
 * tests/failing.h says.
 * labels: threads */
#include "failing.h"

#include "decode/translate_case.h"
#include "engine/lm_requests.h"
#include "options.h"
#include "texts.h"

enum { LINES = 4, TOGETHER = 3, VARIANT = 100 };

static rapt_engine *engine;
static rapt_engine_model *language, *translation;

/* What one request came to; nothing here allocates. */
typedef struct outcome {
    rapt_code code;
    char text[400];
    size_t size;
    double log_probs; /* of the prompt and the text, and of the likeliest tokens */
} outcome;

static void outcome_add(outcome *o, const char *text, size_t size)
{
    assert_true(o->size + size < sizeof o->text);
    if (size > 0)
        memcpy(o->text + o->size, text, size);
    o->size += size;
}

static bool outcome_same(const outcome *a, const outcome *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* ---- requests ----------------------------------------------------------------------------------------------------------- */

static void on_prompt(void *context, size_t position, const rapt_generated_token *token)
{
    outcome *o = context;
    if (position > 0)
        o->log_probs += token->log_prob;
}

static void on_token(void *context, const rapt_generated_token *token)
{
    outcome *o = context;
    outcome_add(o, token->text, token->size);
    o->log_probs += token->log_prob;
}

static void on_text(void *context, const rapt_engine_generated *end)
{
    outcome *o = context;
    outcome_add(o, end->rest, end->rest_size);
    o->code = end->code;
    assert_true(end->code == RAPT_OK || *end->message);
}

static void add_lines(outcome *o, rapt_code code, const char *message, const rapt_translation *out, size_t count)
{
    assert_true(code == RAPT_OK ? out != NULL : *message != '\0');
    for (size_t i = 0; out && i < count; i++)
        outcome_add(o, out[i].hypotheses[0].text, strlen(out[i].hypotheses[0].text));
    o->code = code;
}

static void on_lines(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    add_lines(context, code, message, out, LINES);
}

static void on_line(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    add_lines(context, code, message, out, 1);
}

static void on_call(void *context, const rapt_model *model, int threads)
{
    ((outcome *)context)->code = model && threads > 0 ? RAPT_OK : RAPT_ERR_INTERRUPTED;
}

/* The error of a request that was not taken; otherwise the error at its end. */
static rapt_code finish(rapt_code code, rapt_engine_job *job, const outcome *o)
{
    rapt_engine_job_free(job);
    return code ? code : o->code;
}

static rapt_engine_generation text_request(outcome *o)
{
    static const int32_t prompt[] = {1, 2, 3, 4, 5, 6, 7};
    static const char *const stops[] = {"xyz", "zz"};
    static const rapt_logit_bias bias = {1, 2};
    static const rapt_generate_options options = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3,
                                                                                .biases = &bias, .bias_count = 1},
                                           .max_tokens = 30, .stops = stops, .stop_count = 2};
    return (rapt_engine_generation){.tokens = prompt, .count = 7, .options = &options, .top = 3, .on_token = on_token,
                                    .on_done = on_text, .context = o};
}

static rapt_code ask_text(outcome *o, bool scored)
{
    rapt_error err = {0};
    rapt_engine_job *job = NULL;
    rapt_engine_generation g = text_request(o);
    g.score_prompt = scored;
    g.on_prompt_token = scored ? on_prompt : NULL;
    const rapt_code code = rapt_engine_generate(language, &g, &job, &err);
    assert_int_equal(code, err.code);
    return finish(code, job, o);
}

static rapt_code one_text(outcome *o)
{
    return ask_text(o, false);
}

/* One whose proposals hold. */
static rapt_code looping_text(outcome *o)
{
    static const rapt_logit_bias bias = {5, 100};
    rapt_error err = {0};
    rapt_engine_job *job = NULL;
    rapt_engine_generation g = text_request(o);
    rapt_generate_options options = *g.options;
    options.sample.biases = &bias;
    g.options = &options;
    const rapt_code code = rapt_engine_generate(language, &g, &job, &err);
    assert_int_equal(code, err.code);
    return finish(code, job, o);
}

static rapt_code scored_text(outcome *o)
{
    return ask_text(o, true);
}

/* Texts that begin alike, at the same time: one that fails leaves the others theirs. */
static rapt_code texts_together(outcome *o)
{
    outcome each[TOGETHER] = {0};
    rapt_engine_job *jobs[TOGETHER] = {NULL};
    rapt_code codes[TOGETHER], code = RAPT_OK;
    const outcome *good = NULL;
    for (size_t i = 0; i < TOGETHER; i++) {
        const rapt_engine_generation g = text_request(&each[i]);
        codes[i] = rapt_engine_generate(language, &g, &jobs[i], NULL);
    }
    for (size_t i = 0; i < TOGETHER; i++) {
        codes[i] = finish(codes[i], jobs[i], &each[i]);
        code = code ? code : codes[i];
        if (codes[i] == RAPT_OK) {
            assert_true(!good || outcome_same(good, &each[i]));
            good = &each[i];
        }
    }
    if (good)
        *o = *good;
    return code;
}

static rapt_code ask_lines(outcome *o, size_t count, const rapt_translate_options *options)
{
    static const char *const lines[LINES] = {"w1 w2 w3", "w4", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */, ""};
    rapt_error err = {0};
    rapt_engine_job *job = NULL;
    const rapt_engine_translation t = {.lines = TEXTS_OF(lines, count), .count = count, .options = options,
                                       .on_done = count == 1 ? on_line : on_lines, .context = o};
    const rapt_code code = rapt_engine_translate(translation, &t, &job, &err);
    assert_int_equal(code, err.code);
    return finish(code, job, o);
}

/* Where it fails, nothing is left to compute. */
static rapt_code one_line(outcome *o)
{
    return ask_lines(o, 1, &TRANSLATE());
}

static rapt_code greedy_lines(outcome *o)
{
    return ask_lines(o, LINES, &TRANSLATE());
}

static rapt_code searched_lines(outcome *o)
{
    return ask_lines(o, LINES,
                     &TRANSLATE(.beam = 3, .n_best = 2, .tokens = true, .alignment = true, .prefix = "w5 w6"));
}

static rapt_code call(outcome *o)
{
    rapt_engine_job *job = NULL;
    const rapt_code code = rapt_engine_call(language, on_call, NULL, o, &job, NULL);
    return finish(code, job, o);
}

/* ---- requests to an engine that runs ------------------------------------------------------------------------------------ */

typedef struct request_case {
    const char *what;
    rapt_code (*ask)(outcome *o);
    long at_least, unnoticed; /* unnoticed: tokens whose likeliest ones are left out, prefixes that are computed again */
} request_case;

static void requests_survive(void **state)
{
    static const request_case cases[] = {{"a text", one_text, 12, 60}, {"a text whose prompt is scored", scored_text, 12, 60},
                                         {"a text whose proposals hold", looping_text, 12, 60},
                                         {"texts that begin alike", texts_together, 36, 200},
                                         {"a line", one_line, 15, 10},
                                         {"lines", greedy_lines, 50, 10}, {"lines by beam search", searched_lines, 80, 10},
                                         {"a call", call, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome want = {0};
        failing f = {.what = cases[i].what, .at_least = cases[i].at_least, .unnoticed = cases[i].unnoticed, .uncounted = true};
        assert_int_equal(cases[i].ask(&want), RAPT_OK);
        for (bool again = true; again;) {
            outcome got = {0}, after = {0};
            failing_arm(&f);
            const rapt_code code = cases[i].ask(&got);
            failing_disarm();
            assert_true(code || outcome_same(&got, &want));
            again = failing_again(&f, code);
            assert_int_equal(cases[i].ask(&after), RAPT_OK);
            assert_true(outcome_same(&after, &want));
            assert_true(after.log_probs == want.log_probs);
        }
    }
}

/* ---- an engine's life --------------------------------------------------------------------------------------------------- */

static rapt_code live(rapt_model *model)
{
    rapt_error err = {0};
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = 2), &err);
    if (!e)
        rapt_model_free(model);
    else if (rapt_engine_add(e, model, &ENGINE_MODEL(.slots = 3, .compute.type = RAPT_TYPE_Q8_0), &err))
        assert_int_equal(err.code, RAPT_OK);
    rapt_engine_free(e);
    return err.code;
}

static void engines_survive(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        failing f = {.what = kind ? "an engine that translates" : "an engine that continues texts", .at_least = 15,
                     .threads = true, .uncounted = true};
        rapt_code code;
        do {
            rapt_model *model = kind ? case_translation_model(8, 2) : request_model(VARIANT);
            failing_arm(&f);
            code = live(model);
        } while (failing_again(&f, code));
    }
}

static int set_up(void **state)
{
    rapt_error err = {0};
    if (failing_check_link(state))
        return -1;
    engine = rapt_engine_new(&ENGINE(.threads = 2), &err);
    language = engine ? rapt_engine_add(engine, request_model(VARIANT), &ENGINE_MODEL(.slots = 2), &err) : NULL;
    translation = language ? rapt_engine_add(engine, case_translation_model(8, 2), NULL, &err) : NULL;
    return translation ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_engine_free(engine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_survive), cmocka_unit_test(engines_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
