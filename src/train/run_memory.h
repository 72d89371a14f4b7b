/* train/run_memory.h: the memory of a run, counted before it is taken. For the set-up in train.c. */
#ifndef TRAIN_RUN_MEMORY_H
#define TRAIN_RUN_MEMORY_H

#include "train/run.h"

/* Counts what the run will take with its largest batch, tells options->on_plan, and refuses (RAPT_ERR_MEMORY) what this machine,
 * its cgroup or the process's limits cannot give: the message names the need, the limit, and what to lower. Data, tokenizers and
 * tape must exist; the model may have shapes only (RAPT_SEED_SHAPES) unless --init has loaded it. Afterwards the tape is ready
 * for the passes. */
rapt_code memory_check(run *r, rapt_error *err);

#endif
