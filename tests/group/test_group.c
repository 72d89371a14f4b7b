/* tests/group/test_group.c: groups of threads: every operation against its definition, also on one rank; several in flight and
 * waited for in any order; what ranks agree on; statistics.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "group_case.h"
#include "options.h"

#define ELEMENTS 5000
#define BUCKETS 12

static void run_group(int size, void (*body)(case_rank *r))
{
    rapt_error err = {0};
    rapt_transport *transports = rapt_group_local(size, &err);
    case_rank ranks[16] = {{{0}}};
    assert_non_null(transports);
    for (int i = 0; i < size; i++)
        ranks[i].transport = transports[i];
    assert_int_equal(case_run(ranks, size, body), 0);
    rapt_group_local_free(transports);
}

static void run_groups(void (*body)(case_rank *r))
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run_group(sizes[i], body);
}

/* ---- sums and gathers ------------------------------------------------------------------------------------- */

/* A step: buckets are summed, each owner writes its range, and all gather it. */
static void step_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    case_parts parts[BUCKETS];
    size_t bounds[BUCKETS][17];
    group_op *sums[BUCKETS], *gathers[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) {
        case_bounds(bounds[b], size, ELEMENTS + 7 * (size_t)b);
        case_fill_parts(&parts[b], rank, size, 24, bounds[b][size]);
    }
    for (int b = 0; b < BUCKETS; b++)
        CASE_CHECK(r, (sums[b] = group_reduce(r->g, 24, bounds[b], parts[b].parts, &r->err)));
    for (int b = BUCKETS - 1; b >= 0; b--) {
        CASE_CHECK(r, group_wait(r->g, sums[b], &r->err) == RAPT_OK);
        CASE_CHECK(r, case_wrong(parts[b].parts[0], rank, size, 24, bounds[b]) == 0);
    }
    for (int b = 0; b < BUCKETS; b++)
        CASE_CHECK(r, (gathers[b] = group_gather(r->g, parts[b].parts[0], bounds[b], sizeof(float), &r->err)));
    for (int b = 0; b < BUCKETS; b++) {
        CASE_CHECK(r, group_wait(r->g, gathers[b], &r->err) == RAPT_OK);
        size_t wrong = 0;
        for (int other = 0; other < size; other++)
            wrong += case_wrong(parts[b].parts[0], other, size, 24, bounds[b]);
        CASE_CHECK(r, wrong == 0);
        case_free_parts(&parts[b]);
    }
    rapt_group_free(r->g);
}

static void steps(void **state)
{
    (void)state;
    run_groups(step_body);
}

/* ---- small ones ------------------------------------------------------------------------------------------- */

static void share_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    for (int turn = 0; turn < 50; turn++) {
        int32_t mine[3] = {rank, turn, 7 * rank}, all[16][3];
        CASE_CHECK(r, group_share(r->g, mine, sizeof mine, all, &r->err) == RAPT_OK);
        for (int i = 0; i < size; i++)
            CASE_CHECK(r, all[i][0] == i && all[i][1] == turn && all[i][2] == 7 * i);
    }
    CASE_CHECK(r, group_share(r->g, NULL, 0, &rank, &r->err) == RAPT_OK);
    rapt_group_free(r->g);
}

/* Rank i gives 3 i bytes: the first one nothing. */
static void share_all_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    char mine[64], *all, *at;
    size_t sizes[16];
    memset(mine, 'a' + rank, sizeof mine);
    CASE_CHECK(r, group_share_all(r->g, mine, 3 * (size_t)rank, &all, sizes, &r->err) == RAPT_OK);
    at = all;
    for (int i = 0; i < size; i++) {
        CASE_CHECK(r, sizes[i] == 3 * (size_t)i);
        for (size_t k = 0; k < sizes[i]; k++)
            CASE_CHECK(r, *at++ == 'a' + i);
    }
    free(all);
    rapt_group_free(r->g);
}

static void broadcast_body(case_rank *r)
{
    static const size_t lengths[] = {0, 1, 65536, 65537, 3000000};
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    for (size_t n = 0; n < 5; n++) {
        int root = (int)n % size;
        char *data = calloc(lengths[n] + 1, 1);
        for (size_t i = 0; i < lengths[n] && rank == root; i++)
            data[i] = (char)(i % 127);
        CASE_CHECK(r, group_broadcast(r->g, root, data, lengths[n], &r->err) == RAPT_OK);
        size_t wrong = 0;
        for (size_t i = 0; i < lengths[n]; i++)
            wrong += data[i] != (char)(i % 127);
        CASE_CHECK(r, wrong == 0);
        free(data);
    }
    rapt_group_free(r->g);
}

static void collect_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    size_t bounds[17];
    int64_t data[ELEMENTS];
    case_bounds(bounds, size, ELEMENTS);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        int range = group_range(rank, size);
        data[i] = (size_t)i >= bounds[range] && (size_t)i < bounds[range + 1] ? i : -1;
    }
    CASE_CHECK(r, group_collect(r->g, data, bounds, sizeof data[0], &r->err) == RAPT_OK);
    for (int64_t i = 0; i < ELEMENTS && rank == 0; i++)
        CASE_CHECK(r, data[i] == i);
    rapt_group_free(r->g);
}

