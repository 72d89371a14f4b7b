/* tests/serve/test_native_explain.c: /v1/explain gives the bytes that rapt/explain.h does, /v1/tokenize and /v1/detokenize the
 * ids and texts of the tokenizers; limits of the operator. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "options.h"
#include "serve/ask.h"
#include "serve/module/native.h"

static app *served_app;
static rapt_model *translator, *generator; /* with the weights of those that are served */

/* A model that reads bytes, and for which the texts of its special tokens mean nothing in a line. */
static rapt_model *translator_of_bytes(void)
{
    rapt_error err = {0};
    rapt_model *m = case_translator();
    rapt_tokenizer_free(m->translation.source);
    m->translation.source = rapt_tokenizer_train_bpe("ab", 2, &TRAIN_BPE(.vocab_size = 260, .specials_first = true), &err);
    if (!m->translation.source)
        fail_msg("%s", err.message);
    m->translation.target = m->translation.source;
    return m;
}

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    translator = case_translator();
    generator = case_language_model();
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "lm", NULL, NULL, case_language_model(), &err));
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translator(), &err));
    assert_true(served_app_add(served_app, "bytes", "fi", "sv", translator_of_bytes(), &err));
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(translator);
    rapt_model_free(generator);
    return 0;
}

/* ---- /v1/explain -------------------------------------------------------------------------------------------------------- */

static void check_explain(const char *body, const rapt_model *m, const char *text, rapt_explain_options o, bool full,
                          const rapt_explain_page_options *html, const char *replay)
{
    rapt_error err = {0};
    char *expected = NULL;
    size_t size = 0;
    rapt_explanation *e = rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, &err);
    if (!e)
        fail_msg("%s", err.message);
    rapt_code code = html ? rapt_explanation_page(e, html, &expected, &size, &err)
                          : rapt_explanation_json(e, &EXPLAIN_FORMAT(.full = full), &expected, &size, &err);
    assert_int_equal(code, RAPT_OK);
    rapt_explanation_free(e);
    answer to = ask_post(served_app, native_explain, body);
    assert_status(&to, 200);
    assert_string_equal(to.type, html ? "text/html; charset=utf-8" : "application/json");
    assert_int_equal(to.body.size, size + !html); /* a line */
    assert_memory_equal(to.body.data, expected, size);
    assert_string_equal(to.replay, replay);
    answer_free(&to);
    free(expected);
}

static void same_bytes_as_the_command(void **state)
{
    static const char *const names[] = {"*.weights"};
    const rapt_explain_page_options page = EXPLAIN_PAGE(), linked = EXPLAIN_PAGE(.book = "../it's");
    (void)state;
    check_explain("{\"model\": \"de-en\", \"text\": \"w1 w2\"}", translator, "w1 w2",
                  EXPLAIN(.model_name = "de-en"), false, NULL,
                  "rapt explain de-en --json -- 'w1 w2'");
    check_explain("{\"text\": \"w1 w2\", \"target\": \"w3\", \"only\": [\"*.weights\"], \"full\": true}", translator, "w1 w2",
                  EXPLAIN(.model_name = "de-en", .target = rapt_text_of("w3"), .names = names, .name_count = 1), true, NULL,
                  "rapt explain de-en --json --full --only '*.weights' -- 'w1 w2'  'w3'");
    check_explain("{\"model\": \"de-en\", \"text\": \"w1 zork\"}", translator, "w1 zork",
                  EXPLAIN(.model_name = "de-en"), false, NULL,
                  "rapt explain de-en --json -- 'w1 zork'");
    check_explain("{\"model\": \"lm\", \"text\": \"abc\", \"lens\": true}", generator, "abc",
                  EXPLAIN(.model_name = "lm", .lens = true), false, NULL,
                  "rapt explain lm --json --lens -- 'abc'");
    check_explain("{\"model\": \"lm\", \"text\": \"abc\", \"format\": \"html\"}", generator, "abc",
                  EXPLAIN(.model_name = "lm"), false, &page,
                  "rapt explain lm --html page.html -- 'abc'");
    check_explain("{\"model\": \"lm\", \"text\": \"abc\", \"format\": \"html\", \"book\": \"../it's\"}", generator, "abc",
                  EXPLAIN(.model_name = "lm"), false, &linked,
                  "rapt explain lm --html page.html --book $'../it\\'s' -- 'abc'");
}

