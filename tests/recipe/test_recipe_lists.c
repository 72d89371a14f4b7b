/* tests/recipe/test_recipe_lists.c: lists of paths in recipes, and weights of corpora: read, checked, made relative to the
 * recipe, and written. For src/recipe/recipe_read.c, recipe_corpora.c and recipe_places.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rapt/recipe.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_corpora.h"
#include "recipe/recipe_read.h"

static rapt_recipe parsed_list(const char *text)
{
    rapt_recipe r;
    rapt_error err = {0};
    rapt_code code = recipe_parse("r.yaml", text, strlen(text), false, &r, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    return r;
}

static void items_are_paths_with_weights(void **state)
{
    static const struct {
        const char *yaml, *pairs, *weights;
    } cases[] = {
        {"data: {pairs: [a.tsv]}", "a.tsv", NULL},
        {"data:\n  pairs:\n  - a.en:a.de\n  - b.tsv\n", "a.en:a.de\nb.tsv", NULL},
        {"data: {pairs: [{path: a.tsv, weight: 2}, b.tsv]}", "a.tsv\nb.tsv", "2,1"},
        {"data: {pairs: [{weight: 0.50, path: a.tsv}, {path: b.tsv, weight: 1e1}]}", "a.tsv\nb.tsv", "0.5,10"},
        {"data: {pairs: [{path: a.tsv, weight: 1.0}, {path: b.tsv}]}", "a.tsv\nb.tsv", NULL}, /* as without */
        {"data: {pairs: [{path: a.tsv, weight: 3}]}", "a.tsv", "3"},
        {"data: {pairs: []}", NULL, NULL},
        {"data: {pairs: [a, b], weights: \"2, 1\"}", "a\nb", "2, 1"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r = parsed_list(cases[i].yaml);
        assert_true(!cases[i].pairs == !r.data.pairs && !cases[i].weights == !r.data.weights);
        if (cases[i].pairs)
            assert_string_equal(r.data.pairs, cases[i].pairs);
        if (cases[i].weights)
            assert_string_equal(r.data.weights, cases[i].weights);
        rapt_recipe_free(&r);
    }
    rapt_recipe r = parsed_list("data:\n  validation: [a.tsv, b.tsv]\n  text: [c, d/e]\n");
    assert_string_equal(r.data.validation, "a.tsv\nb.tsv");
    assert_string_equal(r.data.text, "c:d/e");
    rapt_recipe_free(&r);
}

#define WEIGHT(line, text)                                                                                               \
    "r.yaml:" #line ": the weight of a corpus is \"" text "\"; it must be a number above 0 and at most 1000: a corpus without " \
    "weight is left out of the list"

static void faults_are_named(void **state)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"data:\n  pairs:\n  - {path: a, weight: 0}\n", WEIGHT(3, "0")},
        {"data: {pairs: [{path: a, weight: -1}]}", WEIGHT(1, "-1")},
        {"data: {pairs: [{path: a, weight: nan}]}", WEIGHT(1, "nan")},
        {"data: {pairs: [{path: a, weight: 1001}]}", WEIGHT(1, "1001")},
        {"data:\n  pairs:\n  - a\n  - {weight: 2}\n", "r.yaml:4: an item of data.pairs has no path"},
        {"data: {pairs: [{path: a, ratio: 2}]}", "r.yaml:1: unknown key \"ratio\"; an item of data.pairs has path and weight"},
        {"data: {pairs: [{path: a,\n path: b}]}", "r.yaml:2: path comes twice; first in line 1"},
        {"data: {pairs: [{path: a, weight: 2, weight: 2}]}", "r.yaml:1: weight comes twice; first in line 1"},
        {"data: {pairs: [{path: [a]}]}", "r.yaml:1: a list; lists are for data.pairs, data.validation and data.text"},
        {"data: {pairs: [[a]]}", "r.yaml:1: a list; lists are for data.pairs, data.validation and data.text"},
        {"data: {pairs: [a, \"\"]}", "r.yaml:1: an item of data.pairs is empty"},
        {"data: {pairs: [a, ~]}", "r.yaml:1: an item of data.pairs is empty"},
        {"data: {pairs: [\"a\\nb\"]}",
         "r.yaml:1: a path of the list data.pairs has a line break in it, which separates its paths"},
        {"data: {text: [\"a:b\"]}", "r.yaml:1: a path of the list data.text has a colon in it, which separates its paths"},
        {"data: {validation: [{path: a, weight: 2}]}", "r.yaml:1: data.validation has no weights; they are for data.pairs"},
        {"data:\n  weights: 2,1\n  pairs: [{path: a, weight: 2}, b]\n", "r.yaml:3: data.weights comes twice; first in line 2"},
        {"data: {pairs: [{path: a, weight: 2}],\n weights: \"2\"}", "r.yaml:2: data.weights comes twice; first in line 1"},
        {"data: {pairs: &x [a]}", "r.yaml:1: recipes have no anchors, aliases or tags"},
        {"data: {pairs: [*x]}", "r.yaml:1: recipes have no anchors, aliases, tags or compound keys"},
        {"data: {conversations: [a]}", "r.yaml:1: a list; lists are for data.pairs, data.validation and data.text"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r;
        rapt_error err = {0};
        assert_int_not_equal(recipe_parse("r.yaml", cases[i].yaml, strlen(cases[i].yaml), false, &r, &err), RAPT_OK);
        assert_string_equal(err.message, cases[i].message);
        assert_null(r.data.pairs);
    }
}

