/* tests/serve/test_router.c: what pages of other origins may do: read responses where the operator allows their origin, and not
 * have anything computed elsewhere; which requests are left for workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/served_app.h"

#include "serve/module/router.h"

#include <string.h>

#define ALLOWED "https://a.example"

/* ---- the rest of app.h --------------------------------------------------------------------------------------------------- */

static size_t entered;

bool app_key_ok(app *a, exchange *x, const char *key)
{
    (void)a, (void)x, (void)key;
    return true;
}

bool app_has_host(app *a, const char *host)
{
    (void)a;
    return !host || strcmp(host, "evil.example") != 0;
}

bool app_allows_origin(const app *a, const char *origin)
{
    (void)a;
    return strcmp(origin, ALLOWED) == 0;
}

const char *app_enter(app *a, exchange *x, double *seconds)
{
    (void)a, (void)x, (void)seconds;
    entered++;
    return NULL;
}

/* ---- tests --------------------------------------------------------------------------------------------------------------- */

static app *router_app;

static int set_up(void **state)
{
    (void)state;
    router_app = served_app_new();
    return router_app ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    served_app_free(router_app);
    return 0;
}

/* A field of a request; value NULL: it has none. */
typedef struct field {
    const char *name, *value;
} field;

static exchange *ask(const char *method, const char *path, const field *fields, size_t count)
{
    exchange *x = exchange_new(method, path, NULL, NULL);
    assert_non_null(x);
    for (size_t i = 0; i < count; i++)
        assert_true(!fields[i].value || exchange_set_header(x, fields[i].name, fields[i].value));
    router_answer(router_app, x);
    return x;
}

static const char *header(exchange *x, const char *wanted)
{
    const char *name, *value;
    for (size_t i = 0; exchange_response_header(x, i, &name, &value); i++)
        if (strcmp(name, wanted) == 0)
            return value;
    return NULL;
}

static void assert_text(const char *got, const char *want)
{
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
}

/* Before a request browsers ask for the fields that it is to have: OpenAI's client has many. */
static void preflights_are_answered(void **state)
{
    (void)state;
    static const char wanted[] = "authorization,content-type,x-stainless-os,x-stainless-lang";
    static const struct {
        const char *origin, *fields, *methods, *allowed;
    } cases[] = {{ALLOWED, wanted, "POST, OPTIONS", wanted},
                 {ALLOWED, NULL, "POST, OPTIONS", "Authorization, Content-Type, X-Api-Key"},
                 {"https://b.example", wanted, NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *type;
        const field fields[] = {{"Origin", cases[i].origin}, {"Access-Control-Request-Headers", cases[i].fields}};
        exchange *x = ask("OPTIONS", "/v1/completions", fields, 2);
        assert_int_equal(exchange_status(x, &type), 204);
        assert_text(header(x, "Access-Control-Allow-Methods"), cases[i].methods);
        assert_text(header(x, "Access-Control-Allow-Headers"), cases[i].allowed);
        assert_text(header(x, "Access-Control-Allow-Origin"), i < 2 ? ALLOWED : NULL);
        assert_text(header(x, "Vary"), "Origin");
        exchange_release(x);
    }
}

static void pages_of_other_sites_compute_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *site, *origin;
        int status; /* of a request without a body: 400 where it was read */
    } cases[] = {{NULL, NULL, 400},
                 {NULL, "https://b.example", 403},
                 {NULL, "null", 403},
                 {NULL, ALLOWED, 400},
                 {NULL, "http://127.0.0.1:8080", 400},
                 {NULL, "http://127.0.0.1:8081", 403},
                 {"same-origin", "http://127.0.0.1:8080", 400},
                 {"same-origin", "http://127.0.0.1:8081", 403},
                 {"none", NULL, 400},
                 {"cross-site", ALLOWED, 400},
                 {"cross-site", "https://b.example", 403},
                 {"same-site", "http://127.0.0.1:3000", 403},
                 {"cross-site", NULL, 403}};
    static const char *const paths[] = {"/v1/completions", "/v1/translate", "/translate", "/v2/translate", "/v1/tokenize"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
            const char *type;
            const field fields[] = {{"Host", "127.0.0.1:8080"}, {"Sec-Fetch-Site", cases[i].site}, {"Origin", cases[i].origin}};
            entered = 0;
            exchange *x = ask("POST", paths[p], fields, 3);
            assert_int_equal(exchange_status(x, &type), cases[i].status);
            assert_int_equal(entered, cases[i].status == 400);
            assert_text(header(x, "Vary"), cases[i].origin ? "Origin" : NULL);
            exchange_release(x);
        }
    const char *type;
    exchange *x = ask("GET", "/health", &(field){"Sec-Fetch-Site", "cross-site"}, 1);
    assert_int_equal(exchange_status(x, &type), 200);
    exchange_release(x);
}

/* An <img> of another site's page, a link, an address that a person types: a browser sends no Origin, and no Sec-Fetch-Site
 * to plain HTTP of another machine. */
