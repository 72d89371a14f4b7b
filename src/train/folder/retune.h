/* train/folder/retune.h: a run that is resumed with another learning rate, schedule or weight decay, or with the
 * optimizer anew. For resume.c. */
#ifndef TRAIN_FOLDER_RETUNE_H
#define TRAIN_FOLDER_RETUNE_H

#include "train/run.h"

/* Compares the run's recipe with `before`, which a checkpoint has (recipe_tuned_text), once the run has its counters. If a key
 * has changed, or the optimizer begins anew, warns, and counts it from the next step on. RAPT_ERR_VALUE: the run has no next
 * step; RAPT_ERR_FORMAT: `before` is no such text. */
rapt_code retune_check(run *r, const char *before, rapt_error *err);

#endif
