/* decode/encoder_runner.c: one tape a thread; a batch is a pass. */
#include "decode/encoder_runner.h"

#include "base/thread.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

/* One call. */
typedef struct encoder_call {
    encoder_runner *r;
    const text_row *rows; /* by length */
    size_t count;
    const encoder_work *work;
    thread_mutex lock; /* guards the error */
    rapt_error error;  /* the error of any batch; only memory can be missing */
} encoder_call;

rapt_code encoder_runner_open(encoder_runner *r, const rapt_compute *options, rapt_error *err)
{
    return model_tapes_make(&r->tapes, r->m, options, MODEL_TAPES_EACH, err);
}

void encoder_runner_close(encoder_runner *r)
{
    model_tapes_free(&r->tapes);
}

rapt_code encoder_runner_rows(const encoder_runner *r, rapt_tape *t, const text_row *rows, size_t count, const encoder_work *work,
                              rapt_error *err)
{
    rapt_tape_begin(t, (rapt_pass){0});
    token_row *of = tape_alloc(t, count, sizeof *of);
    for (size_t i = 0; of && i < count; i++)
        of[i] = (token_row){rows[i].ids, rows[i].count, rows[i].second};
    const rapt_tokens tokens = of ? ragged_tokens_pack(t, of, count, 0) : (rapt_tokens){0};
    const rapt_tensor *x = tape_failed(t) ? NULL : work->compute(t, r->m->encoder.net, tokens);
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        work->keep(work->context, x, rows, count);
    return code;
}

static void encoder_note_failure(encoder_call *c, const rapt_error *err)
{
    thread_lock(&c->lock);
    if (!c->error.code)
        c->error = *err;
    thread_unlock(&c->lock);
}

/* A pool_fn. */
static void encoder_batch(void *context, size_t batch, int worker)
{
    encoder_call *c = context;
    const size_t most = c->r->batch, first = batch * most, left = c->count - first;
    rapt_error err = {0};
    if (atomic_load(&c->r->cancelled))
        return;
    if (encoder_runner_rows(c->r, c->r->tapes.list[worker], c->rows + first, left < most ? left : most, c->work, &err))
        encoder_note_failure(c, &err);
}

rapt_code encoder_runner_run(encoder_runner *r, const text_row *rows, size_t count, const encoder_work *work, rapt_error *err)
{
    encoder_call c = {.r = r, .rows = rows, .count = count, .work = work};
    thread_mutex_init(&c.lock);
    pool_run(r->tapes.pool, count / r->batch + (count % r->batch > 0), SIZE_MAX, encoder_batch, &c);
    thread_mutex_free(&c.lock);
    if (atomic_exchange(&r->cancelled, false) && !c.error.code)
        rapt_fail(&c.error, RAPT_ERR_INTERRUPTED, "the run was cancelled");
    return c.error.code ? rapt_fail(err, c.error.code, "%s", c.error.message) : RAPT_OK;
}

void encoder_runner_settle(encoder_runner *r)
{
    atomic_store(&r->cancelled, false);
}
