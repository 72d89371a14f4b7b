/* group/group_thread.c: the communication thread of a group. It makes every call of the transport, since message layers do best
 * with one thread, and make progress only while they are called: so it tests and sleeps, and never waits inside the transport. */
#include "group/group_core.h"

#include "base/clock.h"

#include <fenv.h>
#include <stdio.h>

#define SHORTEST_SLEEP 20e-6 /* seconds between two tests while something is in flight; doubles up to the longest */
#define LONGEST_SLEEP 500e-6
#define IDLE_SLEEP 10e-3     /* seconds between two calls of `progress` while no operation is open */

void group_thread_fail(rapt_group *g, const rapt_error *why)
{
    thread_lock(&g->mutex);
    if (!atomic_load(&g->failed)) {
        g->failure = *why;
        atomic_store(&g->failed, true);
    }
    thread_wake_all(&g->news);
    thread_unlock(&g->mutex);
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

/* A launcher of another message layer starts processes that do not know of each other, each of them rank 0 of 1. */
static rapt_code check_size(const rapt_group *g, rapt_error *err)
{
    if (g->size >= g->launched)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%d processes were launched, but %s finds %d: the launcher belongs to another message "
                     "layer; start the run with the mpirun of %s", g->launched, g->transport.name, g->size, g->transport.name);
}

/* If there are too few ranks, all fail alike and leave. A rank that fails alone must not leave, because it would wait for the
 * others. */
static rapt_code open_transport(rapt_group *g, rapt_error *err)
{
    rapt_code code = g->transport.open(g->transport.context, &g->rank, &g->size, err);
    if (code != RAPT_OK)
        return code;
    code = check_size(g, err);
    if (code != RAPT_OK)
        g->transport.close(g->transport.context);
    else if (!(g->exchange = rank_exchange_new(&g->transport, g->rank, g->size, NULL, err)) ||
             !(g->beat = heartbeat_new(&g->transport, g->rank, g->size, g->wait, clock_seconds(), err)))
        code = RAPT_ERR_MEMORY;
    return code;
}

static void report_opened(rapt_group *g)
{
    thread_lock(&g->mutex);
    g->opened = true;
    thread_wake_all(&g->news);
    thread_unlock(&g->mutex);
}

/* ---- a turn ----------------------------------------------------------------------------------------------- */

/* Writes "rank 2 on node7 has not answered for 300 s in step 812", or whatever is known. */
static rapt_code describe_lost(rapt_group *g, int rank, int others, rapt_error *err)
{
    char doing[sizeof g->doing], who[160];
    thread_lock(&g->mutex);
    snprintf(doing, sizeof doing, "%s", g->doing);
    snprintf(who, sizeof who, "rank %d%s%s", rank, g->hosts ? " on " : "", g->hosts ? g->hosts[rank] : "");
    thread_unlock(&g->mutex);
    const char *in = *doing ? " in " : "";
    if (g->size > 2 && others == g->size - 2)
        return rapt_fail(err, RAPT_ERR_IO, "none of the other %d ranks has answered for %g s%s%s", g->size - 1, g->wait, in,
                         doing);
    if (others > 0)
        return rapt_fail(err, RAPT_ERR_IO, "%s and %d more have not answered for %g s%s%s", who, others, g->wait, in, doing);
    return rapt_fail(err, RAPT_ERR_IO, "%s has not answered for %g s%s%s", who, g->wait, in, doing);
}

static rapt_code check_lives(rapt_group *g, double now, rapt_error *err)
{
    int others, rank;
    rapt_code code = heartbeat_poll(g->beat, now, err);
    if (code != RAPT_OK || (rank = heartbeat_lost(g->beat, now, &others)) < 0)
        return code;
    return describe_lost(g, rank, others, err);
}

/* Begins submitted operations. False: the thread must end, or nothing can be done. */
static bool take_submitted(rapt_group *g)
{
    thread_lock(&g->mutex);
    bool works = g->wish == GROUP_WORK && !atomic_load(&g->failed);
    while (works && g->submitted) {
        group_op *op = g->submitted;
        g->submitted = op->next;
        rank_exchange_begin(g->exchange, op);
    }
    thread_unlock(&g->mutex);
    return works;
}

