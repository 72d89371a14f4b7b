/* tests/serve/test_libre.c: LibreTranslate's dialect: what it answers is what rapt_translate gives, in the shapes that its
 * clients read; what is wrong is refused in its words. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "options.h"
#include "serve/ask.h"
#include "serve/module/endpoints.h"

enum { MAX_LEN = 8 };

static app *served_app;
static rapt_model *own; /* with the weights of the one that is served */

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    own = case_translation_model(MAX_LEN, 2);
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "en-de", "en", "de", case_translation_model(MAX_LEN, 2), &err));
    assert_true(served_app_add(served_app, "en-fr", "en", "fr", case_translation_model(MAX_LEN, -1), &err));
    assert_true(served_app_add(served_app, "es-fr", "es", "fr", case_translation_model(MAX_LEN, 3), &err));
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(own);
    return 0;
}

static void assert_translation(const char *line, rapt_translate_options o, size_t n, const char *got)
{
    rapt_translation out;
    rapt_error err = {0};
    if (rapt_translate(own, &line, 1, &o, &out, &err))
        fail_msg("%s", err.message);
    assert_string_equal(got, out.hypotheses[n].text);
    rapt_translations_free(&out, 1);
}

static void one_text(void **state)
{
    (void)state;
    answer to = ask_post(served_app, libre_translate, "{\"q\": \"w1 w2 w3\", \"source\": \"en\", \"target\": \"de\"}");
    assert_status(&to, 200);
    assert_string_equal(to.type, "application/json");
    assert_translation("w1 w2 w3", TRANSLATE(), 0, answer_text(&to, "translatedText"));
    assert_int_equal(json_object_size(to.json), 1);
    assert_string_equal(to.replay, "rapt translate en-de <<< 'w1 w2 w3'");
    answer_free(&to);
}

static void list_and_form(void **state)
{
    (void)state;
    answer to = ask_post(served_app, libre_translate,
                         "{\"q\": [\"w1\", \"\", \"w4 w5\"], \"source\": \"en\", \"target\": \"de\", \"format\": \"text\","
                         "\"api_key\": \"x\"}");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "translatedText")), 3);
    assert_translation("w1", TRANSLATE(), 0, answer_text(&to, "translatedText.0"));
    assert_string_equal(answer_text(&to, "translatedText.1"), "");
    assert_translation("w4 w5", TRANSLATE(), 0, answer_text(&to, "translatedText.2"));
    assert_string_equal(to.replay, "rapt translate en-de <<< $'w1\\n\\nw4 w5'");
    answer_free(&to);
    to = ask_form(served_app, libre_translate, "q=w1+w2&source=EN&target=de-AT");
    assert_status(&to, 200);
    assert_translation("w1 w2", TRANSLATE(), 0, answer_text(&to, "translatedText"));
    answer_free(&to);
}

/* The text of a document is what the lines between its tags are translated to; its tags stay. */
static void documents(void **state)
{
    (void)state;
    answer to = ask_post(served_app, libre_translate,
                         "{\"q\": [\"<p n=1>w1 w2</p>\\n<p>w3</p>\", \"\", \"<b>12</b>\"], \"source\": \"en\","
                         "\"target\": \"de\", \"format\": \"html\"}");
    assert_status(&to, 200);
    static const char *const lines[] = {"w1 w2", "w3"};
    rapt_translation out[2];
    char expected[512];
    assert_int_equal(rapt_translate(own, lines, 2, NULL, out, NULL), RAPT_OK);
    snprintf(expected, sizeof expected, "<p n=1>%s</p>\n<p>%s</p>", out[0].hypotheses[0].text, out[1].hypotheses[0].text);
    assert_string_equal(answer_text(&to, "translatedText.0"), expected);
    assert_string_equal(answer_text(&to, "translatedText.1"), "");
    assert_string_equal(answer_text(&to, "translatedText.2"), "<b>12</b>");
    assert_string_equal(to.replay, "");
    answer_free(&to);
    rapt_translations_free(out, 2);
    to = ask_post(served_app, libre_translate,
                  "{\"q\": \"<b>w1</b>\", \"source\": \"en\", \"target\": \"de\", \"format\": \"html\"}");
    assert_string_equal(to.replay, "rapt translate en-de --html <<< '<b>w1</b>'");
    answer_free(&to);
    to = ask_post(served_app, libre_translate, "{\"q\": \"<p>w1</p>\", \"source\": \"en\", \"target\": \"de\","
                                               "\"format\": \"html\", \"alternatives\": 1}");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "alternatives")), 1);
    assert_int_equal(strncmp(answer_text(&to, "alternatives.0"), "<p>", 3), 0);
    answer_free(&to);
}

