/* engine/engine_call.c: rapt_engine_call: the engine's thread calls a caller's function between two steps. */
#include "engine/engine_call.h"

#include <stdlib.h>

typedef struct engine_call {
    rapt_engine_job job;
    void (*fn)(void *context, const rapt_model *model, int threads);
} engine_call;

static void engine_call_free(rapt_engine_job *job)
{
    free(job);
}

void engine_call_run(rapt_engine_job *job, int threads)
{
    const bool stops = engine_stops(job);
    engine_job_ends(job, stops ? RAPT_ERR_INTERRUPTED : RAPT_OK);
    ((engine_call *)job)->fn(job->context, stops ? NULL : job->model->model, threads);
    engine_job_done(job);
}

rapt_code rapt_engine_call(rapt_engine_model *m, void (*fn)(void *context, const rapt_model *model, int threads),
                           rapt_stop_fn *stop, void *context, rapt_engine_job **job, rapt_error *err)
{
    const rapt_code code = engine_check_request(m, NULL, NULL, err);
    if (code)
        return code;
    engine_call *call = calloc(1, sizeof *call);
    if (!call)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a call");
    *call = (engine_call){.job = {.free = engine_call_free, .is_call = true, .stop = stop, .context = context}, .fn = fn};
    engine_queue_job(m, &call->job, job);
    return RAPT_OK;
}