static void report_operations(rapt_group *g, size_t open, double seconds)
{
    thread_lock(&g->mutex);
    g->in_flight += seconds;
    if (rank_exchange_open(g->exchange) < open)
        thread_wake_all(&g->news);
    thread_unlock(&g->mutex);
}

/* Until the seconds are over, or there is something to do. */
static void sleep_until_wish(rapt_group *g, double seconds)
{
    const double until = clock_seconds() + seconds;
    thread_lock(&g->mutex);
    if (!g->submitted && g->wish == GROUP_WORK)
        thread_wait_until(&g->wake, &g->mutex, until);
    thread_unlock(&g->mutex);
}

/* Seconds to sleep after a turn: none while anything moves, then longer and longer. */
static double next_sleep(double last, bool moved, bool open)
{
    if (moved)
        return 0;
    if (!open)
        return IDLE_SLEEP;
    double doubled = last < SHORTEST_SLEEP ? SHORTEST_SLEEP : 2 * last;
    return doubled < LONGEST_SLEEP ? doubled : LONGEST_SLEEP;
}

/* Polls everything once; *moved: something has advanced, so that it must poll again at once. */
static rapt_code turn(rapt_group *g, double now, double seconds, bool *moved, rapt_error *err)
{
    size_t open = rank_exchange_open(g->exchange);
    rapt_code code = rank_exchange_poll(g->exchange, moved, err);
    if (code == RAPT_OK && open == 0)
        g->transport.progress(g->transport.context);
    if (code == RAPT_OK)
        code = check_lives(g, now, err);
    report_operations(g, open, open ? seconds : 0);
    return code;
}

/* Until there is another wish, or the group fails. */
static void carry_on(rapt_group *g)
{
    double before = clock_seconds(), sleep = 0;
    while (take_submitted(g)) {
        rapt_error err = {0};
        bool moved = false;
        double now = clock_seconds();
        atomic_fetch_add(&g->turns, 1);
        if (turn(g, now, now - before, &moved, &err) != RAPT_OK)
            group_thread_fail(g, &err);
        before = now;
        sleep = next_sleep(sleep, moved, rank_exchange_open(g->exchange) > 0);
        if (sleep > 0)
            sleep_until_wish(g, sleep < heartbeat_pause(g->beat) ? sleep : heartbeat_pause(g->beat));
    }
}

/* ---- the end ---------------------------------------------------------------------------------------------- */

/* Touches no operation any more, and waits for the wish that ends the thread. */
static group_wish wait_for_end(rapt_group *g)
{
    thread_lock(&g->mutex);
    g->halted = true;
    thread_wake_all(&g->news);
    while (g->wish < GROUP_LEAVE)
        thread_wait(&g->wake, &g->mutex);
    group_wish wish = g->wish;
    g->aborting = wish == GROUP_ABORT;
    thread_unlock(&g->mutex);
    return wish;
}

/* All ranks do. */
static void leave_group(rapt_group *g)
{
    double now = clock_seconds(), end = now + g->wait;
    rapt_code code = RAPT_OK;
    heartbeat_leave(g->beat);
    while (code == RAPT_OK && now < end && !heartbeat_left(g->beat)) {
        code = heartbeat_poll(g->beat, now, NULL);
        clock_sleep(SHORTEST_SLEEP);
        now = clock_seconds();
    }
    if (heartbeat_left(g->beat))
        g->transport.close(g->transport.context);
}

void *group_thread_main(void *group)
{
    rapt_group *g = group;
    rapt_error err = {0};
    bool open = open_transport(g, &err) == RAPT_OK;
    fesetenv(FE_DFL_ENV); /* it adds: rounding and denormals belong to the number format */
    if (!open)
        group_thread_fail(g, &err);
    report_opened(g);
    if (open)
        carry_on(g);
    group_wish wish = wait_for_end(g);
    if (wish == GROUP_ABORT && open)
        g->transport.abort(g->transport.context, g->status);
    else if (wish == GROUP_LEAVE && !atomic_load(&g->failed))
        leave_group(g);
    thread_lock(&g->mutex);
    g->ended = true;
    thread_wake_all(&g->news);
    thread_unlock(&g->mutex);
    return NULL;
}
