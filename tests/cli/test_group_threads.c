/* tests/cli/test_group_threads.c: how many threads ranks take that share machines, for what launchers make of their CPUs: all of
 * them for each, a core for each, a socket for each, quotas of control groups.
 * labels: threads */
#include "cli/group/group_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 16

static rank_cpus all[RANKS];

static void set_bits(uint8_t *cpus, int first, int count)
{
    for (int i = first; i < first + count; i++)
        cpus[i / 8] |= (uint8_t)(1 << i % 8);
}

/* CPUs first .. first + count - 1, of `machine_cpus` that the launcher has. */
static void rank_of(int rank, int machine, int first, int count, int machine_cpus)
{
    memset(&all[rank], 0, sizeof all[rank]);
    snprintf(all[rank].machine, sizeof all[rank].machine, "machine %d", machine);
    set_bits(all[rank].own, first, count);
    set_bits(all[rank].launcher, 0, machine_cpus);
}

static void expect_threads(int size, const int *threads)
{
    for (int r = 0; r < size; r++)
        assert_int_equal(group_threads_of(all, size, r), threads[r]);
}

static void test_one_per_machine(void **state)
{
    (void)state;
    for (int r = 0; r < 4; r++)
        rank_of(r, r, 0, 16, 16);
    expect_threads(4, (int[]){16, 16, 16, 16});
    group_layout l = group_threads_layout(all, 4);
    assert_int_equal(l.machines, 4);
    assert_int_equal(l.threads, 64);
    assert_int_equal(l.fewest, 16);
    assert_int_equal(l.most, 16);
    assert_int_equal(l.odd_machines, 0);
}

static void test_shared(void **state)
{
    (void)state;
    for (int r = 0; r < 3; r++)
        rank_of(r, 0, 0, 8, 8);
    rank_of(3, 1, 0, 8, 8);
    expect_threads(4, (int[]){3, 3, 2, 8});
    group_layout l = group_threads_layout(all, 4);
    assert_int_equal(l.machines, 2);
    assert_int_equal(l.threads, 16);
    assert_int_equal(l.odd_machines, 0);
}

/* A core each, as Open MPI binds two processes: most of the machine is unused. */
static void test_bound(void **state)
{
    (void)state;
    rank_of(0, 0, 0, 1, 64);
    rank_of(1, 0, 1, 1, 64);
    expect_threads(2, (int[]){1, 1});
    group_layout l = group_threads_layout(all, 2);
    assert_int_equal(l.odd_machines, 1);
    assert_true(l.odd.idle);
    assert_false(l.odd.crowded);
    assert_int_equal(l.odd.cpus, 64);
    assert_int_equal(l.odd.threads, 2);
    all[0].asked = all[1].asked = 1; /* it may be meant */
    assert_int_equal(group_threads_layout(all, 2).odd_machines, 0);
}

static void test_sockets(void **state)
{
    (void)state;
    rank_of(0, 0, 0, 32, 64);
    rank_of(1, 0, 32, 32, 64);
    expect_threads(2, (int[]){32, 32});
    assert_int_equal(group_threads_layout(all, 2).odd_machines, 0);
}

static void test_too_many(void **state)
{
    (void)state;
    for (int r = 0; r < 3; r++)
        rank_of(r, 0, 0, 2, 2);
    expect_threads(3, (int[]){1, 1, 1});
    group_layout l = group_threads_layout(all, 3);
    assert_true(l.odd.crowded);
    assert_int_equal(l.odd.ranks, 3);
    assert_int_equal(l.odd.threads, 3);
    assert_int_equal(l.odd.cpus, 2);
    rank_of(0, 0, 0, 2, 2);
    all[0].asked = 4;
    assert_int_equal(group_threads_of(all, 1, 0), 4);
    assert_true(group_threads_layout(all, 1).odd.crowded);
}

/* Containers of 4 CPUs on a machine of 64: two ranks share the first one's, one has the second to itself. */
static void test_quota(void **state)
{
    (void)state;
    for (int r = 0; r < 3; r++) {
        rank_of(r, 0, 0, 64, 64);
        all[r].quota = 4;
        all[r].group = r == 2;
    }
    expect_threads(3, (int[]){2, 2, 4});
    all[0].quota = all[1].quota = 3;
    expect_threads(3, (int[]){2, 1, 4});
}

/* Nothing known of CPUs, or very many of them. */
static void test_limits(void **state)
{
    (void)state;
    rank_of(0, 0, 0, 0, 0);
    expect_threads(1, (int[]){1});
    assert_int_equal(group_threads_layout(all, 1).odd_machines, 0);
    rank_of(0, 0, 0, 1024, 1024);
    expect_threads(1, (int[]){256});
    assert_int_equal(group_threads_layout(all, 1).odd_machines, 0);
}

static void test_own(void **state)
{
    (void)state;
    rank_cpus own = group_threads_own(0, false);
    assert_true(own.machine[0] != '\0');
    all[0] = own;
    assert_true(group_threads_of(all, 1, 0) >= 1);
    own = group_threads_own(3, true);
    all[0] = own;
    assert_int_equal(group_threads_of(all, 1, 0), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_per_machine), cmocka_unit_test(test_shared),
                                       cmocka_unit_test(test_bound), cmocka_unit_test(test_sockets),
                                       cmocka_unit_test(test_too_many), cmocka_unit_test(test_quota),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
