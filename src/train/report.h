/* train/report.h: progress after each step, and at intervals a sample, and a report: validation, a line in train.jsonl, and the
 * best model. With train.ema all of them are made with the averages in place of the parameters. For the loop in train.c. */
#ifndef TRAIN_REPORT_H
#define TRAIN_REPORT_H

#include "train/run.h"

/* The work of this call so far. */
typedef struct run_call {
    uint64_t first, end; /* the step before this call, and its last one */
    double started;      /* by clock_seconds */
    double pause;        /* seconds that went to validation, samples and saving */
    uint64_t tokens;     /* trained on, for the throughput */
    double lr;           /* learning rate of the last step */
    double step_loss;    /* and its mean loss; NaN before the first step, and of one without target tokens */
    double waited_since, waited_first; /* with a group: when its first step ended, and run.waited_all at that time */
} run_call;

/* Seconds of this call and those before. */
double report_seconds(const run *r, const run_call *call);
/* Early stopping: whether the number of train.best_by has not become better for train.patience reports. */
bool report_stopped_early(const run *r);
/* Whether a report is due after the current step. */
bool report_due(const run *r);
/* Whether the last step's report is still to be made, as the run was stopped in the middle of it. */
bool report_missing(const run *r);

/* The progress after the current step. */
rapt_progress report_progress_of(const run *r, const run_call *call);
/* Calls on_progress with the current step. */
void report_progress(const run *r, const run_call *call);

/* Evaluates, saves the best model, writes the log line and calls on_progress. RAPT_ERR_INTERRUPTED: no report is made, its sums
 * stay, and the next call makes it. A partial report, for a call that ends between reports, is always made, without a validation
 * loss if the run is being stopped; the sums stay. */
rapt_code report_make(run *r, run_call *call, bool partial, rapt_error *err);

/* Whether a sample is due after the current step. */
bool report_sample_due(const run *r);
/* Generates a sample, and calls on_sample. */
rapt_code report_sample(run *r, run_call *call, rapt_error *err);

/* The loss on the validation set as it is now; changes no counter. RAPT_ERR_VALUE: there is no validation set. */
rapt_code report_validate(run *r, double *loss, rapt_error *err);

#endif
