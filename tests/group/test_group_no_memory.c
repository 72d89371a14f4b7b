/* tests/group/test_group_no_memory.c: every allocation of a group, and of an exchange between ranks, is made to fail in turn: the
 * failure is reported, nothing crashes, nothing leaks. Linked as tests/failing.h says.
 * labels: threads */
#define _GNU_SOURCE
#include "failing.h"

#include "group/rank_exchange.h"

#include <stdlib.h>
#include <string.h>

/* ---- a group of one --------------------------------------------------------------------------------------- */

static rapt_code work_once(rapt_group *g, rapt_error *err)
{
    size_t bounds[] = {0, 5}, sizes[1];
    float numbers[5] = {1, 2, 3, 4, 5};
    rapt_real *parts[] = {numbers};
    char *all = NULL;
    int64_t mine = 7, shared;
    group_op *op = group_reduce(g, 4, bounds, parts, err);
    rapt_code code = op ? group_wait(g, op, err) : err->code;
    if (!code)
        code = group_share(g, &mine, sizeof mine, &shared, err);
    if (!code)
        code = group_share_all(g, &mine, sizeof mine, &all, sizes, err);
    free(all);
    if (!code)
        code = group_broadcast(g, 0, &mine, sizeof mine, err);
    if (!code)
        code = group_collect(g, numbers, bounds, sizeof numbers[0], err);
    return code ? code : group_agree(g, RAPT_OK, err);
}

static rapt_code group_once(void)
{
    rapt_error err = {0};
    rapt_transport *transports = rapt_group_local(1, &err);
    rapt_group *g = transports ? rapt_group_new(&transports[0], NULL, &err) : NULL;
    rapt_code code = g ? work_once(g, &err) : err.code;
    assert_int_equal(code, err.code);
    rapt_group_free(g);
    rapt_group_local_free(transports);
    return code;
}

static void group_of_one(void **state)
{
    (void)state;
    failing f = {.what = "a group of one rank", .at_least = 10, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, group_once()));
}

/* ---- an exchange of three --------------------------------------------------------------------------------- */

#define RANKS 3

static rapt_code poll_all(rank_exchange *ranks[RANKS], rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t open = 1; open > 0 && !code;) {
        open = 0;
        for (int r = 0; r < RANKS && !code; r++) {
            bool moved;
            code = rank_exchange_poll(ranks[r], &moved, err);
            open += rank_exchange_open(ranks[r]);
        }
    }
    return code;
}

static rapt_code exchange_once(void)
{
    rapt_error err = {0};
    rank_exchange *ranks[RANKS] = {NULL};
    group_op ops[RANKS];
    size_t bounds[] = {0, 10, 20, 30};
    float numbers[RANKS][2][30] = {{{0}}};
    rapt_real *parts[RANKS][2];
    rapt_transport *transports = rapt_group_local(RANKS, &err);
    rapt_code code = transports ? RAPT_OK : err.code;
    memset(ops, 0, sizeof ops);
    for (int r = 0; r < RANKS && !code; r++) {
        parts[r][0] = numbers[r][0], parts[r][1] = numbers[r][1];
        ops[r].rank = r, ops[r].size = RANKS, ops[r].shards = 5, ops[r].bounds = bounds, ops[r].parts = parts[r];
        rank_exchange_prepare_reduce(&ops[r]);
        ranks[r] = rank_exchange_new(&transports[r], r, RANKS, NULL, &err);
        code = err.code;
        if (!code)
            rank_exchange_begin(ranks[r], &ops[r]);
    }
    if (!code)
        code = poll_all(ranks, &err);
    assert_int_equal(code, err.code);
    for (int r = 0; r < RANKS; r++)
        rank_exchange_free(ranks[r]);
    rapt_group_local_free(transports);
    return code;
}

static void exchange_of_three(void **state)
{
    (void)state;
    failing f = {.what = "a sum of three ranks", .at_least = 15};
    do {
        failing_arm(&f);
    } while (failing_again(&f, exchange_once()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_of_one),
        cmocka_unit_test(exchange_of_three),
    };
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