static void pages_of_other_sites_get_nothing_computed(void **state)
{
    static const char chromium[] = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0";
    static const char powershell[] = "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.4522";
    static const struct {
        const char *agent, *site, *referer;
        int status; /* 400: let in, and read */
    } cases[] = {{NULL, "cross-site", NULL, 403},
                 {powershell, NULL, NULL, 400}, /* it sends no language */
                 {powershell, "cross-site", NULL, 403},
                 {powershell, NULL, "http://b.example/", 403},
                 {"curl/8.5.0", NULL, "http://b.example/", 403},
                 {"curl/8.5.0", NULL, "http://192.168.0.7:8080/", 400},
                 {chromium, "same-origin", NULL, 400},
                 {chromium, "none", NULL, 400},
                 {chromium, NULL, NULL, 403},
                 {chromium, NULL, "http://192.168.0.7:8080/", 400},
                 {chromium, NULL, "http://192.168.0.7:8080", 400},
                 {chromium, NULL, "http://192.168.0.7:8081/", 403},
                 {chromium, NULL, "http://b.example/192.168.0.7:8080", 403},
                 {chromium, NULL, "http://192.168.0.7:8080@b.example/", 403},
                 {chromium, NULL, ALLOWED "/a/page?b", 400},
                 {chromium, NULL, "about:blank", 403},
                 {chromium, "same-site", "http://192.168.0.7:8080/", 403},
                 {"curl/8.5.0", NULL, NULL, 400},
                 {NULL, NULL, NULL, 400}};
    static const char *const methods[] = {"GET", "HEAD"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t m = 0; m < 2; m++) {
            const char *type;
            const field fields[] = {{"Host", "192.168.0.7:8080"}, {"User-Agent", cases[i].agent},
                                    {"Sec-Fetch-Site", cases[i].site}, {"Referer", cases[i].referer},
                                    {"Accept-Language", cases[i].agent == chromium ? "en-US,en;q=0.9" : NULL}};
            exchange *x = ask(methods[m], "/v1/explain", fields, 5);
            if (exchange_status(x, &type) != cases[i].status)
                fail_msg("%s, case %zu: status %d, where %d is right", methods[m], i, exchange_status(x, &type), cases[i].status);
            exchange_release(x);
        }
}

/* Bodies are read by workers, but for short ones where the work is linear in them. */
static void bodies_are_left_for_workers(void **state)
{
    static const struct {
        const char *method, *path;
        size_t body;
        bool left;
        const char *begin;
    } cases[] = {
        {"POST", "/v1/completions", 1024, false}, {"POST", "/v1/completions", 1024, true, "{\"response_format\": "},
        {"POST", "/v1/completions", 1024, true, "{\"\\u0072esponse_format\": "}, {"GET", "/health", 5000, false},
        {"GET", "/v1/models", 0, false}, {"POST", "/nowhere", 5000, false},
        {"POST", "/v1/translate", 1024, false}, {"POST", "/v1/translate", 1025, true}, {"POST", "/translate", 5000, true},
        {"POST", "/v1/chat/completions", 10, true}, {"GET", "/v1/explain", 0, true}, {"POST", "/v1/embeddings", 10, true},
        {"GET", "/v2/languages", 0, false}, {"GET", "/v2/languages", 5, true}};
    char body[5000];
    (void)state;
    memset(body, ' ', sizeof body);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exchange *x = exchange_new(cases[i].method, cases[i].path, NULL, NULL);
        const char *begin = cases[i].begin ? cases[i].begin : "";
        assert_true(exchange_add_body(x, begin, strlen(begin)) && exchange_add_body(x, body, cases[i].body - strlen(begin)));
        const struct route *left = router_begin(router_app, x);
        if (!!left != cases[i].left)
            fail_msg("%s %s with %zu bytes", cases[i].method, cases[i].path, cases[i].body);
        if (left)
            router_work(router_app, x, left);
        assert_true(exchange_has_begun(x));
        exchange_release(x);
    }
}

/* A body without a type is sent across sites without a question before; with ours there is one. */
static void pages_say_what_they_send(void **state)
{
    (void)state;
    static const struct {
        const char *origin, *type;
        int status; /* 400: it was read */
    } cases[] = {{NULL, NULL, 400}, {ALLOWED, NULL, 415}, {"http://127.0.0.1:8080", NULL, 415},
                 {ALLOWED, "application/json", 400}, {"https://b.example", "text/plain", 403}, {"https://b.example", NULL, 403}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *type;
        exchange *x = exchange_new("POST", "/v1/tokenize", NULL, NULL);
        exchange_set_header(x, "Host", "127.0.0.1:8080");
        if (cases[i].origin)
            exchange_set_header(x, "Origin", cases[i].origin);
        if (cases[i].type)
            exchange_set_header(x, "Content-Type", cases[i].type);
        exchange_add_body(x, "{", 1);
        router_answer(router_app, x);
        assert_int_equal(exchange_status(x, &type), cases[i].status);
        exchange_release(x);
    }
}

static void other_names_reach_nothing(void **state)
{
    (void)state;
    static const char *const asked[][2] = {{"GET", "/"}, {"GET", "/health"}, {"GET", "/v1/models"}, {"POST", "/v1/completions"},
                                           {"OPTIONS", "/v1/completions"}, {"GET", "/none"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *type;
        entered = 0;
        exchange *x = ask(asked[i][0], asked[i][1], &(field){"Host", "evil.example"}, 1);
        assert_int_equal(exchange_status(x, &type), 403);
        assert_int_equal(entered, 0);
        exchange_release(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_say_what_they_send), cmocka_unit_test(other_names_reach_nothing),
                                       cmocka_unit_test(preflights_are_answered),
                                       cmocka_unit_test(pages_of_other_sites_compute_nothing),
                                       cmocka_unit_test(pages_of_other_sites_get_nothing_computed),
                                       cmocka_unit_test(bodies_are_left_for_workers)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
