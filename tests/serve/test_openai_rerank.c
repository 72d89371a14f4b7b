/* tests/serve/test_openai_rerank.c: POST /v1/rerank and /v1/score: scores equal a reranker's, in the order of each.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "serve/openai_case.h"

#include "base/buffer.h"

static openai_case served_here;

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

/* What a reranker says of pairs. */
static void scores_of(const rapt_text_pair *pairs, size_t count, rapt_pair_score *scores)
{
    rapt_error err = {0};
    const rapt_model *m = rapt_engine_model_of(served_here.models[4].model);
    rapt_reranker *r = rapt_reranker_new(m, &RERANKER(.compute.threads = 1), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_reranker_run(r, pairs, count, scores, &err), RAPT_OK);
    rapt_reranker_free(r);
}

static float score_at(json_t *entry, const char *name)
{
    json_t *score = case_at(entry, name);
    assert_true(json_is_number(score));
    return (float)json_number_value(score);
}

enum { DOCUMENTS = 5 };
static const char *const TEXTS[DOCUMENTS] = {"The cat wants to sing.", "", "cat", "the cat", "cat"};

static void rankings_are_a_rerankers(void **state)
{
    (void)state;
    static const char body[] =
        "{\"model\": \"pairs\", \"query\": \"a cat\", \"documents\": [\"The cat wants to sing.\", \"\", {\"text\": \"cat\"}, "
        "\"the cat\", \"cat\"], \"return_documents\": %s, \"top_n\": %s}";
    rapt_text_pair pairs[DOCUMENTS];
    rapt_pair_score want[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++)
        pairs[i] = (rapt_text_pair){rapt_text_of("a cat"), rapt_text_of(TEXTS[i])};
    scores_of(pairs, DOCUMENTS, want);
    rapt_pair_scores_rank(want, DOCUMENTS);
    for (size_t with = 0; with < 2; with++)
        for (size_t top = 2; top <= 8; top += 3) { /* fewer, as many, more */
            char text[512], number[8], header[256];
            snprintf(number, sizeof number, "%zu", top);
            snprintf(text, sizeof text, body, with ? "true" : "false", number);
            exchange *x = case_ask(&served_here, openai_rerank, text);
            json_t *got = case_object(x, 200), *results = case_at(got, "results");
            assert_int_equal(json_array_size(results), top < DOCUMENTS ? top : DOCUMENTS);
            assert_string_equal(case_text_at(got, "model"), "pairs");
            assert_true(json_integer_value(case_at(got, "usage.total_tokens")) > 5 * DOCUMENTS);
            for (size_t i = 0; i < json_array_size(results); i++) {
                json_t *one = json_array_get(results, i);
                assert_int_equal(json_integer_value(case_at(one, "index")), want[i].index);
                assert_true(score_at(one, "relevance_score") == want[i].score);
                assert_int_equal(json_object_size(one), 2 + with);
                if (with)
                    assert_string_equal(case_text_at(one, "document.text"), TEXTS[want[i].index]);
            }
            snprintf(header, sizeof header, "rapt rerank pairs --query 'a cat'%s%s --json <<< "
                     "$'The cat wants to sing.\\n\\ncat\\nthe cat\\ncat'", top < DOCUMENTS ? " --top " : "",
                     top < DOCUMENTS ? number : "");
            assert_string_equal(case_header(x, "X-Rapt-Replay"), header);
            json_decref(got);
            exchange_release(x);
        }
}

/* The shape of text-embeddings-inference at /rerank, and there the other one, too. */
static void inference_is_a_rerankers(void **state)
{
    (void)state;
    rapt_text_pair pairs[DOCUMENTS];
    rapt_pair_score want[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++)
        pairs[i] = (rapt_text_pair){rapt_text_of("a cat"), rapt_text_of(TEXTS[i])};
    scores_of(pairs, DOCUMENTS, want);
    rapt_pair_scores_rank(want, DOCUMENTS);
    for (size_t kind = 0; kind < 4; kind++) {
        const bool raw = kind & 1, with = kind & 2;
        char body[512];
        snprintf(body, sizeof body, "{\"query\": \"a cat\", \"texts\": [\"The cat wants to sing.\", \"\", \"cat\", \"the cat\", "
                 "\"cat\"], \"raw_scores\": %s, \"return_text\": %s, \"truncate\": false, \"truncation_direction\": \"Right\"}",
                 raw ? "true" : "false", with ? "true" : "false");
        json_t *got = case_json(&served_here, openai_any_rerank, body, 200);
        assert_int_equal(json_array_size(got), DOCUMENTS);
        for (size_t i = 0; i < DOCUMENTS; i++) {
            json_t *one = json_array_get(got, i);
            assert_int_equal(json_integer_value(case_at(one, "index")), want[i].index);
            assert_true(score_at(one, "score") == (raw ? want[i].logit : want[i].score)); /* the folder's score is the sigmoid */
            assert_int_equal(json_object_size(one), 2 + with);
            if (with)
                assert_string_equal(case_text_at(one, "text"), TEXTS[want[i].index]);
        }
        json_decref(got);
    }
    json_t *other = case_json(&served_here, openai_any_rerank, "{\"query\": \"a cat\", \"documents\": [\"cat\"]}", 200);
    assert_int_equal(json_array_size(case_at(other, "results")), 1);
    json_decref(other);
}

