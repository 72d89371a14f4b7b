/* tests/serve/test_deepl_glossaries.c: DeepL's glossaries: made, listed, read, used and deleted by their owner, within bounds;
 * what they do to translations is what rapt_translate does with them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "rapt/glossary.h"
#include "serve/ask.h"
#include "serve/module/endpoints.h"
#include "serve/module/glossaries.h"

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
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(own);
    return 0;
}

#define TERMS "w1 w2\\tw30 w31\\nw4\\tw32\\n"
#define MADE "\"name\": \"mine\", \"source_lang\": \"DE\", \"target_lang\": \"EN-US\""

/* Makes a glossary; `id` has its id then. */
static void make(char id[GLOSSARY_ID])
{
    answer to = ask_post(served_app, deepl_glossary_add, "{" MADE ", \"entries\": \"" TERMS "\", \"entries_format\": \"tsv\"}");
    assert_status(&to, 201);
    assert_string_equal(answer_text(&to, "name"), "mine");
    assert_string_equal(answer_text(&to, "source_lang"), "de");
    assert_string_equal(answer_text(&to, "target_lang"), "en");
    assert_int_equal(strlen(answer_text(&to, "creation_time")), strlen("2026-01-02T03:04:05.678Z"));
    assert_true(json_is_true(answer_at(&to, "ready")));
    assert_int_equal(json_integer_value(answer_at(&to, "entry_count")), 2);
    assert_int_equal(strlen(answer_text(&to, "glossary_id")), GLOSSARY_ID - 1);
    snprintf(id, GLOSSARY_ID, "%s", answer_text(&to, "glossary_id"));
    answer_free(&to);
}

static answer at_id(app_route_fn *route, const char *method, const char *id, const char *rest)
{
    char target[200];
    snprintf(target, sizeof target, "/v2/glossaries/%s%s", id, rest);
    return ask_with(served_app, route, method, target, NULL, "");
}

static void delete(const char *id)
{
    answer to = at_id(deepl_glossary_delete, "DELETE", id, "");
    assert_int_equal(to.status, 204);
    assert_int_equal(to.body.size, 0);
    answer_free(&to);
}

static void one_is_made_read_and_deleted(void **state)
{
    char id[GLOSSARY_ID], other[GLOSSARY_ID];
    (void)state;
    make(id);
    make(other);
    assert_string_not_equal(id, other);
    answer to = ask_get(served_app, deepl_glossary_list, "/v2/glossaries");
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "glossaries")), 2);
    assert_string_equal(answer_text(&to, "glossaries.0.glossary_id"), id);
    assert_string_equal(answer_text(&to, "glossaries.1.glossary_id"), other);
    answer_free(&to);
    to = at_id(deepl_glossary_get, "GET", id, "");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "glossary_id"), id);
    answer_free(&to);
    to = at_id(deepl_glossary_get, "GET", id, "/entries");
    assert_int_equal(to.status, 200);
    assert_string_equal(to.type, "text/tab-separated-values; charset=utf-8");
    assert_string_equal(to.body.data, "w1 w2\tw30 w31\nw4\tw32\n");
    answer_free(&to);
    delete(id);
    static const char *const gone[] = {"", "/entries", "/more"};
    for (size_t i = 0; i < 3; i++) {
        to = at_id(deepl_glossary_get, "GET", i == 2 ? other : id, gone[i]);
        assert_status(&to, 404);
        answer_free(&to);
    }
    to = at_id(deepl_glossary_delete, "DELETE", id, "");
    assert_status(&to, 404);
    answer_free(&to);
    delete(other);
}

static void translate_with(const char *id, const char *line, const rapt_glossary *g)
{
    char body[300];
    rapt_translation out;
    rapt_error err = {0};
    rapt_translate_options o = rapt_translate_options_default();
    o.glossary = g;
    snprintf(body, sizeof body, "{\"text\": [\"%s\"], \"source_lang\": \"DE\", \"target_lang\": \"EN-US\"%s%s%s}", line,
             g ? ", \"glossary_id\": \"" : "", g ? id : "", g ? "\"" : "");
    answer to = ask_post(served_app, deepl_translate, body);
    assert_status(&to, 200);
    assert_int_equal(rapt_translate(own, &line, 1, &o, &out, &err), RAPT_OK);
    assert_string_equal(answer_text(&to, "translations.0.text"), out.hypotheses[0].text);
    assert_true(!g || strcmp(line, "w3") == 0 || strstr(out.hypotheses[0].text, "w3"));
    rapt_translations_free(&out, 1);
    answer_free(&to);
}

static void translations_obey(void **state)
{
    char id[GLOSSARY_ID], body[300];
    (void)state;
    make(id);
    rapt_glossary *g = rapt_glossary_parse("g", rapt_text_of("w1 w2\tw30 w31\nw4\tw32\n"), NULL);
    assert_non_null(g);
    translate_with(id, "w1 w2 w3", g);
    translate_with(id, "w4 w4", g);
    translate_with(id, "w3", g);
    translate_with(id, "w1 w2 w3", NULL);
    static const struct {
        const char *fields, *why;
        int status;
    } wrong[] = {
        {"\"target_lang\": \"en\"", "source_lang: a glossary needs the language of the text", 400},
        {"\"source_lang\": \"en\", \"target_lang\": \"de\"",
         "glossary_id: the glossary translates from de to en, and the request from en to de", 400},
    };
    for (size_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"text\": [\"w1\"], \"glossary_id\": \"%s\", %s}", id, wrong[i].fields);
        answer to = ask_post(served_app, deepl_translate, body);
        assert_status(&to, wrong[i].status);
        assert_string_equal(answer_text(&to, "message"), wrong[i].why);
        answer_free(&to);
    }
    delete(id);
    answer to = ask_post(served_app, deepl_translate, "{\"text\": [\"w1\"], \"source_lang\": \"de\", \"target_lang\": \"en\","
                                                      "\"glossary_id\": \"00000000-0000-0000-0000-000000000000\"}");
    assert_status(&to, 404);
    answer_free(&to);
    rapt_glossary_free(g);
}

