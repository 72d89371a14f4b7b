/* group/group.c: a group as its owner's thread sees it: made, left and ended. The work is the
 * communication thread's (group_thread.c); its operations are in group_wait.c and group_small.c. */
#include "group/group_core.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/sized.h"

#include <stdlib.h>

#define SHORTEST_OPENING 60.0 /* min seconds that message layers may take to start, whatever `wait` is */
#define LONGEST_CLOSING 10.0  /* max seconds to close, which all ranks do at once: Open MPI 4.1 may never return from it if its
                                 launcher is already ending the others */

/* ---- making ----------------------------------------------------------------------------------------------- */

SIZED_ENDS_WITH(rapt_group_options, reserved);

void rapt_group_options_init(rapt_group_options *o, size_t size)
{
    sized_init(o, size, &(rapt_group_options){GROUP_DEFAULTS}, sizeof *o);
}

static rapt_group *allocate_group(const rapt_transport *transport, const rapt_group_options *options, rapt_error *err)
{
    rapt_group_options o = {GROUP_DEFAULTS};
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "group_options", err) != RAPT_OK)
        return NULL;
    if (o.launched < 0) {
        rapt_fail(err, RAPT_ERR_VALUE, "launched is %d: a group has 0 or more ranks", o.launched);
        return NULL;
    }
    if (!(o.wait > 0)) {
        rapt_fail(err, RAPT_ERR_VALUE, "wait is %g: a group waits for more than 0 seconds", o.wait);
        return NULL;
    }
    rapt_group *g = calloc(1, sizeof *g);
    if (!g) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a group");
        return NULL;
    }
    g->transport = *transport;
    g->wait = o.wait;
    g->launched = o.launched;
    thread_mutex_init(&g->mutex);
    thread_condition_init(&g->wake);
    thread_condition_init(&g->news);
    return g;
}

/* Frees a group whose thread has ended, or never begun. */
static void free_group(rapt_group *g)
{
    for (size_t i = 0; i < g->made_count; i++)
        free(g->made[i]);
    free(g->made);
    free(g->hosts);
    free(g->codes);
    rank_exchange_free(g->exchange);
    heartbeat_free(g->beat);
    thread_condition_free(&g->wake);
    thread_condition_free(&g->news);
    thread_mutex_free(&g->mutex);
    free(g);
}

static rapt_code start_thread(rapt_group *g, rapt_error *err)
{
    const bool started = thread_start_without_signals(&g->thread, group_thread_main, g);
    return started ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "could not start the communication thread");
}

/* Tells the thread what to do, and waits for its end. A thread that does not end is left alone, with the memory that it uses. */
static void end_thread(rapt_group *g, group_wish wish, double seconds)
{
    double until = clock_seconds() + seconds;
    thread_lock(&g->mutex);
    g->wish = wish;
    thread_wake_all(&g->wake);
    while (!g->ended && group_wait_news(g, until))
        ;
    bool ended = g->ended;
    thread_unlock(&g->mutex);
    if (!ended) {
        thread_detach(g->thread);
        return;
    }
    thread_join(g->thread);
    free_group(g);
}

static rapt_code wait_until_open(rapt_group *g, rapt_error *err)
{
    double seconds = g->wait > SHORTEST_OPENING ? g->wait : SHORTEST_OPENING, until = clock_seconds() + seconds;
    thread_lock(&g->mutex);
    while (!g->opened && group_wait_news(g, until))
        ;
    bool opened = g->opened;
    thread_unlock(&g->mutex);
    if (!opened)
        return rapt_fail(err, RAPT_ERR_IO, "the message layer has not started within %g s", seconds);
    return group_failure(g, err);
}

/* From here on messages name hosts. */
static rapt_code share_hosts(rapt_group *g, rapt_error *err)
{
    char own[GROUP_HOST] = "", (*hosts)[GROUP_HOST] = calloc((size_t)g->size, sizeof *hosts);
    process_host(own, sizeof own);
    g->codes = calloc((size_t)g->size, sizeof *g->codes);
    rapt_code code = hosts && g->codes ? group_share(g, own, sizeof own, hosts, err)
                                       : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a group of %d ranks", g->size);
    if (code != RAPT_OK) {
        free(hosts);
        return code;
    }
    thread_lock(&g->mutex);
    g->hosts = hosts;
    thread_unlock(&g->mutex);
    return RAPT_OK;
}

rapt_group *rapt_group_new(const rapt_transport *transport, const rapt_group_options *options, rapt_error *err)
{
    rapt_group *g = allocate_group(transport, options, err);
    if (!g)
        return NULL;
    if (start_thread(g, err) != RAPT_OK) {
        free_group(g);
        return NULL;
    }
    if (wait_until_open(g, err) == RAPT_OK && share_hosts(g, err) == RAPT_OK)
        return g;
    end_thread(g, GROUP_LEAVE, GROUP_ABORT_SECONDS);
    return NULL;
}

/* ---- leaving ---------------------------------------------------------------------------------------------- */

void rapt_group_free(rapt_group *g)
{
    if (!g)
        return;
    group_agree(g, RAPT_OK, NULL); /* no rank leaves before all are ready: a rank that is still busy needs signs of life */
    end_thread(g, GROUP_LEAVE, LONGEST_CLOSING);
}

void rapt_group_abort(rapt_group *g, int status)
{
    if (!g)
        return;
    double until = clock_seconds() + GROUP_ABORT_SECONDS;
    thread_lock(&g->mutex);
    g->wish = GROUP_ABORT;
    g->status = status;
    thread_wake_all(&g->wake);
    while (!g->aborting && !g->ended && group_wait_news(g, until))
        ;
    bool called = g->aborting || g->ended;
    thread_unlock(&g->mutex);
    if (!called) /* the thread hangs in the transport: better from another thread than not at all */
        g->transport.abort(g->transport.context, status);
    end_thread(g, GROUP_ABORT, GROUP_ABORT_SECONDS);
}
