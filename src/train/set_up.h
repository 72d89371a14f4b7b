/* train/set_up.h: makes the tape, the model and the optimizer of a run, and counts their memory. For train.c. */
#ifndef TRAIN_SET_UP_H
#define TRAIN_SET_UP_H

#include "train/run.h"

rapt_code set_up_tape(run *r, rapt_error *err);
/* The model with shapes only (RAPT_SEED_SHAPES), to count the memory of the run; one that --init has loaded has its elements.
 * Freezes the parameters of train.freeze. */
rapt_code set_up_shapes(run *r, rapt_error *err);
/* The model with its elements. */
rapt_code set_up_parameters(run *r, rapt_error *err);
/* The moments, the number of steps, and the task's batch buffers. */
rapt_code set_up_optimizer(run *r, rapt_error *err);

/* ---- run_memory.c: the memory of a run, counted before it is taken. For the set-up in train.c. */

/* Counts what the run will take with its largest batch, tells options->on_plan, and refuses (RAPT_ERR_MEMORY) what this machine,
 * its cgroup or the process's limits cannot give: the message names the need, the limit, and what to lower. Data, tokenizers and
 * tape must exist; the model may have shapes only (RAPT_SEED_SHAPES) unless --init has loaded it. Afterwards the tape is ready
 * for the passes. */
rapt_code memory_check(run *r, rapt_error *err);

#endif