/* A text of several lines is translated line by line. */
static void lines_of_a_text(void **state)
{
    rapt_translation out[3];
    const char *lines[] = {"w1 w2", "", "w9"};
    char expected[512];
    (void)state;
    assert_int_equal(rapt_translate(own, lines, 3, NULL, out, NULL), RAPT_OK);
    snprintf(expected, sizeof expected, "%s\n%s\n%s", out[0].hypotheses[0].text, out[1].hypotheses[0].text,
             out[2].hypotheses[0].text);
    answer to = ask_post(served_app, libre_translate, "{\"q\": \"w1 w2\\r\\n\\nw9\", \"source\": \"en\", \"target\": \"de\"}");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "translatedText"), expected);
    answer_free(&to);
    rapt_translations_free(out, 3);
}

static void alternatives_are_hypotheses(void **state)
{
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 4, .n_best = 4};
    (void)state;
    answer to = ask_post(served_app, libre_translate,
                         "{\"q\": \"w1 w2 w3\", \"source\": \"en\", \"target\": \"de\", \"alternatives\": 3}");
    assert_status(&to, 200);
    assert_translation("w1 w2 w3", o, 0, answer_text(&to, "translatedText"));
    assert_int_equal(json_array_size(answer_at(&to, "alternatives")), 3);
    assert_translation("w1 w2 w3", o, 1, answer_text(&to, "alternatives.0"));
    assert_translation("w1 w2 w3", o, 3, answer_text(&to, "alternatives.2"));
    answer_free(&to);
    to = ask_post(served_app, libre_translate,
                  "{\"q\": [\"w1\", \"w3\"], \"source\": \"en\", \"target\": \"de\", \"alternatives\": 1}");
    assert_status(&to, 200);
    assert_translation("w3", TRANSLATE(.beam = 2, .n_best = 2), 1, answer_text(&to, "alternatives.1.0"));
    answer_free(&to);
}

/* Nothing is detected: to German there is one source, to French there are two. */
static void auto_is_the_only_source(void **state)
{
    (void)state;
    answer to = ask_post(served_app, libre_translate, "{\"q\": \"w1\", \"source\": \"auto\", \"target\": \"de\"}");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "detectedLanguage.language"), "en");
    assert_true(json_number_value(answer_at(&to, "detectedLanguage.confidence")) == 0);
    answer_free(&to);
    to = ask_post(served_app, libre_translate, "{\"q\": \"w1\", \"source\": \"auto\", \"target\": \"fr\"}");
    assert_status(&to, 400);
    assert_string_equal(answer_text(&to, "error"), "languages are not detected: say whether the source is en or es");
    answer_free(&to);
}

