/* train/report.h: what a run measures and tells: progress after each step, and now and then a report, with validation, a line
 * in train.jsonl and the best model. For the loop in train.c. */
#ifndef TRAIN_REPORT_H
#define TRAIN_REPORT_H

#include "train/run.h"

/* What this call has done so far. */
typedef struct run_call {
    uint64_t first, end; /* the step before this call, and its last one */
    double started;      /* by clock_seconds */
    double pause;        /* seconds that went to validation, samples and saving */
    uint64_t tokens;     /* trained on, for the throughput */
    double lr;           /* of the last step */
} run_call;

/* Seconds of this call and those before. */
double report_seconds(const run *r, const run_call *call);
/* Whether the validation loss has not fallen for as long as train.patience says. */
bool report_stopped_early(const run *r);
/* Whether a report is due after the step at hand. */
bool report_due(const run *r);
/* Whether the last step's report is still to be made, as the run was stopped in the middle of it. */
bool report_missing(const run *r);

/* Tells the program of the step at hand. */
void report_progress(const run *r, const run_call *call);

/* Evaluates, keeps the best model, logs and tells. RAPT_ERR_INTERRUPTED: nothing of it is made, and its sums stay; the next call
 * makes it. A partial one, of a call that ends between reports, is made in any case: without a validation loss, where there is
 * no time for one; and the sums stay. */
rapt_code report_make(run *r, run_call *call, bool partial, rapt_error *err);

#endif
