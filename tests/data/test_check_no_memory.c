/* tests/data/test_check_no_memory.c: every allocation of a check of pairs is made to fail in turn: the failure is reported,
 * nothing crashes, nothing is left. Linked as tests/failing.h says. */
#include "failing.h"

#include "data/check/check.h"

static rapt_code check_two_pairs(void)
{
    check_report report;
    rapt_error err = {0};
    check_options options = {.ratio = 3, .margin = 20};
    check_input in = {.name = {"pairs"}, .text = {"a\tb\nc\td\n"}, .size = {8}, .count = 1};
    return check_pairs(&in, &options, &report, &err);
}

static void test_each_allocation(void **state)
{
    (void)state;
    failing f = {.what = "checking", .at_least = 2};
    do {
        failing_arm(&f);
    } while (failing_again(&f, check_two_pairs()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