static void wrong_requests(void **state)
{
    static const refusal all[] = {
        {"{\"source\": \"en\", \"target\": \"de\"}", 400, "Invalid request: missing q parameter"},
        {"{\"q\": \"w1\", \"target\": \"de\"}", 400, "Invalid request: missing source parameter"},
        {"{\"q\": \"w1\", \"source\": \"en\"}", 400, "Invalid request: missing target parameter"},
        {"source=en&target=de", 400, "Invalid request: missing q parameter"},
        {"{\"q\": \"w1\", \"source\": \"zz\", \"target\": \"de\"}", 400, "zz is not supported"},
        {"{\"q\": \"w1\", \"source\": \"en\", \"target\": \"zz\"}", 400, "zz is not supported"},
        {"{\"q\": \"w1\", \"source\": \"auto\", \"target\": \"zz\"}", 400, "zz is not supported"},
        {"{\"q\": \"w1\", \"source\": \"es\", \"target\": \"de\"}", 400, "no model translates from es to de"},
        {"{\"q\": \"w1\", \"source\": \"en\", \"target\": \"de\", \"format\": \"xml\"}", 400, "format: \"xml\""},
        {"{\"q\": \"w1\", \"source\": \"en\", \"target\": \"de\", \"alternatives\": 10000}", 400, "alternatives"},
        {"{\"q\": \"w1\", \"source\": \"en\", \"target\": \"de\", \"alternatives\": -1}", 400, "alternatives"},
        {"{\"q\": \"w1\", \"source\": \"en\", \"target\": \"de\", \"glossary\": 1}", 400, "glossary"},
        {"{\"q\": 7, \"source\": \"en\", \"target\": \"de\"}", 400, "q"},
        {"{\"q\": [\"w1\", 7], \"source\": \"en\", \"target\": \"de\"}", 400, "q"},
        {"{\"q\": [], \"source\": \"en\", \"target\": \"de\"}", 400, "q"},
        {"{\"q\": \"w1\\u0000\", \"source\": \"en\", \"target\": \"de\"}", 400, "\\u0000"},
        {"{\"q\": \"w1\", \"source\": 1, \"target\": \"de\"}", 400, "source"},
        {"{\"q\": \"w1\"", 400, "JSON"},
        {"[1]", 400, "object"},
        {"q=%zz&source=en&target=de", 400, "form"},
        {"q=%00&source=en&target=de", 400, "form"},
        {"q=%ff&source=en&target=de", 400, "form"},
    };
    (void)state;
    check_refusals(served_app, libre_translate, "error", all, sizeof all / sizeof *all);
}

static void more_lines_than_allowed(void **state)
{
    static const refusal all[] = {{"{\"q\": \"w1\\nw2\\nw3\\nw4\", \"source\": \"en\", \"target\": \"de\"}", 413, "4 lines"}};
    (void)state;
    served_app_limits(served_app)->texts = 3;
    check_refusals(served_app, libre_translate, "error", all, 1);
    served_app_limits(served_app)->texts = 100;
}

static void languages(void **state)
{
    (void)state;
    answer to = ask_get(served_app, libre_languages, "/languages");
    assert_status(&to, 200);
    assert_string_equal(to.body.data, "[{\"code\":\"en\",\"name\":\"English\",\"targets\":[\"de\",\"fr\"]},"
                                      "{\"code\":\"de\",\"name\":\"German\",\"targets\":[]},"
                                      "{\"code\":\"fr\",\"name\":\"French\",\"targets\":[]},"
                                      "{\"code\":\"es\",\"name\":\"Spanish\",\"targets\":[\"fr\"]}]");
    answer_free(&to);
}

static void detection_is_not_claimed(void **state)
{
    static const refusal all[] = {{"{\"q\": \"hola\"}", 400, "languages are not detected"}, {"{}", 400, "missing q parameter"}};
    rapt_error err = {0};
    app *one = served_app_new();
    (void)state;
    check_refusals(served_app, libre_detect, "error", all, 2);
    assert_non_null(one);
    assert_true(served_app_add(one, "en-de", "en", "de", case_translation_model(MAX_LEN, 2), &err));
    answer to = ask_form(one, libre_detect, "q=hola");
    assert_string_equal(to.body.data, "[{\"confidence\":0.0,\"language\":\"en\"}]");
    answer_free(&to);
    served_app_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_text),
        cmocka_unit_test(list_and_form),
        cmocka_unit_test(lines_of_a_text), cmocka_unit_test(documents),
        cmocka_unit_test(alternatives_are_hypotheses),
        cmocka_unit_test(auto_is_the_only_source),
        cmocka_unit_test(wrong_requests),
        cmocka_unit_test(more_lines_than_allowed),
        cmocka_unit_test(languages),
        cmocka_unit_test(detection_is_not_claimed),
    };
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
