/* engine/engine_queue.c: lists of jobs, for the engine and its lanes. */
#include "engine/engine_core.h"

void engine_queue_put(engine_queue *q, rapt_engine_job *job)
{
    job->next = NULL;
    if (q->last)
        q->last->next = job;
    else
        q->first = job;
    q->last = job;
    q->count++;
}

rapt_engine_job *engine_queue_remove(engine_queue *q, rapt_engine_job *before)
{
    rapt_engine_job *job = before ? before->next : q->first;
    if (!job)
        return NULL;
    if (before)
        before->next = job->next;
    else
        q->first = job->next;
    if (q->last == job)
        q->last = before;
    q->count--;
    return job;
}

rapt_engine_job *engine_queue_pop(engine_queue *q)
{
    return engine_queue_remove(q, NULL);
}
