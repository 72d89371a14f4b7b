/* train/step_passes.h: the batches that are drawn for a step, and how they are divided among its passes (train.accumulate,
 * train.shards, train.draw_by). For step.c, and for what counts batches, memory and epochs. docs/number-format.md, "Shards", has
 * the rules. */
#ifndef TRAIN_STEP_PASSES_H
#define TRAIN_STEP_PASSES_H

#include "train/task/task.h"

/* Forward and backward passes of a step: a shard has one at least. */
uint64_t step_passes(const rapt_recipe *k);
/* Batches that a step draws from the data; its passes are this many or a multiple. */
uint64_t step_draws(const rapt_recipe *k);
/* Sentences or windows of such a batch, and of a pass, as of batches of the validation set; not where batches are by tokens. */
size_t step_drawn_rows(const rapt_recipe *k);
size_t step_pass_rows(const rapt_recipe *k);

/* Leaves part number `part` of `parts` of a batch: rows floor(part rows / parts) to floor((part + 1) rows / parts) - 1. If these
 * are none, because an epoch ends with a batch of few sentences, the part is the first row without a label that counts. */
void step_part(train_batch *b, uint64_t part, uint64_t parts);

#endif
