/* serve/module/workers.c: two queues, one for small and one for large bodies. In each, the addresses with waiting requests are a
 * list, and the first address has its turn. */
#include "serve/module/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ADDRESS_TEXT = 64 }; /* one for small bodies only */

typedef struct work_item {
    exchange *x;
    const void *what;
    struct work_item *next;
} work_item;

typedef struct work_client {
    char address[ADDRESS_TEXT];
    work_item *first, *last; /* at least one */
    struct work_client *next;
} work_client;

typedef struct work_queue {
    work_client *first, *last;
} work_queue;

typedef struct worker {
    workers *of;
    pthread_t thread;
    bool small_only;
} worker;

struct workers {
    void (*work)(void *context, exchange *x, const void *what);
    void *context;
    worker list[THREADS];
    size_t started;
    pthread_mutex_t lock; /* guards everything that follows */
    pthread_cond_t changed, changed_small; /* for most threads; for the thread that takes only small bodies */
    bool small_sleeps;                     /* that thread sleeps and was not woken yet */
    work_queue small, large;
    size_t waiting;
    bool ends;
};

/* ---- queues: with the lock --------------------------------------------------------------------------------------------- */

static void client_to_back(work_queue *q, work_client *c)
{
    c->next = NULL;
    if (q->last)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
}

/* The queue's entry for an address, a new one if it is missing. NULL: out of memory. */
static work_client *client_of(work_queue *q, const char *address)
{
    for (work_client *c = q->first; c; c = c->next)
        if (strcmp(c->address, address) == 0)
            return c;
    work_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    snprintf(c->address, sizeof c->address, "%s", address);
    client_to_back(q, c);
    return c;
}

/* The first request of the address whose turn it is; NULL: nothing waits. */
static work_item *queue_take(work_queue *q)
{
    work_client *c = q->first;
    if (!c)
        return NULL;
    work_item *item = c->first;
    q->first = c->next;
    if (!q->first)
        q->last = NULL;
    c->first = item->next;
    if (c->first)
        client_to_back(q, c);
    else
        free(c);
    return item;
}

/* Takes large and small bodies in turns, if both wait. */
static work_item *workers_take(workers *w, bool small_only, bool *large)
{
    work_item *item = NULL;
    if (!small_only && !*large)
        item = queue_take(&w->large);
    *large = item != NULL;
    if (!item)
        item = queue_take(&w->small);
    if (!item && !small_only) {
        item = queue_take(&w->large);
        *large = item != NULL;
    }
    w->waiting -= item != NULL;
    return item;
}

/* ---- threads ----------------------------------------------------------------------------------------------------------- */

/* With the lock. */
static void worker_sleep(workers *w, bool small_only)
{
    if (small_only)
        w->small_sleeps = true;
    pthread_cond_wait(small_only ? &w->changed_small : &w->changed, &w->lock);
    if (small_only)
        w->small_sleeps = false;
}

static void *worker_run(void *context)
{
    const worker *self = context;
    workers *w = self->of;
    bool large = false;
    pthread_mutex_lock(&w->lock);
    while (!w->ends) {
        work_item *item = workers_take(w, self->small_only, &large);
        if (!item) {
            worker_sleep(w, self->small_only);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->work(w->context, item->x, item->what);
        free(item);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool worker_start(workers *w)
{
    worker *next = &w->list[w->started];
    *next = (worker){.of = w, .small_only = w->started == 0};
    const bool started = pthread_create(&next->thread, NULL, worker_run, next) == 0;
    w->started += started;
    return started;
}

workers *workers_start(void (*work)(void *context, exchange *x, const void *what), void *context, rapt_error *err)
{
    workers *w = calloc(1, sizeof *w);
    if (!w) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        return NULL;
    }
    w->work = work;
    w->context = context;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    pthread_cond_init(&w->changed_small, NULL);
    while (w->started < THREADS && worker_start(w))
        ;
    if (w->started == THREADS)
        return w;
    workers_stop(w);
    rapt_fail(err, RAPT_ERR_MEMORY, "cannot start a thread for requests");
    return NULL;
}

bool workers_give(workers *w, exchange *x, const void *what)
{
    size_t size;
    work_item *item = malloc(sizeof *item);
    if (!item)
        return false;
    exchange_body(x, &size);
    *item = (work_item){x, what, NULL};
    const bool large = size > WORKERS_LARGE_BODY;
    pthread_mutex_lock(&w->lock);
    work_client *c = client_of(large ? &w->large : &w->small, exchange_address(x));
    if (c) {
        *(c->first ? &c->last->next : &c->first) = item;
        c->last = item;
        w->waiting++;
        pthread_cond_signal(!large && w->small_sleeps ? &w->changed_small : &w->changed);
        w->small_sleeps = w->small_sleeps && large;
    }
    pthread_mutex_unlock(&w->lock);
    if (!c)
        free(item);
    return c != NULL;
}

size_t workers_waiting(workers *w)
{
    pthread_mutex_lock(&w->lock);
    const size_t waiting = w->waiting;
    pthread_mutex_unlock(&w->lock);
    return waiting;
}

void workers_stop(workers *w)
{
    work_item *item;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_broadcast(&w->changed);
    pthread_cond_broadcast(&w->changed_small);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < w->started; i++)
        pthread_join(w->list[i].thread, NULL);
    while ((item = queue_take(&w->small)) || (item = queue_take(&w->large))) {
        exchange_release(item->x);
        free(item);
    }
    pthread_cond_destroy(&w->changed);
    pthread_cond_destroy(&w->changed_small);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
