/* tests/serve/test_dialects_no_memory.c: every allocation of a request for translations, tokens or an explanation is made to fail
 * in turn, including the engine's thread: the request is answered, with 503 or in full, or its connection is closed, and the next
 * one is as ever. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing_json.h"

#include "explain/explain_case.h"
#include "serve/ask.h"
#include "serve/module/endpoints.h"
#include "serve/module/native.h"

static app *served_app;

static int set_up_app(void **state)
{
    rapt_error err = {0};
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    served_app = served_app_new();
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translator(), &err));
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    return 0;
}

typedef struct memory_case {
    const char *what;
    app_route_fn *route;
    const char *body;
    long at_least;
} memory_case;

/* What the exchange needs is there before a failure is due. */
static rapt_code ask_once(const memory_case *c, const failing *f)
{
    const char *type;
    ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    exchange *x = exchange_new("POST", "/", NULL, NULL);
    assert_true(x && exchange_add_body(x, c->body, strlen(c->body)));
    exchange_at_end(x, ask_ended, &end);
    if (f)
        failing_arm(f);
    exchange_hold(x); /* as the router does: one that could not be answered has its 500 when nobody else holds it */
    c->route(served_app, x);
    exchange_release(x);
    ask_wait(&end);
    failing_disarm();
    const int status = exchange_status(x, &type);
    if (status != 200 && status != 503 && status != 500 && !exchange_is_dropped(x)) /* no memory for a response: the end */
        fail_msg("%s: status %d", c->what, status);
    exchange_release(x);
    return status == 200 ? RAPT_OK : RAPT_ERR_MEMORY;
}

static void requests_survive(void **state)
{
    (void)state;
    static const memory_case cases[] = {
        {"LibreTranslate", libre_translate,
         "{\"q\": [\"w1 w2\", \"w3\\nw4\"], \"source\": \"de\", \"target\": \"en\", \"alternatives\": 1}", 20},
        {"DeepL", deepl_translate,
         "{\"text\": [\"w1 w2\", \"w3\"], \"source_lang\": \"DE\", \"target_lang\": \"en\", \"show_billed_characters\": true}",
         20},
        {"DeepL with tags", deepl_translate,
         "{\"text\": [\"<p>w1 <b>w2</b></p>\", \"w3\"], \"source_lang\": \"DE\", \"target_lang\": \"en\","
         "\"tag_handling\": \"html\", \"ignore_tags\": [\"x\", \"y\"], \"splitting_tags\": \"z\"}",
         40},
        {"/v1/translate", native_translate,
         "{\"texts\": [\"w1 w2\", \"w3\"], \"beam\": 2, \"n_best\": 2, \"alignment\": \"soft\", \"tokens\": true,"
         "\"prefix\": \"w5\", \"glossary\": {\"w1\": \"w6\"}}", 20},
        {"/v1/translate/score", native_score,
         "{\"texts\": [\"w1 w2\", \"w3\", \"\"], \"translations\": [\"w4\", \"w5 w6\", \"\"], \"tokens\": true}", 20},
        {"/v1/explain", native_explain, "{\"text\": \"w1 w2\", \"target\": \"w3\", \"only\": [\"*.weights\"]}", 20},
        {"/v1/tokenize", native_tokenize, "{\"texts\": [\"w1 w2\", \"w3\"], \"side\": \"target\"}", 4},
        {"/v1/detokenize", native_detokenize, "{\"ids\": [5, 6]}", 3},
        {"/metrics", ops_metrics, "", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failing f = {.what = cases[i].what, .at_least = cases[i].at_least, .unnoticed = 1000, .uncounted = true};
        rapt_code code;
        assert_int_equal(ask_once(&cases[i], NULL), RAPT_OK);
        do
            code = ask_once(&cases[i], &f);
        while (failing_again(&f, code));
        assert_int_equal(ask_once(&cases[i], NULL), RAPT_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_survive)};
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
