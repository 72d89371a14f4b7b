/* tests/serve/test_learn.c: the page of the lesson at /learn: what is taken for one, what a client gets of it and of the server's
 * own page, and that bytes stay as long as a response has them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "serve/ask.h"
#include "serve/module/embedded.h"
#include "serve/module/endpoints.h"
#include "serve/module/learn_page.h"

#include <stdio.h>

#define META "<meta http-equiv=\"Content-Security-Policy\" content=\""
#define POLICY "default-src 'none'; script-src 'sha256-x='; worker-src blob:"
static const char LESSON[] = "<!DOCTYPE html>\n" META POLICY "\">\n<p>one\n", OTHER[] = META POLICY "\"><p>two\n";

static void write_page(const char *name, const char *text, size_t size)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static learn_page *read_page(const char *name)
{
    rapt_error err = {0};
    learn_page *p;
    assert_int_equal(learn_read(name, &p, &err), RAPT_OK);
    assert_non_null(p);
    return p;
}

/* The field of a response; "": it has none. Copied, for the exchange ends. */
typedef struct field_text {
    char text[4000];
} field_text;

static answer get(app *a, app_route_fn *route, const char *tags, const char *name, field_text *field)
{
    answer to = {0};
    const char *is, *value;
    exchange *x = exchange_new("GET", "/learn", NULL, NULL);
    assert_non_null(x);
    assert_true(!tags || exchange_set_header(x, "If-None-Match", tags));
    route(a, x);
    field->text[0] = '\0';
    for (size_t i = 0; exchange_response_header(x, i, &is, &value); i++)
        if (strcmp(is, name) == 0)
            snprintf(field->text, sizeof field->text, "%s", value);
    ask_read(x, &to);
    exchange_detach(x);
    exchange_release(x);
    return to;
}

static void there_is_none(void **state)
{
    (void)state;
    field_text field;
    app *a = served_app_new();
    answer to = get(a, learn_get, NULL, "ETag", &field);
    assert_status(&to, 404);
    assert_string_equal(to.type, "application/json");
    assert_non_null(strstr(answer_text(&to, "error"), "tools/lesson.sh"));
    assert_string_equal(field.text, "");
    answer_free(&to);
    to = get(a, learn_home, NULL, "ETag", &field);
    assert_int_equal(to.body.size, serve_page_html_size);
    assert_memory_equal(to.body.data, serve_page_html, serve_page_html_size);
    assert_non_null(strstr(to.body.data, "href=\"learn\" data-t=\"page.learn\" data-t-title=\"page.learn.title\" hidden>"));
    answer_free(&to);
    served_app_free(a);
}

static void gives_the_page(void **state)
{
    (void)state;
    field_text tag, field, list;
    app *a = served_app_new();
    write_page("lesson.html", LESSON, sizeof LESSON - 1);
    served_app_lesson(a, read_page("lesson.html"));
    answer to = get(a, learn_get, NULL, "ETag", &tag);
    assert_status(&to, 200);
    assert_string_equal(to.type, "text/html; charset=utf-8");
    assert_string_equal(to.body.data, LESSON);
    assert_true(strlen(tag.text) == 34 && tag.text[0] == '"' && tag.text[33] == '"');
    answer_free(&to);
    to = get(a, learn_get, "\"x\"", "Content-Security-Policy", &field);
    assert_status(&to, 200);
    assert_string_equal(field.text, POLICY "; frame-ancestors 'none'");
    answer_free(&to);

    snprintf(list.text, sizeof list.text, "\"x\", W/%.40s", tag.text);
    const char *const same[] = {tag.text, list.text, "*"};
    for (size_t i = 0; i < 3; i++) {
        to = get(a, learn_get, same[i], "ETag", &field);
        assert_status(&to, 304);
        assert_int_equal(to.body.size, 0);
        assert_string_equal(field.text, tag.text);
        answer_free(&to);
    }
    write_page("lesson.html", OTHER, sizeof OTHER - 1);
    served_app_lesson(a, read_page("lesson.html"));
    to = get(a, learn_get, tag.text, "ETag", &field);
    assert_status(&to, 200);
    assert_string_equal(to.body.data, OTHER);
    assert_string_not_equal(field.text, tag.text);
    answer_free(&to);
    served_app_free(a);
}

