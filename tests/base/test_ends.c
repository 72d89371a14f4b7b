/* tests/base/test_ends.c: what texts end in, also where they are shorter than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/ends.h"

static void ends_are_found(void **state)
{
    (void)state;
    assert_true(ends_in("a.txt.gz", ".gz"));
    assert_true(ends_in(".gz", ".gz"));
    assert_true(ends_in("a", ""));
    assert_true(ends_in("", ""));
}

static void others_are_not(void **state)
{
    (void)state;
    assert_false(ends_in("gz", ".gz"));
    assert_false(ends_in("", ".gz"));
    assert_false(ends_in("a.gz.txt", ".gz"));
    assert_false(ends_in("a.GZ", ".gz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_are_found), cmocka_unit_test(others_are_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
