/* tests/tape/test_free_list.c: blocks that are taken never overlap, whatever is given and taken before; adjacent ones become one;
 * the smallest that has room is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tape/free_list.h"

#include "base/rng.h"

#include <stdbool.h>
#include <string.h>

#define LINE (64 / sizeof(rapt_real))
#define LINES 512

static _Alignas(64) rapt_real memory[LINES * LINE];

static void sizes_are_whole_lines(void **state)
{
    (void)state;
    assert_int_equal(free_list_size(0), 0);
    assert_int_equal(free_list_size(1), LINE);
    assert_int_equal(free_list_size(LINE), LINE);
    assert_int_equal(free_list_size(LINE + 1), 2 * LINE);
}

static void neighbours_become_one(void **state)
{
    free_list s = {.count = 0};
    (void)state;
    free_list_give(&s, memory, LINE);
    free_list_give(&s, memory + 2 * LINE, LINE);
    assert_int_equal(s.count, 2);
    assert_null(free_list_take(&s, 2 * LINE));
    free_list_give(&s, memory + LINE, LINE - 3); /* up to the end of its line */
    assert_int_equal(s.count, 1);
    assert_ptr_equal(free_list_take(&s, 3 * LINE), memory);
    assert_int_equal(s.count, 0);
    assert_null(free_list_take(&s, 1));
}

static void the_smallest_is_cut(void **state)
{
    free_list s = {.count = 0};
    (void)state;
    free_list_give(&s, memory, 8 * LINE);
    free_list_give(&s, memory + 10 * LINE, 4 * LINE);
    free_list_give(&s, memory + 20 * LINE, 6 * LINE);
    assert_ptr_equal(free_list_take(&s, 3 * LINE), memory + 10 * LINE);
    assert_ptr_equal(free_list_take(&s, 5 * LINE), memory + 20 * LINE);
    assert_ptr_equal(free_list_take(&s, 5 * LINE), memory);
    assert_null(free_list_take(&s, 4 * LINE));
    assert_ptr_equal(free_list_take(&s, 1), memory + 25 * LINE);
}

/* A list that is full loses memory, not its sense. */
static void too_many_blocks(void **state)
{
    free_list s = {.count = 0};
    (void)state;
    for (size_t i = 0; i < FREE_LIST_MAX_BLOCKS + 5; i++)
        free_list_give(&s, memory + 2 * i * LINE, LINE);
    assert_int_equal(s.count, FREE_LIST_MAX_BLOCKS);
    for (int i = 0; i < FREE_LIST_MAX_BLOCKS; i++)
        assert_non_null(free_list_take(&s, LINE));
    assert_null(free_list_take(&s, LINE));
}

typedef struct held {
    rapt_real *at;
    size_t elements;
} held;

/* Every line has exactly one owner: the list, or one holder. */
static void check_lines(const held *holders, size_t count)
{
    static unsigned char used[LINES];
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < count; i++) {
        size_t first = (size_t)(holders[i].at - memory) / LINE, lines = free_list_size(holders[i].elements) / LINE;
        assert_int_equal((uintptr_t)holders[i].at % 64, 0);
        for (size_t j = first; j < first + lines; j++) {
            assert_true(j < LINES);
            assert_int_equal(used[j]++, 0);
        }
    }
}

static void blocks_stay_apart(void **state)
{
    held holders[FREE_LIST_MAX_BLOCKS];
    size_t count = 0;
    free_list s = {.count = 0};
    (void)state;
    free_list_give(&s, memory, LINES * LINE);
    for (uint64_t i = 0; i < 5000; i++) {
        size_t elements = (size_t)(1 + rng_below(1, i, 40 * LINE));
        rapt_real *at = count < FREE_LIST_MAX_BLOCKS / 2 && rng_below(2, i, 3) ? free_list_take(&s, elements) : NULL;
        if (at) {
            holders[count++] = (held){at, elements};
        } else if (count > 0) {
            size_t out = (size_t)rng_below(3, i, count);
            free_list_give(&s, holders[out].at, holders[out].elements);
            holders[out] = holders[--count];
        }
        check_lines(holders, count);
    }
    while (count-- > 0)
        free_list_give(&s, holders[count].at, holders[count].elements);
    assert_int_equal(s.count, 1); /* and nothing was lost */
    assert_ptr_equal(free_list_take(&s, LINES * LINE), memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_whole_lines),
        cmocka_unit_test(neighbours_become_one),
        cmocka_unit_test(the_smallest_is_cut),
        cmocka_unit_test(too_many_blocks),
        cmocka_unit_test(blocks_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
