/* tests/base/test_arena.c: blocks are aligned, apart, and stay where they are; marks give back what came after them;
 * memory is used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"

#include "base/rng.h"

#include <stdbool.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(p) __asan_address_is_poisoned(p)
#endif

#define BLOCKS 300

typedef struct block {
    unsigned char *at;
    size_t size;
} block;

static void fill_blocks(arena *a, block *blocks, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)rng_below(key, i, i % 7 == 0 ? 5000 : 200);
        blocks[i] = (block){arena_alloc(a, size), size};
        assert_non_null(blocks[i].at);
        assert_int_equal((uintptr_t)blocks[i].at % 64, 0);
        memset(blocks[i].at, (int)(i % 251), size);
    }
}

/* A block that overlapped another one would hold the other one's bytes. */
static void check_blocks(const block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < blocks[i].size; j++)
            assert_int_equal(blocks[i].at[j], i % 251);
}

static void blocks_are_aligned_and_apart(void **state)
{
    block blocks[BLOCKS];
    arena a;
    (void)state;
    arena_init(&a, 1024); /* smaller than some blocks */
    fill_blocks(&a, blocks, BLOCKS, 1);
    check_blocks(blocks, BLOCKS);
    arena_free(&a);
}

static void a_mark_gives_back_what_follows(void **state)
{
    block before[50], after[BLOCKS];
    arena a;
    (void)state;
    arena_init(&a, 4096);
    fill_blocks(&a, before, 50, 2);
    arena_mark mark = arena_save(&a);
    size_t used = a.used;
    for (uint64_t round = 0; round < 20; round++) {
        fill_blocks(&a, after, BLOCKS, 3 + round);
        check_blocks(after, BLOCKS);
        assert_true(a.used > used);
        arena_release(&a, mark);
        assert_int_equal(a.used, used);
    }
    check_blocks(before, 50);
    arena_free(&a);
}

/* The same requests again must not ask the system for more: a training step allocates nothing in the long run. */
static void rounds_use_the_same_memory(void **state)
{
    block blocks[BLOCKS];
    arena a;
    (void)state;
    arena_init(&a, 4096);
    fill_blocks(&a, blocks, BLOCKS, 1);
    size_t peak = a.peak;
    assert_true(a.first != a.current);
    arena_release(&a, (arena_mark){0});
    fill_blocks(&a, blocks, BLOCKS, 1);
    const arena_chunk *only = a.first;
    for (int round = 0; round < 10; round++) {
        unsigned char *first = blocks[0].at;
        arena_release(&a, (arena_mark){0});
        assert_int_equal(a.used, 0);
        fill_blocks(&a, blocks, BLOCKS, 1);
        check_blocks(blocks, BLOCKS);
        assert_ptr_equal(blocks[0].at, first);
        assert_ptr_equal(a.first, only);
        assert_ptr_equal(a.current, only);
    }
    assert_int_equal(a.peak, peak);
    arena_free(&a);
}

/* Rounds of changing sizes: what the arena takes stays near what a round needs. */
static void changing_rounds_settle(void **state)
{
    block blocks[BLOCKS];
    arena a;
    int several = 0;
    (void)state;
    arena_init(&a, 4096);
    for (uint64_t round = 0; round < 500; round++) {
        arena_release(&a, (arena_mark){0});
        fill_blocks(&a, blocks, 50 + (size_t)rng_below(9, round, BLOCKS - 50), round);
        check_blocks(blocks, 50);
        several += a.first != a.current;
    }
    assert_true(several < 20); /* a new peak, and at that one beyond the margin, is rare */
    assert_true(a.first_size <= a.peak + a.peak / 8);
    arena_free(&a);
}

/* Blocks a little larger than a huge page lie one behind the other: had each its own, half of all memory would be ends
 * of pages that nobody uses. */
static void large_blocks_are_neighbours(void **state)
{
    enum { COUNT = 60 };
    const size_t size = (size_t)9 << 18; /* 2.25 MiB */
    arena a;
    char *last = NULL;
    int apart = 0;
    (void)state;
    arena_init(&a, 1 << 20);
    for (int i = 0; i < COUNT; i++) {
        char *at = arena_alloc(&a, size);
        assert_non_null(at);
        apart += !last || at < last + size || at > last + size + 64; /* a sanitizer's red zone */
        last = at;
    }
    assert_true(apart <= 12);                      /* chunks: log 60 to the base 1.5, and the first ones */
    assert_true(a.reserved >= COUNT * size);
    assert_true(a.reserved <= COUNT * size * 7 / 4); /* addresses only: half of all others, and what ends leave */
    arena_free(&a);
    assert_int_equal(a.reserved, 0);
}

static void nested_marks(void **state)
{
    arena a;
    (void)state;
    arena_init(&a, 256);
    arena_mark outer = arena_save(&a); /* before there is any chunk */
    assert_non_null(arena_alloc(&a, 100));
    arena_mark inner = arena_save(&a);
    void *two = arena_alloc(&a, 1000);
    arena_release(&a, inner);
    assert_ptr_equal(arena_alloc(&a, 1000), two);
    arena_release(&a, outer);
    assert_int_equal(a.used, 0);
    arena_free(&a);
    assert_null(a.first);
    assert_non_null(arena_alloc(&a, 10)); /* an arena that was freed is a new one */
    arena_free(&a);
}

static void helpers(void **state)
{
    arena a;
    (void)state;
    arena_init(&a, 512);
    memset(arena_alloc(&a, 300), 0xee, 300);
    arena_release(&a, (arena_mark){0});
    const unsigned char *zeros = arena_zeroed(&a, 30, 10);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(zeros[i], 0);
    assert_string_equal(arena_string(&a, "x y"), "x y");
    assert_non_null(arena_alloc(&a, 0));
    arena_free(&a);
}

static void impossible_sizes(void **state)
{
    arena a;
    (void)state;
    arena_init(&a, 512);
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 100));
    assert_null(arena_array(&a, SIZE_MAX / 8, 16));
    assert_null(arena_array(&a, ((size_t)1 << 32) + 1, (size_t)1 << 32)); /* 2^32 where the product wraps */
    assert_null(arena_zeroed(&a, SIZE_MAX / 8, 16));
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 100)); /* a failure leaves the arena sound */
    arena_free(&a);
}

static void sanitizer_sees_the_ends(void **state)
{
#ifdef IS_POISONED
    arena a;
    arena_init(&a, 4096);
    char *p = arena_alloc(&a, 100), *q = arena_alloc(&a, 64);
    assert_false(IS_POISONED(p + 99));
    assert_true(IS_POISONED(p + 100));
    assert_true(IS_POISONED(q + 64));
    arena_release(&a, (arena_mark){0});
    assert_true(IS_POISONED(p));
    arena_free(&a);
    (void)state;
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(a_mark_gives_back_what_follows),
        cmocka_unit_test(rounds_use_the_same_memory),
        cmocka_unit_test(changing_rounds_settle),
        cmocka_unit_test(large_blocks_are_neighbours),
        cmocka_unit_test(nested_marks),
        cmocka_unit_test(helpers),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(sanitizer_sees_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
