/* tests/group/test_heartbeat.c: when ranks find out that one is lost, in virtual time: many ranks in one thread, each polled at
 * its own moments. A rank is never given up before the deadline, and at most 2 log2 P messages' time after it, whatever P is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "group/heartbeat.c" /* this copy takes the place of the library's */

#define WAIT 32.0  /* seconds; a message each second */
#define PERIOD 1.0
#define START 10.0 /* until then all have heard of all */

typedef struct lives {
    int size;
    rapt_transport *transports;
    heartbeat **ranks;
    double *next;     /* when each is polled next */
    double *found;    /* when each has seen a loss; 0: it has not */
    double now;
    uint32_t random;
} lives;

/* From 0 to 1. */
static double chance(lives *l)
{
    l->random = l->random * 1664525u + 1013904223u;
    return (l->random >> 8) / 16777216.0;
}

static lives new_lives(int size, uint32_t seed)
{
    lives l = {.size = size, .transports = rapt_group_local(size, NULL), .random = seed};
    assert_non_null(l.transports);
    l.ranks = malloc((size_t)size * sizeof *l.ranks);
    l.next = malloc((size_t)size * sizeof *l.next);
    l.found = calloc((size_t)size, sizeof *l.found);
    for (int r = 0; r < size; r++) {
        l.next[r] = PERIOD * chance(&l);
        l.ranks[r] = heartbeat_new(&l.transports[r], r, size, WAIT, l.next[r], NULL);
        assert_non_null(l.ranks[r]);
    }
    return l;
}

static void free_lives(lives *l)
{
    for (int r = 0; r < l->size; r++)
        heartbeat_free(l->ranks[r]);
    rapt_group_local_free(l->transports);
    free(l->ranks);
    free(l->next);
    free(l->found);
}

/* A little time for all ranks but `dead`; `slow` is polled every `pause` seconds, the others as often as they want to be. A loss
 * may be of `dead` alone. */
static void pass_time(lives *l, int dead, int slow, double pause)
{
    int others = -1;
    for (int r = 0; r < l->size; r++) {
        if (r == dead || l->now < l->next[r])
            continue;
        l->next[r] = l->now + (r == slow ? pause : heartbeat_pause(l->ranks[r]) * (1 + 0.3 * chance(l)));
        assert_int_equal(heartbeat_poll(l->ranks[r], l->now, NULL), RAPT_OK);
        int lost = heartbeat_lost(l->ranks[r], l->now, &others);
        if (lost < 0)
            continue;
        if (lost != dead || others != 0)
            fail_msg("%d ranks: rank %d believes that rank %d and %d more are lost", l->size, r, lost, others);
        if (l->found[r] == 0)
            l->found[r] = l->now;
    }
    l->now += PERIOD / 40;
}

/* One rank dies. Its last message was sent before, so that the deadline is counted from there. */
static void check_deadline(lives *l, int dead)
{
    double hops = 0;
    while (1 << (int)hops < l->size)
        hops++;
    const double death = START + PERIOD * chance(l), latest = death + WAIT + 2 * hops * PERIOD;
    while (l->now < death)
        pass_time(l, -1, -1, 0);
    const double spoke = l->ranks[dead]->next - PERIOD;
    while (l->now <= latest)
        pass_time(l, dead, -1, 0);
    for (int r = 0; r < l->size; r++) {
        if (r == dead)
            continue;
        if (l->found[r] == 0)
            fail_msg("%d ranks: rank %d has not missed rank %d %g s after its death", l->size, r, dead, latest - death);
        if (l->found[r] < spoke + WAIT)
            fail_msg("%d ranks: rank %d gives up rank %d %g s after its last message", l->size, r, dead, l->found[r] - spoke);
    }
}

static void deadline(void **state)
{
    (void)state;
    const int sizes[] = {2, 3, 8, 64, 257};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t seed = 1; seed <= (sizes[i] < 100 ? 5 : 1); seed++) {
            lives l = new_lives(sizes[i], seed);
            check_deadline(&l, sizes[i] - 1 - (int)(seed % 2));
            free_lives(&l);
        }
}

/* The numbers pass the largest one, and 0, which is none, some seconds before the death. */
static void numbers_start_again(void **state)
{
    (void)state;
    for (uint32_t left = 4; left < 9; left += 2) {
        lives l = new_lives(8, left);
        for (int r = 0; r < 8; r++)
            for (int of = 0; of < 8; of++)
                l.ranks[r]->numbers[of] = UINT32_MAX - left;
        check_deadline(&l, 5);
        assert_in_range(l.ranks[5]->numbers[5], 1, 20);
        free_lives(&l);
    }
}

/* A rank that has the processor for a moment every now and then, and others far from it, are not given up. */
static void slow_rank(void **state)
{
    (void)state;
    for (double pause = 3; pause < 0.8 * WAIT; pause += 7) {
        lives l = new_lives(16, 7);
        while (l.now < 6 * WAIT)
            pass_time(&l, -1, 3, pause);
        free_lives(&l);
    }
}

/* All ranks end it together, some later than others; no message is left under way. */
static void leaving(void **state)
{
    (void)state;
    lives l = new_lives(9, 3);
    while (l.now < START)
        pass_time(&l, -1, -1, 0);
    for (int left = 0; left < 9; l.now += PERIOD / 40) {
        left = 0;
        for (int r = 0; r < 9; r++) {
            if (l.now > START + r * PERIOD / 3)
                heartbeat_leave(l.ranks[r]);
            assert_int_equal(heartbeat_poll(l.ranks[r], l.now, NULL), RAPT_OK);
            left += heartbeat_left(l.ranks[r]);
        }
        assert_true(l.now < 2 * START);
    }
    free_lives(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline),
        cmocka_unit_test(numbers_start_again),
        cmocka_unit_test(slow_rank),
        cmocka_unit_test(leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
