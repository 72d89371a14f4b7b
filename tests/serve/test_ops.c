/* tests/serve/test_ops.c: what operators ask: alive, ready, metrics in Prometheus' text format, and the interface's document,
 * whose references have to exist. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "serve/ask.h"
#include "serve/module/endpoints.h"

static app *new_app(bool with_model)
{
    rapt_error err = {0};
    app *a = served_app_new();
    assert_non_null(a);
    assert_true(!with_model || served_app_add(a, "de-en \"x\\", "de", "en", case_translation_model(8, 2), &err));
    return a;
}

static void health(void **state)
{
    (void)state;
    app *a = new_app(false);
    answer to = ask_get(a, ops_health, "/health");
    assert_status(&to, 200);
    assert_string_equal(to.body.data, "{\"status\":\"ok\"}");
    answer_free(&to);
    served_app_free(a);
}

static void ready(void **state)
{
    (void)state;
    app *none = new_app(false), *one = new_app(true);
    answer to = ask_get(none, ops_ready, "/ready");
    assert_status(&to, 503);
    assert_string_equal(answer_text(&to, "missing"), "no model is loaded");
    answer_free(&to);
    to = ask_get(one, ops_ready, "/ready");
    assert_status(&to, 200);
    assert_string_equal(to.body.data, "{\"status\":\"ok\",\"models\":1}");
    answer_free(&to);
    served_app_drain(one);
    to = ask_get(one, ops_ready, "/ready");
    assert_status(&to, 503);
    assert_non_null(strstr(answer_text(&to, "missing"), "drains"));
    answer_free(&to);
    served_app_free(none);
    served_app_free(one);
}

static void assert_line(const answer *to, const char *line)
{
    char whole[512];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (!strstr(to->body.data, whole))
        fail_msg("no line \"%s\" in\n%s", line, to->body.data);
}

/* The value of the sample whose line begins so. */
static double sample(const answer *to, const char *begin)
{
    char start[512];
    snprintf(start, sizeof start, "\n%s ", begin);
    const char *at = strstr(to->body.data, start);
    if (!at)
        fail_msg("no sample %s in\n%s", begin, to->body.data);
    return atof(at + strlen(start));
}

static void counts(void **state)
{
    (void)state;
    app *a = new_app(true);
    metrics *m = app_metrics(a);
    answer to = ask_form(a, libre_translate, "q=w1+w2&source=de&target=en");
    assert_status(&to, 200);
    answer_free(&to);
    metrics_answered(m, "/translate", 200, 0.00390625);
    metrics_answered(m, "/translate", 200, 2);
    metrics_answered(m, "/translate", 400, 0.00048828125);
    metrics_answered(m, "other", 404, 100);
    metrics_first_token(m, "gpt2\n", 0.2);
    metrics_next_token(m, "gpt2\n", 0.02);
    metrics_next_token(m, "gpt2\n", 0.02);
    to = ask_get(a, ops_metrics, "/metrics");
    assert_status(&to, 200);
    assert_string_equal(to.type, "text/plain; version=0.0.4; charset=utf-8");
    assert_line(&to, "rapt_http_requests_total{route=\"/translate\",status=\"200\"} 2");
    assert_line(&to, "rapt_http_requests_total{route=\"/translate\",status=\"400\"} 1");
    assert_line(&to, "rapt_http_requests_total{route=\"other\",status=\"404\"} 1");
    assert_line(&to, "# TYPE rapt_http_request_duration_seconds histogram");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"/translate\",le=\"0.0005\"} 1");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"/translate\",le=\"0.0025\"} 1");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"/translate\",le=\"0.005\"} 2");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"/translate\",le=\"2.5\"} 3");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"/translate\",le=\"+Inf\"} 3");
    assert_line(&to, "rapt_http_request_duration_seconds_count{route=\"/translate\"} 3");
    assert_line(&to, "rapt_http_request_duration_seconds_sum{route=\"/translate\"} 2.00439453125");
    assert_line(&to, "rapt_http_request_duration_seconds_bucket{route=\"other\",le=\"60\"} 0");
    assert_line(&to, "rapt_time_to_first_token_seconds_count{model=\"gpt2\\n\"} 1");
    assert_line(&to, "rapt_inter_token_latency_seconds_bucket{model=\"gpt2\\n\",le=\"0.025\"} 2");
    assert_line(&to, "rapt_translated_characters_total 5");
    assert_line(&to, "rapt_ready 1");
    assert_line(&to, "rapt_jobs_running{model=\"de-en \\\"x\\\\\"} 0");
    assert_true(sample(&to, "process_resident_memory_bytes") > 1e6);
    assert_true(sample(&to, "process_open_fds") >= 3);
    assert_true(sample(&to, "process_start_time_seconds") > 1.7e9);
    assert_true(sample(&to, "process_start_time_seconds") <= (double)time(NULL) + 1);
    answer_free(&to);
    served_app_free(a);
}

