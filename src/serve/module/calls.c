/* serve/module/calls.c: calls of the engine for one request, each queued by the one before it. */
#include "serve/module/calls.h"

void calls_init(call_run *run)
{
    exchange_hold(run->x);
    run->next = 0;
}

void calls_free(call_run *run)
{
    exchange_release(run->x);
}

static void calls_fail(call_run *run, rapt_code code, const char *message)
{
    const int status = code == RAPT_ERR_MEMORY || code == RAPT_ERR_INTERRUPTED ? 503 : 500;
    request_fail(&run->error, status, NULL, "%s", message);
}

static bool call_stops(void *context)
{
    return exchange_gone(((call_run *)context)->x);
}

static void call_compute(void *context, const rapt_model *model, int threads);

/* The last act of a thread that has the run: another one may have it at once, or it is freed. */
static void calls_proceed(call_run *run)
{
    rapt_error err = {0};
    if (!run->error.status && run->next < run->count) {
        const rapt_code code = rapt_engine_call(run->computes, call_compute, call_stops, run, NULL, &err);
        if (!code)
            return;
        calls_fail(run, code, err.message);
    }
    run->end(run);
}

static void call_compute(void *context, const rapt_model *model, int threads)
{
    (void)threads;
    call_run *run = context;
    rapt_error err = {0};
    rapt_code code = model ? run->compute(run, run->next++, &err) : RAPT_OK;
    code = code ? code : rapt_engine_check(run->computes, &err);
    if (!code && !model)
        code = rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the request was cancelled before its end");
    if (code)
        calls_fail(run, code, err.message);
    calls_proceed(run);
}

void calls_start(call_run *run)
{
    calls_proceed(run);
}
