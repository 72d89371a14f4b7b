/* serve/module/calls.h: a request that the engine computes in several calls, one after the other: each is queued when the one
 * before is done, behind the calls of other requests, so that requests for one model take turns. For embeddings and scores. */
#ifndef SERVE_MODULE_CALLS_H
#define SERVE_MODULE_CALLS_H

#include "rapt/engine.h"
#include "serve/module/fields.h"

typedef struct call_run call_run;

/* The first member of a request. The caller sets the members up to `end`; calls_init the others. */
struct call_run {
    exchange *x;
    rapt_engine_model *computes; /* the model, while one of the calls lives */
    size_t count;                /* calls */
    rapt_code (*compute)(call_run *run, size_t i, rapt_error *err); /* call i: one at a time, in their order */
    void (*end)(call_run *run);  /* answers, by run->error or else with the results, and frees the request, whose last act is
                                    calls_free */
    request_error error;         /* the first one: no call comes after it */
    size_t next;                 /* call */
};

/* Holds the exchange; free the run in any case. */
void calls_init(call_run *run);
void calls_free(call_run *run);
/* Queues the first call, or ends the run. The run must not be touched any more. */
void calls_start(call_run *run);

#endif
