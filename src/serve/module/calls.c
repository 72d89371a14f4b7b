/* serve/module/calls.c: calls of the engine for one request. The last of them, or the thread that queued them, ends the
 * request. */
#include "serve/module/calls.h"

#include <stdlib.h>

typedef struct call_part {
    call_run *run;
    size_t i;
} call_part;

bool calls_init(call_run *run)
{
    exchange_hold(run->x);
    pthread_mutex_init(&run->lock, NULL);
    run->parts = calloc(run->count + 1, sizeof *run->parts);
    run->pending = run->count + 1;
    for (size_t i = 0; i < run->count && run->parts; i++)
        run->parts[i] = (call_part){run, i};
    return run->parts != NULL;
}

void calls_free(call_run *run)
{
    exchange_release(run->x);
    pthread_mutex_destroy(&run->lock);
    free(run->parts);
}

static void calls_release(call_run *run, size_t count)
{
    pthread_mutex_lock(&run->lock);
    run->pending -= count;
    const bool last = run->pending == 0;
    pthread_mutex_unlock(&run->lock);
    if (last)
        run->end(run);
}

static void calls_fail(call_run *run, rapt_code code, const char *message)
{
    const int status = code == RAPT_ERR_MEMORY || code == RAPT_ERR_INTERRUPTED ? 503 : 500;
    pthread_mutex_lock(&run->lock);
    request_fail(&run->error, status, NULL, "%s", message);
    pthread_mutex_unlock(&run->lock);
}

static bool calls_has_failed(call_run *run)
{
    pthread_mutex_lock(&run->lock);
    const bool failed = run->error.status != 0;
    pthread_mutex_unlock(&run->lock);
    return failed;
}

static bool call_stops(void *context)
{
    return exchange_gone(((call_part *)context)->run->x);
}

static void call_compute(void *context, const rapt_model *model, int threads)
{
    (void)threads;
    const call_part *part = context;
    call_run *run = part->run;
    rapt_error err = {0};
    if (!calls_has_failed(run)) {
        rapt_code code = model ? run->compute(run, part->i, &err) : RAPT_OK;
        code = code ? code : rapt_engine_check(run->computes, &err);
        if (!code && !model)
            code = rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the request was cancelled before its end");
        if (code)
            calls_fail(run, code, err.message);
    }
    calls_release(run, 1);
}

void calls_start(call_run *run)
{
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    size_t queued = 0;
    const size_t count = run->count;
    while (queued < count && !code) {
        code = rapt_engine_call(run->computes, call_compute, call_stops, &run->parts[queued], NULL, &err);
        queued += !code;
    }
    if (code)
        calls_fail(run, code, err.message);
    calls_release(run, 1 + count - queued);
}
