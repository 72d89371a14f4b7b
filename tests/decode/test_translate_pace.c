/* tests/decode/test_translate_pace.c: how many rows a step may have, by times that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_pace.h"

/* A step takes 10 ms and 1 ms for each row. */
static void add(translate_pace *p, size_t rows)
{
    translate_pace_add(p, rows, 0.010 + 0.001 * (double)rows);
}

static void rows_follow_the_times(void **state)
{
    (void)state;
    translate_pace p = {0};
    assert_int_equal(translate_pace_rows(&p, 3), 8); /* nothing is known */
    add(&p, 16);
    assert_int_equal(translate_pace_rows(&p, 3), 8);
    add(&p, 1);
    assert_int_equal(translate_pace_rows(&p, 1.5), 1); /* two rows may take twice the time */
    add(&p, 2);
    add(&p, 4);
    add(&p, 8);
    assert_int_equal(translate_pace_rows(&p, 1), 1);
    assert_int_equal(translate_pace_rows(&p, 1.2), 2); /* 12 of 11 ms */
    assert_int_equal(translate_pace_rows(&p, 3), 16);  /* 26 ms; 32 rows would be 52 */
    add(&p, 32);
    add(&p, 64);
    assert_int_equal(translate_pace_rows(&p, 4), 32);  /* 42 ms */
    assert_int_equal(translate_pace_rows(&p, 100), 512); /* 74 ms of 64 rows, doubled while it is below 1.1 s */
}

/* A step that was interrupted says nothing; a machine that is slower from now on is noticed. */
static void the_shortest_times_count(void **state)
{
    (void)state;
    translate_pace p = {0};
    for (size_t rows = 1; rows <= 64; rows *= 2)
        add(&p, rows);
    for (size_t i = 0; i < 20; i++)
        translate_pace_add(&p, 16, 1);
    assert_int_equal(translate_pace_rows(&p, 3), 16);
    for (size_t i = 0; i < 2000; i++)
        translate_pace_add(&p, 16, 1);
    assert_int_equal(translate_pace_rows(&p, 3), 8);
    add(&p, 17); /* counts as 16 */
    assert_int_equal(translate_pace_rows(&p, 3), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_follow_the_times), cmocka_unit_test(the_shortest_times_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