/* One attribute is another: the policy's hashes are of script and style alone. */
static void the_servers_page_leads_there(void **state)
{
    (void)state;
    field_text field;
    app *a = served_app_new();
    write_page("lesson.html", LESSON, sizeof LESSON - 1);
    served_app_lesson(a, read_page("lesson.html"));
    answer to = get(a, learn_home, NULL, "Content-Security-Policy", &field);
    assert_string_equal(field.text, serve_page_policy);
    assert_int_equal(to.body.size, serve_page_html_size);
    const char *link = strstr(to.body.data, " id=\"learn\"");
    assert_non_null(link);
    assert_memory_equal(strchr(link, '>') - 7, "       ", 7);
    size_t changed = 0;
    for (size_t i = 0; i < serve_page_html_size; i++)
        changed += to.body.data[i] != (char)serve_page_html[i];
    assert_int_equal(changed, strlen("hidden"));
    answer_free(&to);
    served_app_free(a);
}

/* A response has its bytes, whatever a reload does meanwhile; and the same ones as any other response. */
static void bytes_are_lent(void **state)
{
    (void)state;
    exchange_held body[2];
    exchange *x[2];
    app *a = served_app_new();
    write_page("lesson.html", LESSON, sizeof LESSON - 1);
    served_app_lesson(a, read_page("lesson.html"));
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(x[i] = exchange_new("GET", "/learn", NULL, NULL));
        learn_get(a, x[i]);
        assert_true(exchange_take_held(x[i], &body[i]));
    }
    served_app_lesson(a, NULL);
    served_app_free(a);
    assert_ptr_equal(body[0].bytes, body[1].bytes);
    assert_string_equal(body[0].bytes, LESSON);
    for (size_t i = 0; i < 2; i++) {
        exchange_detach(x[i]);
        exchange_release(x[i]);
        body[i].release(body[i].context);
    }
}

static void what_is_no_lesson_is_refused(void **state)
{
    (void)state;
    static char large[LEARN_MAX + 1], policy[3000];
    memset(large, ' ', sizeof large);
    memcpy(large, LESSON, sizeof LESSON - 1);
    snprintf(policy, sizeof policy, META "default-src 'none';%2500s\">", "");
    const struct {
        const char *text;
        size_t size;
        const char *why;
    } wrong[] = {
        {large, sizeof large, "larger than 4194304 bytes"},
        {"", 0, "no policy"},
        {"<p>a page", 9, "no policy"},
        {META "default-src *\">", sizeof META "default-src *\">" - 1, "no policy"},
        {META POLICY "\n\">", sizeof META POLICY "\n\">" - 1, "no policy"},
        {META POLICY "\xc3\xa9\">", sizeof META POLICY "\xc3\xa9\">" - 1, "no policy"},
        {META POLICY, sizeof META POLICY - 1, "no policy"},
        {policy, strlen(policy), "no policy"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rapt_error err = {0};
        learn_page *p;
        write_page("wrong.html", wrong[i].text, wrong[i].size);
        assert_int_not_equal(learn_read("wrong.html", &p, &err), RAPT_OK);
        assert_null(p);
        if (!strstr(err.message, wrong[i].why) || !strstr(err.message, "wrong.html"))
            fail_msg("%zu: %s: not about %s", i, err.message, wrong[i].why);
    }
    rapt_error err = {0};
    learn_page *p;
    assert_int_equal(learn_read("missing.html", &p, &err), RAPT_ERR_NOT_FOUND);
    assert_int_equal(learn_read("none", &p, NULL), RAPT_OK);
    assert_null(p);
    learn_release(learn_hold(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(there_is_none), IN_FOLDER(gives_the_page),
                                       IN_FOLDER(the_servers_page_leads_there), IN_FOLDER(bytes_are_lent),
                                       IN_FOLDER(what_is_no_lesson_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
