/* tests/train/test_handshake.c: version, number format and size of numbers each tell programs apart. What processes compare
 * beside them is in test_ranks_set_up.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/ranks/handshake.h"

#include <string.h>

static void other_programs(void **state)
{
    (void)state;
    handshake_program a = handshake_program_of("0.4.0", 1, 4), b = handshake_program_of("0.4.1", 1, 4);
    handshake_program c = handshake_program_of("0.4.0", 2, 4), d = handshake_program_of("0.4.0", 1, 8);
    assert_string_equal(a.text, "rapt 0.4.0 (number format 1, numbers of 4 bytes)");
    assert_int_not_equal(memcmp(&a, &b, sizeof a), 0);
    assert_int_not_equal(memcmp(&a, &c, sizeof a), 0);
    assert_int_not_equal(memcmp(&a, &d, sizeof a), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