static void scores_are_a_rerankers(void **state)
{
    (void)state;
    static const struct {
        const char *body, *replay;
        size_t count;
        const char *first[3], *second[3];
    } cases[] = {
        {"{\"text_1\": \"a cat\", \"text_2\": \"sing\"}", "rapt rerank pairs --pairs --json <<< $'a cat\\x09sing'", 1, {"a cat"},
         {"sing"}},
        {"{\"model\": \"pairs\", \"text_1\": \"a\", \"text_2\": [\"b\", \"c\", \"\"]}",
         "rapt rerank pairs --pairs --json <<< $'a\\x09b\\na\\x09c\\na\\x09'", 3, {"a", "a", "a"}, {"b", "c", ""}},
        {"{\"text_1\": [\"a\"], \"text_2\": [\"b\", \"c\"], \"user\": \"me\"}",
         "rapt rerank pairs --pairs --json <<< $'a\\x09b\\na\\x09c'", 2, {"a", "a"}, {"b", "c"}},
        {"{\"text_1\": [\"a\", \"b\\tc\"], \"text_2\": [\"c\", \"d\"]}", NULL, 2, {"a", "b\tc"}, {"c", "d"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_text_pair pairs[3];
        rapt_pair_score want[3];
        for (size_t j = 0; j < cases[i].count; j++)
            pairs[j] = (rapt_text_pair){rapt_text_of(cases[i].first[j]), rapt_text_of(cases[i].second[j])};
        scores_of(pairs, cases[i].count, want);
        exchange *x = case_ask(&served_here, openai_score, cases[i].body);
        json_t *got = case_object(x, 200), *data = case_at(got, "data");
        assert_int_equal(json_array_size(data), cases[i].count);
        assert_true(json_integer_value(case_at(got, "created")) > 1600000000);
        for (size_t j = 0; j < cases[i].count; j++) {
            json_t *one = json_array_get(data, j);
            assert_int_equal(json_integer_value(case_at(one, "index")), j);
            assert_string_equal(case_text_at(one, "object"), "score");
            assert_true(score_at(one, "score") == want[j].score);
        }
        if (cases[i].replay)
            assert_string_equal(case_header(x, "X-Rapt-Replay"), cases[i].replay);
        else
            assert_null(case_header(x, "X-Rapt-Replay"));
        json_decref(got);
        exchange_release(x);
    }
}

/* More pairs than a batch. */
static void many_are_as_one(void **state)
{
    (void)state;
    enum { MANY = 100 };
    const rapt_text_pair pair = {rapt_text_of("a"), rapt_text_of("cat")};
    rapt_pair_score want;
    buffer body = {0};
    scores_of(&pair, 1, &want);
    served_here.app.limits.texts = MANY;
    assert_true(buffer_append(&body, "{\"query\": \"a\", \"documents\": [\"cat\"", 34));
    for (size_t i = 1; i < MANY; i++)
        assert_true(buffer_append(&body, ",\"cat\"", 6));
    assert_true(buffer_append(&body, "]}", 2));
    json_t *got = case_json(&served_here, openai_rerank, body.data, 200);
    for (size_t i = 0; i < MANY; i++) {
        json_t *one = json_array_get(case_at(got, "results"), i);
        assert_int_equal(json_integer_value(case_at(one, "index")), i); /* equal scores keep their order */
        assert_true(score_at(one, "relevance_score") == want.score);
    }
    json_decref(got);
    buffer_free(&body);
    served_here.app.limits.texts = 6;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rankings_are_a_rerankers), cmocka_unit_test(inference_is_a_rerankers),
                                       cmocka_unit_test(scores_are_a_rerankers), cmocka_unit_test(many_are_as_one)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
