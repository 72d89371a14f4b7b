/* tests/serve/test_deepl.c: DeepL's dialect, as deepl-python calls it: what it answers is what rapt_translate gives, and options
 * that rapt lacks are refused by name. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "serve/ask.h"
#include "serve/module/endpoints.h"

enum { MAX_LEN = 8 };

static app *served_app;
static rapt_model *own; /* with the weights of de-en */

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    own = case_translation_model(MAX_LEN, 2);
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translation_model(MAX_LEN, 2), &err));
    assert_true(served_app_add(served_app, "en-de", "en", "de", case_translation_model(MAX_LEN, -1), &err));
    assert_true(served_app_add(served_app, "en-fr", "en", "fr", case_translation_model(MAX_LEN, -1), &err));
    assert_true(served_app_add(served_app, "de-fr", "de", "fr", case_translation_model(MAX_LEN, -1), &err));
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(own);
    return 0;
}

static void assert_translation(const char *line, const char *got)
{
    rapt_translation out;
    rapt_error err = {0};
    if (rapt_translate(own, &line, 1, NULL, &out, &err))
        fail_msg("%s", err.message);
    assert_string_equal(got, out.hypotheses[0].text);
    rapt_translations_free(&out, 1);
}

/* What deepl-python sends. */
static void list_of_texts(void **state)
{
    (void)state;
    answer to = ask_post(served_app, deepl_translate, "{\"target_lang\": \"EN-US\", \"source_lang\": \"DE\","
                                                      "\"text\": [\"w1 w2\", \"\"], \"show_billed_characters\": true}");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "translations")), 2);
    assert_translation("w1 w2", answer_text(&to, "translations.0.text"));
    assert_string_equal(answer_text(&to, "translations.0.detected_source_language"), "DE");
    assert_int_equal(json_integer_value(answer_at(&to, "translations.0.billed_characters")), 5);
    assert_string_equal(answer_text(&to, "translations.1.text"), "");
    assert_string_equal(to.replay, "rapt translate de-en <<< $'w1 w2\\n'");
    answer_free(&to);
}

static void form_without_source(void **state)
{
    (void)state;
    answer to = ask_form(served_app, deepl_translate,
                         "text=w1&text=w2+w3&target_lang=en&formality=prefer_more&split_sentences=1");
    assert_status(&to, 200);
    assert_translation("w1", answer_text(&to, "translations.0.text"));
    assert_translation("w2 w3", answer_text(&to, "translations.1.text"));
    assert_string_equal(answer_text(&to, "translations.1.detected_source_language"), "DE");
    assert_int_equal(json_object_size(answer_at(&to, "translations.1")), 2);
    answer_free(&to);
}

#define WITH(field) "{\"text\": [\"w1\"], \"target_lang\": \"en\", " field "}"

static void wrong_requests(void **state)
{
    char many[512] = "{\"target_lang\": \"en\", \"text\": [\"\"";
    for (size_t i = 1; i <= 50; i++)
        strcat(many, ", \"\"");
    strcat(many, "]}");
    const refusal all[] = {
        {"{\"target_lang\": \"en\"}", 400, "text"},
        {"{\"text\": [\"w1\"]}", 400, "target_lang"},
        {"text=w1", 400, "target_lang"},
        {"{\"text\": [\"w1\"], \"target_lang\": \"xx\"}", 400, "target_lang: xx is not supported"},
        {"{\"text\": [\"w1\"], \"target_lang\": \"en\", \"source_lang\": \"xx\"}", 400, "source_lang: xx is not supported"},
        {"{\"text\": [\"w1\"], \"target_lang\": \"en\", \"source_lang\": \"fr\"}", 400, "source_lang: fr is not supported"},
        {"{\"text\": [\"w1\"], \"target_lang\": \"fr\"}", 400, "say whether the source is en or de"},
        {"{\"text\": [], \"target_lang\": \"en\"}", 400, "text"},
        {"{\"text\": [7], \"target_lang\": \"en\"}", 400, "text"},
        {many, 400, "text"},
        {WITH("\"formality\": \"more\""), 400, "formality"},
        {WITH("\"glossary_id\": \"x\""), 404, "glossary_id: there is no such glossary"},
        {WITH("\"tag_handling\": \"md\""), 400, "tag_handling"},
        {WITH("\"ignore_tags\": \"x\""), 400, "ignore_tags: tags are of markup: with tag_handling html or xml only"},
        {WITH("\"splitting_tags\": []"), 400, "splitting_tags"},
        {WITH("\"tag_handling\": \"xml\", \"splitting_tags\": [1]"), 400, "splitting_tags"},
        {WITH("\"tag_handling\": \"xml\", \"tag_handling_version\": \"v3\""), 400, "tag_handling_version"},
        {WITH("\"tag_handling\": \"xml\", \"split_sentences\": \"0\""), 400, "split_sentences"},
        {WITH("\"tag_handling\": \"xml\", \"outline_detection\": 2"), 400, "outline_detection"},
        {WITH("\"split_sentences\": \"0\""), 400, "split_sentences"},
        {WITH("\"split_sentences\": \"nonewlines\""), 400, "split_sentences"},
        {WITH("\"preserve_formatting\": true"), 400, "preserve_formatting"},
        {WITH("\"context\": \"a car\""), 400, "context"},
        {WITH("\"model_type\": \"quality_optimized\""), 400, "model_type"},
        {WITH("\"outline_detection\": true"), 400, "outline_detection"},
        {WITH("\"show_billed_characters\": 2"), 400, "show_billed_characters"},
        {"text=w1&target_lang=en&preserve_formatting=1", 400, "preserve_formatting"},
    };
    (void)state;
    check_refusals(served_app, deepl_translate, "message", all, sizeof all / sizeof *all);
}

