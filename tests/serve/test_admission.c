/* tests/serve/test_admission.c: how much memory requests get: one large one at a time, small ones beside it, nothing beyond the
 * limit; what is given back can be given again. For serve/module/admission.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/module/admission.h"

enum { LIMIT = 800 }; /* so that more than 100 are large, and small ones have 400 */

static void shares_are_kept(void **state)
{
    admission a;
    admission_ticket large = {0}, other = {0}, small[5] = {{{0}, false}};
    size_t most;
    (void)state;
    admission_init(&a, LIMIT);
    assert_int_equal(admission_set(&a, &large, ADMISSION_MAKING, LIMIT + 1), ADMISSION_NEVER);
    assert_int_equal(admission_set(&a, &large, ADMISSION_MAKING, SIZE_MAX), ADMISSION_NEVER);
    assert_int_equal(admission_set(&a, &large, ADMISSION_MAKING, LIMIT), ADMISSION_GIVEN);
    assert_int_equal(admission_set(&a, &large, ADMISSION_READING, 1), ADMISSION_NEVER);
    assert_int_equal(admission_set(&a, &other, ADMISSION_READING, 101), ADMISSION_LATER);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(admission_set(&a, &small[i], ADMISSION_READING, 100), ADMISSION_GIVEN);
    assert_int_equal(admission_set(&a, &small[4], ADMISSION_READING, 1), ADMISSION_LATER);
    assert_int_equal(admission_given(&a, &most), LIMIT + 400);
    assert_int_equal(most, LIMIT);
    admission_return(&a, &large);
    assert_int_equal(admission_set(&a, &other, ADMISSION_READING, 101), ADMISSION_GIVEN);
    admission_return(&a, &other);
    for (size_t i = 0; i < 5; i++)
        admission_return(&a, &small[i]);
    assert_int_equal(admission_given(&a, &most), 0);
    admission_destroy(&a);
}

/* Parts add up; a request that becomes small lets another large one in, and a refusal changes nothing. */
static void parts_change(void **state)
{
    admission a;
    admission_ticket t = {0}, other = {0};
    size_t most;
    (void)state;
    admission_init(&a, LIMIT);
    assert_int_equal(admission_set(&a, &t, ADMISSION_READING, 300), ADMISSION_GIVEN);
    assert_int_equal(admission_set(&a, &t, ADMISSION_MAKING, 50), ADMISSION_GIVEN);
    assert_int_equal(admission_given(&a, &most), 350);
    assert_int_equal(admission_set(&a, &other, ADMISSION_READING, 200), ADMISSION_LATER);
    assert_int_equal(admission_set(&a, &t, ADMISSION_READING, 0), ADMISSION_GIVEN);
    assert_int_equal(admission_set(&a, &other, ADMISSION_READING, 200), ADMISSION_GIVEN);
    assert_int_equal(admission_set(&a, &t, ADMISSION_MAKING, 150), ADMISSION_LATER);
    assert_int_equal(admission_given(&a, &most), 250);
    admission_return(&a, &other);
    assert_int_equal(admission_set(&a, &t, ADMISSION_MAKING, 150), ADMISSION_GIVEN);
    assert_int_equal(admission_given(&a, &most), 150);
    assert_int_equal(most, 350);
    admission_return(&a, &t);
    admission_destroy(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_kept), cmocka_unit_test(parts_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