static void small_ones(void **state)
{
    (void)state;
    run_groups(share_body);
    run_groups(share_all_body);
    run_groups(broadcast_body);
    run_groups(collect_body);
}

/* Sums are under way, and queued, when small ones begin and end. */
static void between_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    size_t bounds[17];
    case_parts parts[BUCKETS];
    group_op *ops[BUCKETS];
    case_bounds(bounds, size, ELEMENTS);
    for (int b = 0; b < BUCKETS; b++) {
        case_fill_parts(&parts[b], rank, size, 8, ELEMENTS);
        CASE_CHECK(r, (ops[b] = group_reduce(r->g, 8, bounds, parts[b].parts, &r->err)));
    }
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &r->err) == RAPT_OK);
    for (int b = 0; b < BUCKETS; b++) {
        CASE_CHECK(r, group_wait(r->g, ops[b], &r->err) == RAPT_OK);
        CASE_CHECK(r, case_wrong(parts[b].parts[0], rank, size, 8, bounds) == 0);
        case_free_parts(&parts[b]);
    }
    rapt_group_free(r->g);
}

static void small_ones_between(void **state)
{
    (void)state;
    run_groups(between_body);
}

/* ---- agreement -------------------------------------------------------------------------------------------- */

static void agree_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    char expected[600], host[64] = "";
    gethostname(host, sizeof host - 1);
    CASE_CHECK(r, strcmp(group_host(r->g, size - 1), host) == 0);
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &r->err) == RAPT_OK && r->err.code == RAPT_OK);
    for (int bad = 0; bad < size; bad++) { /* all from `bad` on have failed */
        rapt_error err = {0};
        rapt_code mine = rank >= bad ? RAPT_ERR_FORMAT : RAPT_OK;
        if (mine != RAPT_OK)
            rapt_fail(&err, mine, "file %d is bad", rank);
        CASE_CHECK(r, group_agree(r->g, mine, &err) == RAPT_ERR_FORMAT && err.code == RAPT_ERR_FORMAT);
        if (size == 1)
            snprintf(expected, sizeof expected, "file 0 is bad");
        else
            snprintf(expected, sizeof expected, "rank %d on %s: file %d is bad", bad, host, bad);
        CASE_CHECK(r, strcmp(err.message, expected) == 0);
        CASE_CHECK(r, group_agree(r->g, mine, NULL) == RAPT_ERR_FORMAT);
    }
    CASE_CHECK(r, !group_broken(r->g));
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &r->err) == RAPT_OK);
    rapt_group_free(r->g);
}

static void agreement(void **state)
{
    (void)state;
    run_groups(agree_body);
}

/* ---- statistics ------------------------------------------------------------------------------------------- */

static void statistics_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    size_t bounds[17];
    case_parts parts;
    for (int i = 0; i <= size; i++)
        bounds[i] = 1000 * (size_t)i;
    case_fill_parts(&parts, rank, size, 8, bounds[size]);
    group_agree(r->g, RAPT_OK, NULL);
    group_stats before = group_statistics(r->g);
    CASE_CHECK(r, group_wait(r->g, group_reduce(r->g, 8, bounds, parts.parts, NULL), NULL) == RAPT_OK);
    CASE_CHECK(r, group_wait(r->g, group_gather(r->g, parts.parts[0], bounds, 4, NULL), NULL) == RAPT_OK);
    group_agree(r->g, RAPT_OK, NULL); /* what it sends is counted perhaps, and little */
    group_stats after = group_statistics(r->g);
    uint64_t bound = 2 * ((uint64_t)size - 1) * 4000, sent = after.sent - before.sent;
    CASE_CHECK(r, sent >= bound && sent < bound + 200);
    CASE_CHECK(r, after.received >= before.received + bound);
    CASE_CHECK(r, size == 1 || after.messages > before.messages);
    CASE_CHECK(r, size == 1 || (after.waited > before.waited && after.in_flight > before.in_flight));
    case_free_parts(&parts);
    rapt_group_free(r->g);
}

static void statistics(void **state)
{
    (void)state;
    run_group(1, statistics_body);
    run_group(2, statistics_body);
    run_group(8, statistics_body);
}

/* Ranks that come late, with nothing but signs of life in between, are waited for: longer than `wait`. */
static void busy_body(case_rank *r)
{
    int rank = rapt_group_rank(r->g);
    if (rank == 1)
        usleep(4000000);
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &r->err) == RAPT_OK);
    if (rank == 0)
        usleep(3000000);
    rapt_group_free(r->g);
}

static void busy_ranks(void **state)
{
    (void)state;
    rapt_transport *transports = rapt_group_local(3, NULL);
    case_rank ranks[3] = {{{0}}};
    for (int i = 0; i < 3; i++) {
        ranks[i].transport = transports[i];
        ranks[i].options = GROUP(.wait = 1.5);
    }
    assert_int_equal(case_run(ranks, 3, busy_body), 0);
    rapt_group_local_free(transports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),      cmocka_unit_test(small_ones), cmocka_unit_test(small_ones_between),
        cmocka_unit_test(agreement),  cmocka_unit_test(statistics), cmocka_unit_test(busy_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