static void wrong_explain_requests(void **state)
{
    static const refusal all[] = {
        {"{\"model\": \"lm\"}", 400, "text"},
        {"{\"model\": \"none\", \"text\": \"a\"}", 404, "none"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"target\": \"a\"}", 400, "target"},
        {"{\"model\": \"lm\", \"text\": \"\"}", 400, ""},
        {"{\"model\": \"lm\", \"text\": \"a\", \"format\": \"xml\"}", 400, "format"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"only\": \"x\"}", 400, "only"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"only\": [\"nothing.*\"]}", 400, "nothing.*"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"only\": [\"*\"], \"format\": \"html\"}", 400, "only"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"full\": true, \"format\": \"html\"}", 400, "full"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"gradients\": true}", 400, "gradients"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"book\": \"book\"}", 400, "book: JSON has no links"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"book\": 3, \"format\": \"html\"}", 400, "book"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"book\": \"\", \"format\": \"html\"}", 400, "book: the book's address"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"book\": \"javascript:alert(1)\", \"format\": \"html\"}", 400,
         "book: the book's address"},
        {"{\"model\": \"lm\", \"text\": \"abcdefghijklmnopqrstuvwxyzABCDEFG\"}", 400, "text: 33 tokens are more than the 32"},
        {"{\"model\": \"bytes\", \"text\": \"<pad><pad><pad><pad><pad><pad><pad>\"}", 400, "text: 35 tokens are more than"},
        {"{\"model\": \"de-en\", \"text\": \"zyzzyva\", \"strict\": true}", 400, "zyzzyva"},
        {"{\"model\": \"de-en\", \"text\": \"w1\", \"target\": \"w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 "
         "w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1\"}", 400, "target: 33 tokens are more than the 32"},
    };
    static const refusal off[] = {{"{\"model\": \"lm\", \"text\": \"a\"}", 403, "turned off"}};
    (void)state;
    check_refusals(served_app, native_explain, "error.message", all, sizeof all / sizeof *all);
    served_app_limits(served_app)->explain = 0;
    check_refusals(served_app, native_explain, "error.message", off, 1);
    served_app_limits(served_app)->explain = 32;
}

/* A pattern is compared with every name, from each character of the name on, while all models wait: a set of a million characters
 * would take minutes. */
static void patterns_are_short(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        char set[400] = "", body[512];
        for (int i = 0; i < 149 + more; i++)
            strcat(set, "\xC3\xA9"); /* characters are counted, not bytes */
        snprintf(body, sizeof body, "{\"model\": \"de-en\", \"text\": \"w1\", \"only\": [\"tokens\", \"*.weight[%ss]\"]}", set);
        answer to = ask_post(served_app, native_explain, body);
        assert_status(&to, more ? 400 : 200);
        if (more)
            assert_non_null(strstr(answer_text(&to, "error.message"), "only: pattern 1 has more than 160 characters"));
        answer_free(&to);
    }
}

/* A link of the server's own page gets what a POST gets. */
static void explain_by_get(void **state)
{
    static const char target[] = "/v1/explain?model=de-en&text=w1%20w2&full=false";
    (void)state;
    answer post = ask_post(served_app, native_explain, "{\"model\": \"de-en\", \"text\": \"w1 w2\"}");
    assert_status(&post, 200);
    answer to = ask_get(served_app, native_explain, target);
    assert_status(&to, 200);
    assert_string_equal(to.body.data, post.body.data);
    answer_free(&to);
    to = ask_get(served_app, native_explain, "/v1/explain?model=de-en&text=w1&gradients=true");
    assert_status(&to, 400);
    assert_non_null(strstr(answer_text(&to, "error.message"), "gradients"));
    answer_free(&to);
    to = ask_get(served_app, native_explain, "/v1/explain?model=lm&text=a&format=html&book=https:%2F%2Fexample.org%2Fbook");
    assert_status(&to, 200);
    assert_non_null(strstr(to.body.data, "\"book\":\"https://example.org/book\""));
    answer_free(&to);
    to = ask_get(served_app, native_explain, "/v1/explain?model=lm&text=a&format=html&book=javascript:alert(1)");
    assert_status(&to, 400);
    assert_string_equal(answer_text(&to, "error.param"), "book");
    answer_free(&to);
    answer_free(&post);
}

