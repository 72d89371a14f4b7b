/* group/group_wait.c: the owner's thread begins operations and waits for them; and queries of a group. group_small.c has
 * operations that are waited for at once. */
#include "group/group_core.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_SECONDS 1.0 /* seconds of waiting after which the communication thread is checked */

/* ---- waiting ---------------------------------------------------------------------------------------------- */

bool group_wait_news(rapt_group *g, double until)
{
    thread_wait_until(&g->news, &g->mutex, until);
    return clock_seconds() < until;
}

/* The communication thread as the owner's thread sees it while it waits. */
typedef struct thread_watch {
    unsigned long long turns;
    double idle; /* seconds of waiting without a turn */
} thread_watch;

/* Detects a message layer that does not return from a call, because this rank would wait for ever. Called after each
 * WATCH_SECONDS of waiting; the calls are counted, because the clock runs on while all threads of a process are stopped. */
static void check_thread(rapt_group *g, thread_watch *w)
{
    const unsigned long long turns = atomic_load(&g->turns);
    rapt_error err = {0};
    w->idle = turns == w->turns ? w->idle + WATCH_SECONDS : 0;
    w->turns = turns;
    if (w->idle <= g->wait + 1)
        return;
    rapt_fail(&err, RAPT_ERR_IO, "%s has not returned from a call for %g s%s%s", g->transport.name, g->wait,
              *g->doing ? " in " : "", g->doing);
    group_thread_fail(g, &err);
}

rapt_code group_failure(rapt_group *g, rapt_error *err)
{
    return atomic_load(&g->failed) ? rapt_fail(err, g->failure.code, "%s", g->failure.message) : RAPT_OK;
}

/* ---- operations ------------------------------------------------------------------------------------------- */

/* A spare operation, or a new one. Called with the mutex held. */
static group_op *take_op(rapt_group *g)
{
    group_op *op = g->spare;
    if (op) {
        g->spare = op->next;
        return op;
    }
    if (g->made_count == g->made_capacity) {
        size_t capacity = g->made_capacity ? 2 * g->made_capacity : 64;
        group_op **made = realloc(g->made, capacity * sizeof *made);
        if (!made)
            return NULL;
        g->made = made;
        g->made_capacity = capacity;
    }
    op = malloc(sizeof *op);
    if (op)
        g->made[g->made_count++] = op;
    return op;
}

group_op *group_new_op(rapt_group *g, rapt_error *err)
{
    thread_lock(&g->mutex);
    rapt_code code = group_failure(g, err);
    group_op *op = code == RAPT_OK ? take_op(g) : NULL;
    thread_unlock(&g->mutex);
    if (!op) {
        if (code == RAPT_OK)
            rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an operation of the group");
        return NULL;
    }
    memset(op, 0, sizeof *op);
    op->rank = g->rank;
    op->size = g->size;
    return op;
}

group_op *group_submit(rapt_group *g, group_op *op)
{
    if (g->size == 1) { /* all ranks have everything */
        atomic_store(&op->done, true);
        return op;
    }
    thread_lock(&g->mutex);
    group_op **at = &g->submitted;
    while (*at)
        at = &(*at)->next;
    *at = op;
    thread_wake_all(&g->wake);
    thread_unlock(&g->mutex);
    return op;
}

group_op *group_reduce(rapt_group *g, uint32_t shards, const size_t *bounds, rapt_real *const *parts, rapt_error *err)
{
    group_op *op = group_new_op(g, err);
    if (!op)
        return NULL;
    op->shards = shards;
    op->bounds = bounds;
    op->parts = parts;
    rank_exchange_prepare_reduce(op);
    return group_submit(g, op);
}

group_op *group_gather(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err)
{
    group_op *op = group_new_op(g, err);
    if (!op)
        return NULL;
    op->data = data;
    op->bounds = bounds;
    op->size_of = size_of;
    rank_exchange_prepare_gather(op);
    return group_submit(g, op);
}

rapt_code group_wait(rapt_group *g, group_op *op, rapt_error *err)
{
    double begun = clock_seconds();
    thread_watch watch = {atomic_load(&g->turns), 0};
    thread_lock(&g->mutex);
    while (!group_done(op) && !atomic_load(&g->failed)) {
        if (group_wait_news(g, clock_seconds() + WATCH_SECONDS))
            continue;
        thread_unlock(&g->mutex);
        check_thread(g, &watch);
        thread_lock(&g->mutex);
    }
    rapt_code code = group_failure(g, err);
    if (group_done(op)) {
        op->next = g->spare;
        g->spare = op;
    }
    g->waited += clock_seconds() - begun;
    thread_unlock(&g->mutex);
    return code;
}

bool group_done(const group_op *op)
{
    return atomic_load_explicit(&((group_op *)op)->done, memory_order_acquire);
}

/* ---- dropping operations -------------------------------------------------------------------------------------- */

bool group_halt(rapt_group *g)
{
    rapt_error err = {0};
    double until = clock_seconds() + GROUP_ABORT_SECONDS;
    rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the operations of rank %d were dropped", g->rank);
    group_thread_fail(g, &err);
    thread_lock(&g->mutex);
    if (g->wish == GROUP_WORK)
        g->wish = GROUP_HALT;
    thread_wake_all(&g->wake);
    while (!g->halted && group_wait_news(g, until))
        ;
    const bool halted = g->halted;
    thread_unlock(&g->mutex);
    return halted;
}

/* ---- what it is ------------------------------------------------------------------------------------------- */

int rapt_group_rank(const rapt_group *g)
{
    return g->rank;
}

int rapt_group_size(const rapt_group *g)
{
    return g->size;
}

bool group_broken(const rapt_group *g)
{
    return atomic_load(&((rapt_group *)g)->failed);
}

void group_doing(rapt_group *g, const char *what)
{
    thread_lock(&g->mutex);
    snprintf(g->doing, sizeof g->doing, "%s", what);
    thread_unlock(&g->mutex);
}

const char *group_host(const rapt_group *g, int rank)
{
    return g->hosts[rank];
}

group_stats group_statistics(rapt_group *g)
{
    rank_exchange_counts counts = rank_exchange_counted(g->exchange);
    thread_lock(&g->mutex);
    group_stats stats = {g->waited, g->in_flight, counts.sent, counts.received, counts.messages};
    thread_unlock(&g->mutex);
    return stats;
}