/* Names that clients choose cannot fill the memory. */
static void rows_are_bounded(void **state)
{
    char route[32];
    (void)state;
    app *a = new_app(false);
    for (int i = 0; i < 1000; i++) {
        snprintf(route, sizeof route, "/%d", i);
        metrics_answered(app_metrics(a), route, 200, 1);
        metrics_first_token(app_metrics(a), route, 1);
    }
    answer to = ask_get(a, ops_metrics, "/metrics");
    assert_line(&to, "rapt_http_requests_total{route=\"/62\",status=\"200\"} 1");
    assert_null(strstr(to.body.data, "route=\"/63\""));
    assert_line(&to, "rapt_http_requests_total{route=\"other\",status=\"200\"} 937");
    assert_line(&to, "rapt_time_to_first_token_seconds_count{model=\"other\"} 937");
    answer_free(&to);
    served_app_free(a);
}

/* Every "$ref" names something, and every operation has what it needs to be tested by a program. */
static void check_references(const json_t *root, const json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;
    const char *to = json_string_value(json_object_get(at, "$ref"));
    if (to) {
        char copy[128], *rest = NULL;
        const json_t *found = root;
        assert_memory_equal(to, "#/", 2);
        snprintf(copy, sizeof copy, "%s", to + 2);
        for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
            found = json_object_get(found, part);
        if (!found)
            fail_msg("%s is not there", to);
    }
    if (json_is_object(at))
        json_object_foreach((json_t *)at, key, value)
            check_references(root, value);
    json_array_foreach(at, i, value)
        check_references(root, value);
}

static void document(void **state)
{
    const char *path, *method;
    json_t *methods, *operation;
    (void)state;
    app *a = new_app(false);
    answer to = ask_get(a, ops_openapi, "/openapi.json");
    assert_status(&to, 200);
    check_references(to.json, to.json);
    assert_true(json_object_size(answer_at(&to, "paths")) >= 17);
    json_object_foreach((json_t *)answer_at(&to, "paths"), path, methods)
        json_object_foreach(methods, method, operation) {
            if (strcmp(method, "parameters") == 0)
                continue;
            if (!json_object_get(operation, "operationId") || json_object_size(json_object_get(operation, "responses")) < 2)
                fail_msg("%s %s: no operationId, or hardly any response", method, path);
            assert_int_equal(strcmp(method, "post") == 0, json_is_object(json_object_get(operation, "requestBody")));
        }
    answer_free(&to);
    served_app_free(a);
}

/* The document has the routes of the table, with the version that runs. */
static void document_has_all_routes(void **state)
{
    char line[256], method[8], path[64];
    size_t routes = 0, operations = 0;
    const char *key;
    json_t *methods;
    (void)state;
    app *a = new_app(false);
    answer to = ask_get(a, ops_openapi, "/openapi.json");
    FILE *table = fopen(RAPT_SOURCE_DIR "/src/serve/module/routes.c", "r");
    assert_non_null(table);
    while (fgets(line, sizeof line, table))
        if (sscanf(line, " {\"%7[A-Z]\", \"%63[^\"]\"", method, path) == 2) {
            char *star = strchr(path, '*');
            if (star)
                strcpy(star, "{name}");
            for (char *c = method; *c; c++)
                *c = (char)(*c - 'A' + 'a');
            if (!json_object_get(json_object_get(answer_at(&to, "paths"), path), method))
                fail_msg("%s %s is not described", method, path);
            routes++;
        }
    fclose(table);
    json_object_foreach((json_t *)answer_at(&to, "paths"), key, methods)
        operations += json_object_size(methods);
    assert_true(routes >= 20);
    assert_int_equal(operations, routes);
    assert_string_equal(answer_text(&to, "info.version"), rapt_version());
    answer_free(&to);
    served_app_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health), cmocka_unit_test(ready),    cmocka_unit_test(counts),
        cmocka_unit_test(rows_are_bounded), cmocka_unit_test(document),
        cmocka_unit_test(document_has_all_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