static const char *checked(rapt_error *err, const char *pairs, const char *weights)
{
    rapt_recipe r;
    *err = (rapt_error){0};
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set_key(&r, "data.pairs", pairs, err), RAPT_OK);
    assert_int_equal(rapt_recipe_set_key(&r, "data.weights", weights, err), RAPT_OK);
    rapt_recipe_check(&r, "p", err);
    rapt_recipe_free(&r);
    return err->message;
}

static void weights_fit_the_corpora(void **state)
{
    rapt_error err;
    (void)state;
    assert_string_equal(checked(&err, "a", ""), "");
    assert_string_equal(checked(&err, "a\nb\n", "0.5 , 2"), "");
    assert_string_equal(checked(&err, "a:b", "2"), "");
    assert_string_equal(checked(&err, "a", "1,2"), "p: data.weights is 1,2, 2 weights; data.pairs names 1 corpus");
    assert_string_equal(checked(&err, "a\nb", "3"), "p: data.weights is 3, 1 weight; data.pairs names 2 corpora");
    assert_non_null(strstr(checked(&err, "a\nb", "1,,2"), "the weight of a corpus is \"\"; it must be"));
    assert_non_null(strstr(checked(&err, "a\nb", "1;2"), "the weight of a corpus is \"1;2\"; it must be"));
    assert_non_null(strstr(checked(&err, "a\nb", "1 2,3"), "the weight of a corpus is \"1 2\"; it must be"));
    assert_non_null(strstr(checked(&err, "a\nb", "1,2,"), "the weight of a corpus is \"\"; it must be"));
    assert_string_equal(checked(&err, "a\nb", "1,0.500000000000000000000000000000000000e1"), "");
    assert_non_null(strstr(checked(&err, "a\nb", "1,0.50000000000000000000000000000000000000000000000000000000000000e1"),
                           "which is longer than a weight may be, 63 characters"));
}

static void it_is_written_as_a_list(void **state)
{
    char *yaml;
    rapt_recipe r = parsed_list("data: {pairs: [{path: a b.tsv, weight: 2}, \"c.en:c.\\u00e9\"]}"), again;
    (void)state;
    assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_OK);
    assert_non_null(strstr(yaml, "\n  pairs:\n  - \"a b.tsv\"\n  - \"c.en:c.\xC3\xA9\"\n  weights: \"2,1\"\n"));
    again = parsed_list(yaml);
    assert_string_equal(again.data.pairs, r.data.pairs);
    assert_string_equal(again.data.weights, r.data.weights);
    assert_true(recipe_hash(&again) == recipe_hash(&r));
    assert_null(recipe_first_difference(&again, &r));
    assert_int_equal(rapt_recipe_set(&again, "data.weights=1,2", NULL), RAPT_OK);
    assert_string_equal(recipe_first_fixed_difference(&again, &r)->name, "data.weights");
    assert_true(recipe_hash(&again) != recipe_hash(&r) && recipe_hash_fixed(&again) != recipe_hash_fixed(&r));
    free(yaml);
    rapt_recipe_free(&r);
    rapt_recipe_free(&again);
}

/* Line breaks that separate nothing are left out. */
static void written_as_it_reads_back(void **state)
{
    static const struct {
        const char *pairs, *yaml;
    } cases[] = {{"a\n", "  pairs: \"a\"\n"},
                 {"\n\na\n\nb\n", "  pairs:\n  - \"a\"\n  - \"b\"\n"},
                 {"\n", "  pairs: \"\"\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r;
        char *yaml;
        rapt_recipe_defaults(&r);
        assert_int_equal(rapt_recipe_set_key(&r, "data.pairs", cases[i].pairs, NULL), RAPT_OK);
        assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_OK);
        assert_non_null(strstr(yaml, cases[i].yaml));
        free(yaml);
        rapt_recipe_free(&r);
    }
}

static void each_path_starts_at_the_recipe(void **state)
{
    static const char text[] = "data: {pairs: [a.tsv, /b.tsv, c.en:/c.de], validation: [v, w], text: [t, /u]}";
    rapt_recipe r;
    rapt_error err = {0};
    (void)state;
    assert_int_equal(rapt_recipe_parse(text, strlen(text), "here/data", &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "here/data/a.tsv\n/b.tsv\nhere/data/c.en:/c.de");
    assert_string_equal(r.data.validation, "here/data/v\nhere/data/w");
    assert_string_equal(r.data.text, "here/data/t:/u");
    rapt_recipe_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_paths_with_weights), cmocka_unit_test(faults_are_named),
        cmocka_unit_test(weights_fit_the_corpora), cmocka_unit_test(it_is_written_as_a_list),
        cmocka_unit_test(written_as_it_reads_back),
        cmocka_unit_test(each_path_starts_at_the_recipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
