/* train/phase.c: what a run tells its program between steps, and whether the program wants it to end. For the parts of a run
 * that may take long: set-up, validation, samples, checkpoints. Not for steps, which rapt_progress tells of. */
#include "train/run.h"

void run_phase(const run *r, const char *what, size_t done, size_t count)
{
    if (r->options->on_phase)
        r->options->on_phase(r->options->context, what, done, count);
}

stop_check run_stop(const run *r)
{
    return (stop_check){r->options->stop, r->options->context};
}

bool run_stop_asked(const run *r)
{
    return stop_asked(run_stop(r));
}

rapt_code run_stopped(const run *r, rapt_error *err)
{
    return run_stop_asked(r) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped") : RAPT_OK;
}
