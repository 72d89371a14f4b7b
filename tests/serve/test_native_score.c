/* tests/serve/test_native_score.c: /v1/translate/score against rapt_score_each_pair, which computes other batches: every
 * log-probability with the same bits; pairs without a score; what is wrong refused by name; memory asked for before.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "explain/explain_case.h"
#include "options.h"
#include "rapt/score.h"
#include "serve/ask.h"
#include "serve/exchange_case.h"
#include "serve/module/native.h"

#include <math.h>

enum { PAIRS = 300 };

static app *served_app;
static rapt_model *own; /* with the weights of those that are served */

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    own = case_translator();
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translator(), &err));
    assert_true(served_app_add(served_app, "en-de", "en", "de", case_translator(), &err));
    assert_true(served_app_add(served_app, "lm", NULL, NULL, case_language_model(), &err));
    served_app_limits(served_app)->texts = 1000;
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(own);
    return 0;
}

/* 0 to 11 words: with 8 and more a sentence is truncated, and without any a pair has no score. */
static void make_text(char text[64], size_t i, size_t words)
{
    *text = '\0';
    for (size_t w = 0; w < words; w++)
        sprintf(text + strlen(text), "%sw%zu", w ? " " : "", (i * 7 + w * 3) % 40);
}

typedef struct score_case {
    char sources[PAIRS][64], targets[PAIRS][64];
    const char *source[PAIRS], *target[PAIRS];
    buffer_writer body;
} score_case;

static void put_list(buffer_writer *body, const char *name, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_print(body, "%s\"%s\"", i ? "," : name, texts[i]);
    buffer_print(body, "]");
}

static void make_case(score_case *c, size_t count, const char *options)
{
    c->body = (buffer_writer){0};
    for (size_t i = 0; i < count; i++) {
        make_text(c->sources[i], i, i * 5 % 12);
        make_text(c->targets[i], i + 3, i % 11);
        c->source[i] = c->sources[i];
        c->target[i] = c->targets[i];
    }
    put_list(&c->body, "{\"texts\": [", c->source, count);
    put_list(&c->body, ", \"translations\": [", c->target, count);
    buffer_print(&c->body, "%s}", options);
    assert_false(c->body.failed);
}

static void assert_number(double expected, const json_t *got)
{
    const double value = json_number_value(got);
    assert_true(json_is_real(got));
    assert_memory_equal(&expected, &value, sizeof value);
}

static void assert_score(const rapt_pair_scores *s, size_t pair, const json_t *got)
{
    const size_t at = s->begins[pair], count = s->begins[pair + 1] - at;
    const json_t *ids = json_object_get(json_object_get(got, "tokens"), "ids"), *each = json_object_get(got, "token_log_probs");
    double sum = 0;
    assert_int_equal(json_integer_value(json_object_get(got, "token_count")), count);
    assert_int_equal(json_array_size(ids), count);
    assert_int_equal(json_array_size(each), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(json_integer_value(json_array_get(ids, i)), s->tokens[at + i]);
        assert_number(s->log_probs[at + i], json_array_get(each, i));
        sum += s->log_probs[at + i];
    }
    if (count) {
        assert_number(sum, json_object_get(got, "log_prob"));
        assert_number(sum / (double)count, json_object_get(got, "mean_log_prob"));
    } else {
        assert_true(json_is_null(json_object_get(got, "log_prob")));
        assert_true(json_is_null(json_object_get(got, "mean_log_prob")));
    }
}

static void scores_have_the_same_bits(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, PAIRS};
    for (size_t k = 0; k < 3; k++) {
        score_case c;
        rapt_error err = {0};
        rapt_pair_scores scores;
        size_t pair = 0;
        make_case(&c, counts[k], ", \"tokens\": true, \"source\": \"de\", \"target\": \"en\"");
        answer to = ask_post(served_app, native_score, c.body.bytes.data);
        assert_status(&to, 200);
        assert_string_equal(answer_text(&to, "model"), "de-en");
        const json_t *list = answer_at(&to, "scores");
        assert_int_equal(json_array_size(list), counts[k]);
        rapt_pairs *pairs = rapt_pairs_from_lines(c.source, c.target, counts[k], NULL);
        if (pairs && rapt_score_each_pair(own, pairs, NULL, &scores, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < counts[k]; i++)
            if (*c.source[i] || *c.target[i])
                assert_score(&scores, pair++, json_array_get(list, i));
            else
                assert_true(json_is_null(json_object_get(json_array_get(list, i), "log_prob")));
        if (pairs)
            rapt_pair_scores_free(&scores);
        rapt_pairs_free(pairs);
        answer_free(&to);
        buffer_free(&c.body.bytes);
    }
}

