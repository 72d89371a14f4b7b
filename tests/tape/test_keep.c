/* tests/tape/test_keep.c: tensors of a kept pass stay as they are while others are computed and when the tape is gone; tapes
 * that share a pool, one after the other, at once, or in a child of fork(), compute what a tape of its own computes.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/tape.h"

#include "forked.h"
#include "tape/tape_core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 96, SIZE = ROWS * COLUMNS, PASSES = 200, RUNS = 50 };

typedef struct pass {
    rapt_tensor *x, *y;
} pass;

/* y = x x^T summed in the loss, so that x's gradient depends on x; x is `first`, first + 1, ... in some order. */
static pass compute(rapt_tape *t, int first)
{
    rapt_real values[SIZE];
    rapt_error err = {0};
    for (int i = 0; i < SIZE; i++)
        values[i] = (rapt_real)((first + i * 7) % 31 - 15) / 8;
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    pass p = {.x = rapt_tape_input(t, 3, (size_t[]){1, ROWS, COLUMNS}, values, true)};
    p.y = rapt_op_matmul(t, p.x, p.x, true);
    rapt_backward(t, rapt_op_sum(t, p.y), &err);
    assert_string_equal(err.message, "");
    return p;
}

/* By hand: element (i, j) of x x^T, exact in floats, and the gradient of its sum, twice the sum of x's rows. */
static void assert_right(const pass *p, int first)
{
    double sums[COLUMNS] = {0};
    for (int i = 0; i < SIZE; i++)
        sums[i % COLUMNS] += ((first + i * 7) % 31 - 15) / 8.0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = 0;
            for (int c = 0; c < COLUMNS; c++)
                sum += ((first + (i * COLUMNS + c) * 7) % 31 - 15) / 8.0 * (((first + (j * COLUMNS + c) * 7) % 31 - 15) / 8.0);
            assert_true(p->y->data[i * ROWS + j] == (rapt_real)sum);
        }
    for (int i = 0; i < SIZE; i++)
        assert_true(p->x->grad[i] == (rapt_real)(2 * sums[i % COLUMNS]));
}

static void kept_tensors_stay(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, &err);
    assert_non_null(t);
    pass passes[5];
    rapt_kept_pass *kept[5];
    for (int i = 0; i < 5; i++) {
        passes[i] = compute(t, i);
        kept[i] = rapt_tape_keep(t, &err);
        assert_non_null(kept[i]);
    }
    compute(t, 99);
    for (int i = 0; i < 5; i++)
        assert_right(&passes[i], i);
    rapt_kept_pass_release(kept[1]);
    compute(t, 98);
    assert_right(&passes[0], 0);
    rapt_tape_free(t);
    for (int i = 0; i < 5; i++)
        if (i != 1) {
            assert_right(&passes[i], i);
            rapt_kept_pass_release(kept[i]);
        }
    rapt_kept_pass_release(NULL);
}

static void references_are_counted(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    assert_non_null(t);
    pass p = compute(t, 3);
    rapt_kept_pass *first = rapt_tape_keep(t, NULL), *second = rapt_tape_keep(t, NULL);
    assert_ptr_equal(first, second);
    rapt_kept_pass_release(first);
    compute(t, 4);
    assert_right(&p, 3);
    rapt_kept_pass_release(second);
    p = compute(t, 5);
    rapt_kept_pass_release(rapt_tape_keep(t, NULL)); /* released in the pass: nothing is kept, and the pass goes on */
    assert_right(&p, 5);
    compute(t, 6);
    p = compute(t, 7);
    first = rapt_tape_keep(t, NULL);
    rapt_tape_free(t);
    assert_right(&p, 7);
    rapt_kept_pass_release(first);
}

/* A pass that was kept and released costs what a pass costs: the most at once does not grow. */
static void released_memory_is_given_back(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    assert_non_null(t);
    compute(t, 0);
    const size_t memory = rapt_tape_memory(t);
    for (int i = 0; i < PASSES; i++) {
        pass p = compute(t, i);
        rapt_kept_pass *kept = rapt_tape_keep(t, NULL);
        compute(t, i + 1);
        assert_true(p.y->data[0] == p.y->data[0]);
        rapt_kept_pass_release(kept);
    }
    assert_int_equal(rapt_tape_memory(t), memory);
    rapt_tape_free(t);
}

/* Passes that nobody keeps have huge pages again. */
static void pages_follow_what_is_kept(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    assert_non_null(t);
    compute(t, 1);
    rapt_kept_pass *kept = rapt_tape_keep(t, NULL);
    pass p = compute(t, 2);
    assert_true(t->step.small_pages);
    rapt_kept_pass_release(kept);
    const size_t memory = rapt_tape_memory(t);
    p = compute(t, 3);
    assert_false(t->step.small_pages);
    assert_right(&p, 3);
    assert_int_equal(rapt_tape_memory(t), memory);
    rapt_tape_free(t);
}

/* ---- pools ---------------------------------------------------------------------------------------------------------- */

static bool computes_right(rapt_pool *team, int first)
{
    rapt_tape *t = rapt_tape_new_in(team, NULL, NULL);
    if (!t)
        return false;
    const pass p = compute(t, first);
    assert_right(&p, first);
    rapt_tape_free(t);
    return true;
}

static void *compute_often(void *team)
{
    for (int i = 0; i < RUNS; i++)
        if (!computes_right(team, i))
            return NULL;
    return team;
}

static bool forked(void *team)
{
    const bool fine = computes_right(team, 5);
    rapt_pool_free(team);
    return fine;
}

static void tapes_share_a_pool(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_pool *team = rapt_pool_new(3, &err);
    assert_non_null(team);
    rapt_tape *first = rapt_tape_new_in(team, NULL, &err), *second = rapt_tape_new_in(team, NULL, &err);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(rapt_tape_threads(first), 3);
    const pass a = compute(first, 1), b = compute(second, 2);
    assert_right(&a, 1);
    assert_right(&b, 2);
    rapt_tape_free(first);
    assert_right(&b, 2);
    rapt_tape_free(second);
    rapt_pool_free(team);
    rapt_pool_free(NULL);
    assert_null(rapt_tape_new_in(NULL, NULL, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_null(rapt_tape_new_in(NULL, NULL, NULL));
}

static void threads_share_a_pool(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *ends[THREADS];
    rapt_pool *team = rapt_pool_new(2, NULL);
    assert_non_null(team);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute_often, team), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], &ends[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_ptr_equal(ends[i], team);
    assert_true(forked_is_fine(forked, team));
    rapt_pool_free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_tensors_stay), cmocka_unit_test(references_are_counted),
                                       cmocka_unit_test(pages_follow_what_is_kept),
                                       cmocka_unit_test(released_memory_is_given_back), cmocka_unit_test(tapes_share_a_pool),
                                       cmocka_unit_test(threads_share_a_pool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
