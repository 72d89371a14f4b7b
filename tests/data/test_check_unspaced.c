/* tests/data/test_check_unspaced.c: texts whose words are whole phrases, counted by hand. For src/data/check/check_unspaced.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/check/check_unspaced.h"

static double of(const char *line)
{
    return check_unspaced_lines(&line, 1);
}

static void test_lines(void **state)
{
    (void)state;
    static const char *const two[] = {"我喜欢喝茶。", "她 看见 那座房子。"}; /* 6 + 8 characters, 1 + 3 words */
    assert_true(of("今天天气很好。我们去公园。") == 13);
    assert_true(of("我喜欢 BERT 模型。") == 0);       /* 10 characters in 3 words */
    assert_true(of("我喜欢用BERT 的模型。") == 6);    /* 12 in 2 */
    assert_true(of("我 喜欢 这个 模型 。") == 0);
    assert_true(check_unspaced_lines(two, 1) == 6);
    assert_true(check_unspaced_lines(two, 2) == 0); /* 3.5, which is still the most that words have */
    assert_true(of("แมวนั่งบนเสื่อ") == 14);
    assert_true(of("แมว นั่ง บน เสื่อ") == 0);
    assert_true(of("Donaudampfschifffahrtsgesellschaft") == 0);
    assert_true(of("") == 0);
}

static void test_sides(void **state)
{
    (void)state;
    check_side side = {.script = "Han and kana", .words = {.mean = 2}, .characters = {.mean = 12}};
    assert_true(check_unspaced_side(&side) == 6);
    side.words.mean = 4;
    assert_true(check_unspaced_side(&side) == 0);
    side = (check_side){.script = "Thai", .words = {.mean = 2}, .characters = {.mean = 14}};
    assert_true(check_unspaced_side(&side) == 0);
    side.characters.mean = 20;
    assert_true(check_unspaced_side(&side) == 10);
    side.script = "Latin";
    assert_true(check_unspaced_side(&side) == 0);
    side.script = NULL;
    assert_true(check_unspaced_side(&side) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_sides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
