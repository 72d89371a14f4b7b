/* tests/group/test_shard_tree.c: the tree over shards against its definition, and the subtrees of ranks: they are nodes, the
 * largest ones, and cover the rank's shards. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "group/shard_tree.h"

#define MOST_SHARDS 70

static uint32_t split(uint32_t lo, uint32_t hi)
{
    uint32_t half = 1;
    while (2 * half < hi - lo)
        half *= 2;
    return lo + half;
}

/* Marks every node of the tree over lo .. hi - 1. */
static void mark(uint8_t node[MOST_SHARDS + 1][MOST_SHARDS + 1], uint32_t lo, uint32_t hi)
{
    node[lo][hi] = 1;
    if (hi - lo > 1) {
        mark(node, lo, split(lo, hi));
        mark(node, split(lo, hi), hi);
    }
}

static void nodes(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= MOST_SHARDS; shards++) {
        uint8_t node[MOST_SHARDS + 1][MOST_SHARDS + 1] = {{0}};
        mark(node, 0, shards);
        for (uint32_t lo = 0; lo <= shards; lo++)
            for (uint32_t hi = 0; hi <= MOST_SHARDS; hi++)
                assert_int_equal(shard_is_node((shard_node){lo, hi}, shards), node[lo][hi]);
    }
    assert_int_equal(shard_split((shard_node){0, 8}), 4);
    assert_int_equal(shard_split((shard_node){0, 9}), 8);
    assert_int_equal(shard_split((shard_node){8, 11}), 10);
    assert_int_equal(shard_split((shard_node){5, 7}), 6);
    assert_int_equal(shard_split((shard_node){0, UINT32_MAX}), 1u << 31);
}

/* No node of the tree lies within the shards and has this one within it. */
static void check_largest(shard_node n, uint32_t first, uint32_t end, uint32_t shards)
{
    for (uint32_t lo = first; lo <= n.first; lo++)
        for (uint32_t hi = n.end; hi <= end; hi++)
            if (hi - lo > n.end - n.first && shard_is_node((shard_node){lo, hi}, shards))
                fail_msg("%u..%u of %u shards is within node %u..%u", n.first, n.end, shards, lo, hi);
}

static void subtrees(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= MOST_SHARDS; shards++) {
        for (int size = 1; size <= (int)shards; size++) {
            uint32_t next = 0;
            for (int rank = 0; rank < size; rank++) {
                shard_node own[SHARD_MAX_SUBTREES];
                uint32_t first = shards * (uint32_t)rank / (uint32_t)size, end = shards * ((uint32_t)rank + 1) / (uint32_t)size;
                size_t count = shard_subtrees(rank, size, shards, own);
                assert_int_equal(shard_first(rank, size, shards), first);
                for (size_t k = 0; k < count; k++) {
                    assert_int_equal(own[k].first, next);
                    assert_true(shard_is_node(own[k], shards));
                    check_largest(own[k], first, end, shards);
                    next = own[k].end;
                }
                assert_int_equal(next, end);
            }
        }
    }
}

static void many_shards(void **state)
{
    (void)state;
    shard_node own[SHARD_MAX_SUBTREES];
    assert_int_equal(shard_first(3, 4, UINT32_MAX), 3221225471u);
    for (int rank = 0; rank < 7; rank++) {
        size_t count = shard_subtrees(rank, 7, UINT32_MAX, own);
        assert_in_range(count, 1, SHARD_MAX_SUBTREES);
        assert_int_equal(own[0].first, shard_first(rank, 7, UINT32_MAX));
        assert_int_equal(own[count - 1].end, shard_first(rank + 1, 7, UINT32_MAX));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),
        cmocka_unit_test(subtrees),
        cmocka_unit_test(many_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
