/* tests/io/test_heads_no_memory.c: every allocation of switching heads off is made to fail in turn: the failure is reported,
 * nothing crashes, nothing is left, and the model stays as it was. Linked as tests/failing.h says. */
#include "failing.h"

#include "explain/explain_case.h"
#include "io/model_heads.h"

static rapt_model *translator, *language_model;

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    translator = case_translator();
    language_model = case_language_model();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_model_free(translator);
    rapt_model_free(language_model);
    return 0;
}

static rapt_code switch_off(const rapt_model *m, const char *name)
{
    rapt_error err = {0};
    const char *const names[] = {"*.0", name};
    rapt_model *less = rapt_model_without_heads(m, names, 2, &err);
    for (size_t i = 0; i < rapt_model_head_count(m); i++)
        assert_int_equal(rapt_model_head(m, i).off, 0);
    rapt_model_free(less);
    return less ? RAPT_OK : err.code;
}

static void test_matching(void **state)
{
    (void)state;
    failing f = {.what = "heads of a translator", .at_least = 3};
    do {
        failing_arm(&f);
    } while (failing_again(&f, switch_off(translator, "*.1")));
    f = (failing){.what = "heads of a language model", .at_least = 3};
    do {
        failing_arm(&f);
    } while (failing_again(&f, switch_off(language_model, "*.5")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matching)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