static void tags_are_kept(void **state)
{
    (void)state;
    answer to = ask_post(served_app, deepl_translate,
                         "{\"text\": [\"<d><t>w1</t><x>w2</x></d>\"], \"target_lang\": \"en\", \"tag_handling\": \"xml\","
                         "\"ignore_tags\": [\"x,y\", \"z\"], \"outline_detection\": true, \"split_sentences\": \"nonewlines\","
                         "\"tag_handling_version\": \"v2\"}");
    assert_status(&to, 200);
    const char *text = answer_text(&to, "translations.0.text");
    assert_int_equal(strncmp(text, "<d><t>", 6), 0);
    assert_string_equal(strstr(text, "</t>"), "</t><x>w2</x></d>");
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(strstr(text, "</t>") - text - 6), text + 6);
    assert_translation("w1", line);
    assert_string_equal(to.replay, "rapt translate de-en --xml --ignore-tags 'x,y,z' <<< '<d><t>w1</t><x>w2</x></d>'");
    answer_free(&to);
    to = ask_form(served_app, deepl_translate, "text=<p>w1<q>w2</q></p>&target_lang=en&tag_handling=html&outline_detection=0&"
                                               "splitting_tags=q");
    assert_status(&to, 200);
    text = answer_text(&to, "translations.0.text");
    snprintf(line, sizeof line, "%.*s", (int)(strstr(text, "</q>") - strstr(text, "<q>") - 3), strstr(text, "<q>") + 3);
    assert_translation("w2", line);
    answer_free(&to);
}

static void neutral_options(void **state)
{
    (void)state;
    answer to = ask_post(served_app, deepl_translate,
                         WITH("\"formality\": \"default\", \"split_sentences\": \"1\", \"preserve_formatting\": false,"
                              "\"context\": \"\", \"model_type\": \"prefer_quality_optimized\", \"outline_detection\": false"));
    assert_status(&to, 200);
    answer_free(&to);
    to = ask_form(served_app, deepl_translate, "text=w1&target_lang=en&preserve_formatting=0&show_billed_characters=1");
    assert_status(&to, 200);
    assert_int_equal(json_integer_value(answer_at(&to, "translations.0.billed_characters")), 2);
    answer_free(&to);
}

static void languages_by_type(void **state)
{
    static const char source[] = "[{\"language\":\"DE\",\"name\":\"German\"},{\"language\":\"EN\",\"name\":\"English\"}]";
    static const char form[] = "application/x-www-form-urlencoded";
    (void)state;
    answer to = ask_get(served_app, deepl_languages, "/v2/languages");
    assert_string_equal(to.body.data, source);
    answer_free(&to);
    to = ask_get(served_app, deepl_languages, "/v2/languages?type=source");
    assert_string_equal(to.body.data, source);
    answer_free(&to);
    to = ask_get(served_app, deepl_languages, "/v2/languages?type=target");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(to.json), 4);
    assert_string_equal(answer_text(&to, "0.language"), "EN-GB");
    assert_string_equal(answer_text(&to, "0.name"), "English (GB)");
    assert_string_equal(answer_text(&to, "1.language"), "EN-US");
    assert_string_equal(answer_text(&to, "2.language"), "DE");
    assert_true(json_is_false(answer_at(&to, "2.supports_formality")));
    answer_free(&to);
    to = ask_with(served_app, deepl_languages, "GET", "/v2/languages", form, "type=target"); /* as deepl-python asks */
    assert_string_equal(answer_text(&to, "2.language"), "DE");
    answer_free(&to);
    to = ask_get(served_app, deepl_languages, "/v2/languages?type=both");
    assert_status(&to, 400);
    answer_free(&to);
    to = ask_with(served_app, deepl_languages, "GET", "/v2/languages", form, "type=both");
    assert_status(&to, 400);
    answer_free(&to);
}

/* Characters are code points, and count once they are translated. */
static void usage_counts_characters(void **state)
{
    rapt_error err = {0};
    app *one = served_app_new();
    (void)state;
    assert_non_null(one);
    assert_true(served_app_add(one, "de-en", "de", "en", case_translation_model(MAX_LEN, 2), &err));
    answer to = ask_post(one, deepl_translate, "{\"text\": [\"w1 \u00e4\", \"w2\"], \"target_lang\": \"en\"}");
    assert_status(&to, 200);
    answer_free(&to);
    to = ask_post(one, deepl_translate, "{\"text\": [\"w1\"], \"target_lang\": \"xx\"}");
    assert_status(&to, 400);
    answer_free(&to);
    to = ask_get(one, deepl_usage, "/v2/usage");
    assert_string_equal(to.body.data, "{\"character_count\":6,\"character_limit\":1000000000000}");
    answer_free(&to);
    served_app_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_of_texts),   cmocka_unit_test(form_without_source), cmocka_unit_test(wrong_requests),
        cmocka_unit_test(neutral_options), cmocka_unit_test(tags_are_kept),       cmocka_unit_test(languages_by_type),
        cmocka_unit_test(usage_counts_characters),
    };
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
