/* tests/base/test_queue.c: lists of structs keep their order, whatever comes, goes and takes turns, and a sweep asks every item
 * once before it asks any again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/queue.h"
#include "base/rng.h"

enum { ITEMS = 12, SWEEPS = 5000 };

typedef struct item {
    queue_link link;
    int number;
    bool leaves;
    size_t asked; /* times */
} item;

static bool item_leaves(void *at)
{
    item *i = at;
    i->asked++;
    return i->leaves;
}

static void assert_order(const queue *q, const int *want, size_t count)
{
    const queue_link *at = q->first;
    assert_int_equal(q->count, count);
    for (size_t i = 0; i < count; i++, at = at->next)
        assert_int_equal(((const item *)at)->number, want[i]);
    assert_null(at);
    assert_true(count == 0 ? !q->last && !q->first : ((const item *)q->last)->number == want[count - 1]);
}

static void items_keep_their_order(void **state)
{
    (void)state;
    item items[4] = {{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};
    queue q = {0};
    assert_null(queue_pop(&q));
    queue_rotate(&q);
    assert_order(&q, NULL, 0);
    for (size_t i = 0; i < 4; i++)
        queue_put(&q, &items[i]);
    queue_rotate(&q);
    assert_order(&q, (const int[]){1, 2, 3, 0}, 4);
    assert_ptr_equal(queue_remove(&q, &items[3]), &items[0]);
    assert_null(queue_remove(&q, &items[3]));
    assert_ptr_equal(queue_remove(&q, &items[1]), &items[2]);
    assert_ptr_equal(queue_pop(&q), &items[1]);
    assert_order(&q, (const int[]){3}, 1);
    queue_rotate(&q);
    assert_ptr_equal(queue_pop(&q), &items[3]);
    assert_order(&q, NULL, 0);
}

/* The second sweep begins behind the third item, and the second item is its last. */
static void sweeps_move_those_that_leave(void **state)
{
    (void)state;
    item items[6] = {{.number = 0, .leaves = true}, {.number = 1}, {.number = 2, .leaves = true},
                     {.number = 3, .leaves = true}, {.number = 4}, {.number = 5, .leaves = true}};
    queue q = {0}, left = {0};
    queue_sweep(&q, 3, item_leaves, &left);
    for (size_t i = 0; i < 6; i++)
        queue_put(&q, &items[i]);
    queue_sweep(&q, 0, item_leaves, &left);
    assert_order(&left, NULL, 0);
    queue_sweep(&q, 3, item_leaves, &left);
    assert_order(&left, (const int[]){0, 2}, 2);
    assert_order(&q, (const int[]){1, 3, 4, 5}, 4);
    queue_sweep(&q, SIZE_MAX, item_leaves, &left);
    assert_order(&left, (const int[]){0, 2, 3, 5}, 4);
    assert_order(&q, (const int[]){1, 4}, 2);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(items[i].asked, 1 + (i == 1));
}

static void items_put(queue *q, item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        queue_put(q, &items[i]);
}

/* Between the sweeps, up to all items take turns. */
static void sweeps_ask_in_turn(void **state)
{
    (void)state;
    for (size_t most = 1; most <= 5; most++) {
        item items[ITEMS] = {0};
        queue q = {0}, left = {0};
        items_put(&q, items, ITEMS);
        for (size_t sweep = 1; sweep <= SWEEPS; sweep++) {
            for (uint64_t turns = rng_below(most, sweep, ITEMS + 1); turns > 0; turns--)
                queue_rotate(&q);
            queue_sweep(&q, most, item_leaves, &left);
            size_t sum = 0;
            for (size_t i = 0; i < ITEMS; i++) {
                assert_in_range(items[i].asked, sweep * most / ITEMS, sweep * most / ITEMS + 1);
                sum += items[i].asked;
            }
            assert_int_equal(sum, sweep * most);
        }
        assert_order(&left, NULL, 0);
    }
}

/* Two items leave as often as they are asked, are put out by somebody else now and then, and come again at once: a sweep of three
 * still asks one of those that stay. */
static void those_that_leave_hide_no_other(void **state)
{
    (void)state;
    item items[ITEMS] = {0};
    size_t last[ITEMS] = {0};
    queue q = {0}, left = {0};
    for (size_t i = 0; i < ITEMS; i++)
        items[i].leaves = i % 6 == 5;
    items_put(&q, items, ITEMS);
    for (size_t sweep = 0; sweep < SWEEPS; sweep++) {
        if (((const item *)q.first)->leaves)
            queue_put(&left, queue_pop(&q));
        queue_sweep(&q, 3, item_leaves, &left);
        for (size_t i = 0; i < ITEMS; i++) {
            last[i] = items[i].asked ? sweep : last[i];
            items[i].asked = 0;
            assert_true(items[i].leaves || sweep - last[i] <= ITEMS);
        }
        for (item *back; (back = queue_pop(&left));)
            queue_put(&q, back);
        assert_int_equal(q.count, ITEMS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_keep_their_order),
        cmocka_unit_test(sweeps_move_those_that_leave),
        cmocka_unit_test(sweeps_ask_in_turn),
        cmocka_unit_test(those_that_leave_hide_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
