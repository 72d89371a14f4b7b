/* tests/explain/test_explain_no_memory.c: every allocation of making an explanation, and of writing it as text, JSON and page, is
 * made to fail in turn: the failure is reported, nothing crashes, nothing is left. Linked as tests/failing.h says. */
#include "failing.h"

#include "explain/explain_case.h"
#include "options.h"

static rapt_model *translator, *language_model;
static rapt_explanation *made;

static int set_up(void **state)
{
    static const char *const names[] = {"blocks.1.ffn.*", "*.weights", "output", "probabilities", "tokens", "predictions", "lens",
                                        "loss"};
    rapt_explain_options o = EXPLAIN(.gradients = true, .lens = true, .threads = 1, .names = names, .name_count = 8);
    rapt_error err = {0};
    if (failing_check_link(state))
        return -1;
    translator = case_translator();
    language_model = case_language_model();
    made = rapt_explanation_new(language_model, "hello", strlen("hello"), &o, &err);
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_explanation_free(made);
    rapt_model_free(translator);
    rapt_model_free(language_model);
    return 0;
}

static rapt_code make(const rapt_model *m, const char *text, rapt_explain_options o)
{
    rapt_error err = {0};
    o.threads = 1;
    rapt_explanation *e = rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, &err);
    rapt_explanation_free(e);
    return e ? RAPT_OK : err.code;
}

/* What shared libraries allocate for words is counted when it is freed only: leaks of pairs are for sanitizers to see. */
static void test_pair(void **state)
{
    (void)state;
    failing f = {.what = "a pair", .at_least = 30, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, make(translator, "w1 w2", EXPLAIN(.target = rapt_text_of("w3 w4"), .gradients = true))));
}

static void test_translation(void **state)
{
    (void)state;
    failing f = {.what = "a translation", .at_least = 30, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, make(translator, "w1 w2", EXPLAIN(.model_name = "a model"))));
}

static void test_lens(void **state)
{
    (void)state;
    failing f = {.what = "a logit lens", .at_least = 20};
    do {
        failing_arm(&f);
    } while (failing_again(&f, make(language_model, "hello", EXPLAIN(.lens = true))));
}

/* A name that isn't kept is missing among the near ones, no more. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"*.weights", "loss"};
    failing f = {.what = "names", .at_least = 20, .unnoticed = 100};
    do {
        failing_arm(&f);
    } while (failing_again(&f, make(language_model, "hello", EXPLAIN(.names = names, .name_count = 2, .gradients = true))));
}

/* Memory of streams and JSON is made in shared libraries, which are not counted. */
static void fail_each(const char *what, rapt_code (*write)(char **text, rapt_error *err), long at_least)
{
    failing f = {.what = what, .at_least = at_least, .uncounted = true};
    bool again = true;
    while (again) {
        char *text = NULL;
        rapt_error err = {0};
        failing_arm(&f);
        rapt_code code = write(&text, &err);
        failing_disarm();
        assert_int_equal(text != NULL, code == RAPT_OK);
        assert_int_equal(err.code, code);
        free(text);
        again = failing_again(&f, code);
    }
}

static rapt_code write_text(char **text, rapt_error *err)
{
    return rapt_explanation_text(made, NULL, text, NULL, err);
}

static rapt_code write_table(char **text, rapt_error *err)
{
    return rapt_explanation_text(made, &EXPLAIN_FORMAT(.table = true, .all_positions = true), text, NULL, err);
}

static rapt_code write_json(char **text, rapt_error *err)
{
    return rapt_explanation_json(made, &EXPLAIN_FORMAT(.full = true), text, NULL, err);
}

static rapt_code write_page(char **text, rapt_error *err)
{
    return rapt_explanation_page(made, NULL, text, NULL, err);
}

/* A page of `made` with itself as a checkpoint. */
static rapt_code write_page_of_checkpoints(char **text, rapt_error *err)
{
    rapt_explained_checkpoint one = {5, made};
    rapt_explain_page_options o = EXPLAIN_PAGE(.checkpoints = &one, .checkpoint_count = 1);
    return rapt_explanation_page(made, &o, text, NULL, err);
}

static void test_like(void **state)
{
    (void)state;
    failing f = {.what = "the tokens of another", .at_least = 20};
    do {
        failing_arm(&f);
    } while (failing_again(&f, make(language_model, NULL, EXPLAIN(.like = made))));
}

static void test_written(void **state)
{
    (void)state;
    fail_each("text", write_text, 5);
    fail_each("tables", write_table, 30);
    fail_each("JSON", write_json, 2);
    fail_each("a page", write_page, 50);
    fail_each("a page of checkpoints", write_page_of_checkpoints, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pair), cmocka_unit_test(test_translation),
                                       cmocka_unit_test(test_names), cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_like), cmocka_unit_test(test_lens)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
