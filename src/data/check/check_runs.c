/* data/check/check_runs.c: runs of lines that are kept. No checking here. */
#include "data/check/check_runs.h"

check_runs check_runs_of(const char *text, size_t size, check_put_fn *put, void *context)
{
    return (check_runs){text, {text, text + size}, put, context};
}

rapt_code check_runs_end(check_runs *r, rapt_error *err)
{
    const char *run = r->run;
    r->run = r->rest.at;
    return r->rest.at > run ? r->put(r->context, run, (size_t)(r->rest.at - run), err) : RAPT_OK;
}

rapt_code check_runs_line(check_runs *r, bool kept, rapt_error *err)
{
    rapt_code code = kept ? RAPT_OK : check_runs_end(r, err);
    lines_next(&r->rest);
    if (!kept)
        r->run = r->rest.at;
    return code;
}
