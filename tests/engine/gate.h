/* tests/engine/gate.h: a call that holds an engine back until a test has queued its requests, so that what it does with them does
 * not depend on when they came. */
#ifndef TESTS_ENGINE_GATE_H
#define TESTS_ENGINE_GATE_H

#include "rapt/engine.h"

#include <pthread.h>

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t open;
    bool is_open;
    int order; /* of what has happened since, for the test */
} gate;

static inline void wait_at_gate(void *context, const rapt_model *model, int threads)
{
    gate *g = context;
    (void)model, (void)threads;
    pthread_mutex_lock(&g->lock);
    while (!g->is_open)
        pthread_cond_wait(&g->open, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static inline void open_gate(gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    pthread_cond_signal(&g->open);
    pthread_mutex_unlock(&g->lock);
}

#endif
