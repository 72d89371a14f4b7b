/* train/run.h: one training run: what the set-up makes and the loop uses. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "rapt/data.h"
#include "rapt/io.h"
#include "rapt/train.h"
#include "train/checkpoint.h"

typedef struct run {
    const rapt_train_options *options;
    const rapt_recipe *recipe;
    rapt_pairs *pairs;
    rapt_model *model;
    rapt_dataset *train, *held_out; /* held_out may be NULL */
    rapt_loader *loader, *held_out_loader;
    rapt_tape *tape;
    rapt_adam *adam;
    size_t steps_per_epoch;
    uint64_t steps; /* planned by the recipe */
    checkpoint_state state;
} run;

/* Reads data, makes or loads the model, measures memory, prepares the folder; on resume loads the newest checkpoint.
 * Writes nothing before all input is checked. On failure the run still has to be freed. */
rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err);
void run_free(run *r);

/* One forward (and, where it records, one backward) pass over a batch; adds up nll and tokens in `parts`. */
rapt_code run_pass(run *r, const rapt_batch *batch, rapt_pass pass, rapt_loss_parts *parts, rapt_error *err);

#endif
