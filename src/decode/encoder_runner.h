/* decode/encoder_runner.h: rows of tokens through an encoder, batch by batch, on all threads. For embedder.c and reranker.c. */
#ifndef DECODE_ENCODER_RUNNER_H
#define DECODE_ENCODER_RUNNER_H

#include "decode/model_tapes.h"
#include "decode/text_rows.h"
#include "nn/ragged_tokens.h"

#include <stdatomic.h>

/* A model, its tapes and how many rows are computed together; zeroed but for these until encoder_runner_open. */
typedef struct encoder_runner {
    const rapt_model *m;
    size_t batch;
    model_tapes tapes; /* one for each thread */
    atomic_bool cancelled;
} encoder_runner;

/* Computes some rows on a tape, whose pass has begun, and keeps the results, unless the tape fails. */
typedef struct encoder_work {
    rapt_tensor *(*compute)(rapt_tape *t, const rapt_encoder_only *net, rapt_tokens tokens);
    void (*keep)(void *context, const rapt_tensor *x, const text_row *rows, size_t count);
    void *context;
} encoder_work;

/* Fails as model_tapes_make does; encoder_runner_close in any case. */
rapt_code encoder_runner_open(encoder_runner *r, const rapt_compute *options, rapt_error *err);
void encoder_runner_close(encoder_runner *r);

/* Computes rows on a tape of the runner. */
rapt_code encoder_runner_rows(const encoder_runner *r, rapt_tape *t, const text_row *rows, size_t count, const encoder_work *work,
                              rapt_error *err);
/* All rows, in batches, on all threads. RAPT_ERR_INTERRUPTED: it was cancelled; RAPT_ERR_MEMORY. */
rapt_code encoder_runner_run(encoder_runner *r, const text_row *rows, size_t count, const encoder_work *work, rapt_error *err);
/* Forgets a cancellation: the end of a run that failed before it computed. */
void encoder_runner_settle(encoder_runner *r);

#endif