static void wrong_glossaries_are_refused(void **state)
{
    char name[1200];
    snprintf(name, sizeof name, "{\"source_lang\": \"de\", \"target_lang\": \"en\", \"entries\": \"a\\tb\", "
                                "\"name\": \"%01030d\"}", 7);
    const refusal all[] = {
        {"{" MADE "}", 400, "entries"},
        {"{\"name\": \"n\", \"source_lang\": \"de\", \"entries\": \"a\\tb\"}", 400, "target_lang"},
        {"{\"name\": \"\", \"source_lang\": \"de\", \"target_lang\": \"en\", \"entries\": \"a\\tb\"}", 400, "name"},
        {name, 400, "name"},
        {"{\"name\": \"n\", \"source_lang\": \"de\", \"target_lang\": \"fr\", \"entries\": \"a\\tb\"}", 400,
         "target_lang: no model translates from de to fr"},
        {"{" MADE ", \"entries\": \"a,b\", \"entries_format\": \"csv\"}", 400, "entries_format"},
        {"{" MADE ", \"entries\": \"a\\tb\\nc\"}", 400, "entries:2: a line of a glossary is a source, one tab and a target"},
        {"{" MADE ", \"entries\": \"a\\tb\\na\\tc\"}", 400, "entries:2: line 1 has the source \"a\" already"},
        {"{" MADE ", \"entries\": \"a\\tb\", \"dictionaries\": []}", 400, "dictionaries"},
    };
    (void)state;
    check_refusals(served_app, deepl_glossary_add, "message", all, sizeof all / sizeof *all);
    answer to = ask_get(served_app, deepl_glossary_list, "/v2/glossaries");
    assert_string_equal(to.body.data, "{\"glossaries\":[]}");
    answer_free(&to);
}

static void pairs_are_those_of_models(void **state)
{
    (void)state;
    answer to = ask_get(served_app, deepl_glossary_pairs, "/v2/glossary-language-pairs");
    assert_string_equal(to.body.data, "{\"supported_languages\":[{\"source_lang\":\"de\",\"target_lang\":\"en\"},"
                                      "{\"source_lang\":\"en\",\"target_lang\":\"de\"}]}");
    answer_free(&to);
}

/* ---- the list ------------------------------------------------------------------------------------------------------------ */

static const kept_glossary *keep(glossaries *g, const char *owner, size_t bytes, const char **why)
{
    kept_glossary one = {.source = "de", .target = "en", .name = strdup("n"), .bytes = bytes,
                         .terms = rapt_glossary_parse("g", rapt_text_of("a\tb"), NULL)};
    snprintf(one.owner, sizeof one.owner, "%s", owner);
    const kept_glossary *kept = glossaries_add(g, &one, why);
    if (!kept) {
        free(one.name);
        rapt_glossary_free(one.terms);
    }
    return kept;
}

static void count_one(void *context, const kept_glossary *one)
{
    assert_non_null(one->terms);
    ++*(size_t *)context;
}

static size_t count(glossaries *g, const char *owner)
{
    size_t n = 0;
    glossaries_each(g, owner, count_one, &n);
    return n;
}

static void owners_see_their_own_within_bounds(void **state)
{
    const char *why;
    glossaries *g = glossaries_new();
    (void)state;
    const kept_glossary *first = keep(g, "ann", 10, &why);
    assert_non_null(first);
    assert_null(glossaries_find(g, "bob", first->id));
    assert_false(glossaries_remove(g, "bob", first->id));
    const kept_glossary *found = glossaries_find(g, "ann", first->id);
    assert_ptr_equal(found, first);
    glossaries_release(found);
    assert_true(glossaries_remove(g, "ann", first->id));
    assert_int_equal(rapt_glossary_count(first->terms), 1); /* who uses it keeps it */
    glossaries_release(first);
    for (size_t i = 0; i < GLOSSARIES_EACH; i++)
        glossaries_release(keep(g, "ann", 10, &why));
    assert_null(keep(g, "ann", 10, &why));
    assert_string_equal(why, "there are 100 glossaries already: delete one first");
    assert_null(keep(g, "bob", GLOSSARIES_EACH_BYTES + 1, &why));
    assert_string_equal(why, "the glossaries would take more than 32 MiB: delete one first");
    for (char owner[] = "c"; owner[0] < 'g'; owner[0]++)
        glossaries_release(keep(g, owner, GLOSSARIES_EACH_BYTES - 1000, &why));
    assert_null(keep(g, "zoe", GLOSSARIES_EACH_BYTES, &why));
    assert_string_equal(why, "the server has no room for more glossaries");
    assert_int_equal(count(g, "ann"), GLOSSARIES_EACH);
    assert_int_equal(count(g, "d"), 1);
    assert_int_equal(count(g, "zoe"), 0);
    glossaries_free(g);
    glossaries_free(NULL);
    glossaries_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_made_read_and_deleted), cmocka_unit_test(translations_obey),
        cmocka_unit_test(wrong_glossaries_are_refused), cmocka_unit_test(pairs_are_those_of_models),
        cmocka_unit_test(owners_see_their_own_within_bounds),
    };
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