static void the_command_is_told(void **state)
{
    (void)state;
    answer to = ask_post(served_app, native_score, "{\"texts\": [\"w1 w2\", \"\"], \"translations\": [\"w3\", \"\"], "
                         "\"model\": \"en-de\"}");
    assert_status(&to, 200);
    assert_string_equal(to.replay, "rapt eval en-de - --each <<< $'w1 w2\\x09w3\\n\\x09'");
    assert_null(json_object_get(answer_at(&to, "scores.0"), "tokens"));
    answer_free(&to);
    to = ask_post(served_app, native_score, "{\"texts\": [\"w1\\tw2\"], \"translations\": [\"w3\"], \"tokens\": false}");
    assert_status(&to, 200);
    assert_string_equal(to.replay, "");
    answer_free(&to);
}

static void wrong_requests(void **state)
{
    static const refusal all[] = {
        {"{}", 400, "texts: this field is required, a list of strings"},
        {"{\"texts\": [\"w1\"]}", 400, "translations: this field is required, a list of strings"},
        {"{\"texts\": \"w1\", \"translations\": \"w1\"}", 400, "texts and translations are lists of strings"},
        {"{\"texts\": [], \"translations\": []}", 400, "texts"},
        {"{\"texts\": [\"w1\", \"w2\"], \"translations\": [\"w1\"]}", 400, "translations: 1 translations of 2 texts"},
        {"{\"texts\": [\"w1\"], \"translations\": [1]}", 400, "translations"},
        {"{\"texts\": [\"w1\\nw2\"], \"translations\": [\"w1\"]}", 400, "pair 1 has a line break"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1\"], \"model\": \"none\"}", 404, "none"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1\"], \"model\": \"lm\"}", 400, "lm"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1\"], \"target\": \"xx\"}", 400, "target: xx is not supported"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1\"], \"tokens\": 1}", 400, "tokens"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1\"], \"beam\": 1}", 400, "beam"},
        {"{\"texts\": [\"w1\"], \"translations\": [\"w1 w2 w3 w4 w5 w6 w7 w8 w9\"], \"strict\": true}", 400, "the pairs:1: "},
    };
    (void)state;
    check_refusals(served_app, native_score, "error.message", all, sizeof all / sizeof *all);
}

/* The pairs before they are encoded, and the pass before it is computed. */
static void memory_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        size_t limit, pairs;
        const char *says;
    } cases[] = {{120000, PAIRS, "300 pairs would take about"}, {150000, 4, "the pass of the longest pair, of "}};
    for (size_t i = 0; i < 2; i++) {
        score_case c;
        admission memory;
        size_t largest;
        answer to = {0};
        ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
        ask_end freed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
        make_case(&c, cases[i].pairs, ", \"tokens\": false");
        admission_init(&memory, cases[i].limit);
        exchange *x = case_post("/v1/translate/score", c.body.bytes.data);
        exchange_at_free(x, ask_ended, &freed, &memory);
        exchange_at_end(x, ask_ended, &end);
        exchange_hold(x);
        native_score(served_app, x);
        exchange_end_work(x);
        exchange_release(x);
        ask_wait(&end);
        ask_read(x, &to);
        if (!strstr(to.body.data, cases[i].says))
            fail_msg("\"%s\" is not in %s", cases[i].says, to.body.data);
        assert_int_equal(to.status, 413);
        exchange_detach(x);
        exchange_release(x);
        ask_wait(&freed);
        answer_free(&to);
        buffer_free(&c.body.bytes);
        assert_int_equal(admission_given(&memory, &largest), 0);
        admission_destroy(&memory);
    }
}

static bool always_gone(void *context)
{
    (void)context;
    return true;
}

static void no_wake(void *context)
{
    (void)context;
}

/* Nothing is computed for a client that has hung up; the next request is as ever. */
static void clients_may_hang_up(void **state)
{
    static const exchange_transport transport = {no_wake, always_gone};
    (void)state;
    score_case c;
    ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    make_case(&c, PAIRS, "");
    exchange *x = exchange_new("POST", "/v1/translate/score", &transport, NULL);
    assert_true(x && exchange_add_body(x, c.body.bytes.data, c.body.bytes.size));
    exchange_at_end(x, ask_ended, &end);
    exchange_hold(x);
    native_score(served_app, x);
    ask_wait(&end);
    const char *type;
    assert_int_equal(exchange_status(x, &type), 503);
    exchange_release(x);
    exchange_detach(x);
    exchange_release(x);
    buffer_free(&c.body.bytes);
    scores_have_the_same_bits(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_have_the_same_bits), cmocka_unit_test(the_command_is_told), cmocka_unit_test(wrong_requests),
        cmocka_unit_test(memory_is_asked_for),       cmocka_unit_test(clients_may_hang_up)};
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