/* ---- /v1/tokenize and /v1/detokenize -------------------------------------------------------------------------------------- */

static void tokens_and_back(void **state)
{
    int32_t *ids;
    size_t count;
    char body[256] = "{\"model\": \"lm\", \"ids\": [";
    (void)state;
    assert_int_equal(rapt_tokenizer_encode(generator->language.tokenizer, "ab Z", &ids, &count, NULL), RAPT_OK);
    answer to = ask_post(served_app, native_tokenize, "{\"model\": \"lm\", \"text\": \"ab Z\"}");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "results")), 1);
    assert_int_equal(json_array_size(answer_at(&to, "results.0.ids")), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(json_integer_value(json_array_get(answer_at(&to, "results.0.ids"), i)), ids[i]);
        snprintf(body + strlen(body), sizeof body - strlen(body), "%s%d", i ? ", " : "", ids[i]);
    }
    assert_string_equal(answer_text(&to, "results.0.tokens.3"), "Z");
    answer_free(&to);
    strcat(body, "]}");
    to = ask_post(served_app, native_detokenize, body);
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "text"), "ab Z");
    answer_free(&to);
    free(ids);
    to = ask_post(served_app, native_tokenize, "{\"model\": \"de-en\", \"side\": \"target\", \"texts\": [\"w1 w2\", \"\"]}");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "results.0.tokens.1"), "w2");
    assert_int_equal(json_array_size(answer_at(&to, "results.1.ids")), 0);
    answer_free(&to);
}

static void wrong_token_requests(void **state)
{
    static const refusal texts[] = {
        {"{\"model\": \"lm\"}", 400, "text"},
        {"{\"model\": \"none\", \"text\": \"a\"}", 404, "none"},
        {"{\"model\": \"lm\", \"text\": \"7\"}", 400, "byte"}, /* not in the alphabet */
        {"{\"model\": \"lm\", \"text\": \"a\", \"side\": \"source\"}", 400, "side"},
        {"{\"model\": \"de-en\", \"text\": \"a\", \"side\": \"both\"}", 400, "side"},
        {"{\"model\": \"lm\", \"text\": \"a\", \"special\": \"yes\"}", 400, "special"},
    };
    static const refusal ids[] = {
        {"{\"model\": \"lm\"}", 400, "ids"},
        {"{\"model\": \"lm\", \"ids\": 7}", 400, "ids"},
        {"{\"model\": \"lm\", \"ids\": [\"7\"]}", 400, "ids"},
        {"{\"model\": \"lm\", \"ids\": [1.5]}", 400, "ids"},
        {"{\"model\": \"lm\", \"ids\": [-1]}", 400, "-1 is not in the vocabulary"},
        {"{\"model\": \"lm\", \"ids\": [53]}", 400, "53 is not in the vocabulary"},
        {"{\"model\": \"lm\", \"ids\": [4294967296]}", 400, "4294967296 is not in the vocabulary"},
        {"{\"model\": \"lm\", \"ids\": [1], \"text\": \"a\"}", 400, "text"},
    };
    (void)state;
    check_refusals(served_app, native_tokenize, "error.message", texts, sizeof texts / sizeof *texts);
    check_refusals(served_app, native_detokenize, "error.message", ids, sizeof ids / sizeof *ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_as_the_command),
        cmocka_unit_test(wrong_explain_requests),
        cmocka_unit_test(patterns_are_short),
        cmocka_unit_test(explain_by_get),
        cmocka_unit_test(tokens_and_back),
        cmocka_unit_test(wrong_token_requests),
    };
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
