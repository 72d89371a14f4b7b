/* train/step.h: passes, and the steps that are made of them. For the loop in train.c, its reports, and the memory plan. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H

#include "train/run.h"

/* The normalizer of training losses: 0 (the tokens of the batch) if a step has one batch; 1 with gradient accumulation, because
 * sums are accumulated. */
double step_normalizer(const rapt_recipe *recipe);

/* One forward pass over a batch, and if it records, one backward pass; `sums` gets its nll and tokens. */
rapt_code step_pass(const run *r, const train_batch *batch, rapt_pass pass, double normalizer, pass_sums *sums, rapt_error *err);

/* Brings every parameter to the state after the last step; call it before anything but a pass of the run's tape reads parameters.
 * With a group all ranks call it after the same step. */
rapt_code step_params(const run *r, rapt_error *err);

/* With train.ema: exchanges parameters and averages, between steps, for what evaluates or saves the model; a second call restores
 * both. Else does nothing. */
void step_exchange_average(const run *r);

/* RAPT_ERR_NOT_FINITE, with the first bad tensor. */
rapt_code step_not_finite(const run *r, uint64_t step, const char *what, rapt_error *err);

/* The learning rate of a step, after the reductions so far. */
double step_rate(const run *r, uint64_t step);

/* The next step of the run: its passes, the norm of the gradients, the optimizer. *lr gets its learning rate.
 * RAPT_ERR_INTERRUPTED: the step was not made, and nothing of it counts. */
rapt_code train_step(run *r, double *lr, rapt_error *err);

#endif
