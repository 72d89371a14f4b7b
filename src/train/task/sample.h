/* train/task/sample.h: a sample of a language model in training. */
#ifndef TRAIN_TASK_SAMPLE_H
#define TRAIN_TASK_SAMPLE_H

#include "train/run.h"

/* `prompt` and train.sample_tokens tokens that continue it, at most; the caller frees it. NULL on failure, of which
 * RAPT_ERR_INTERRUPTED is one. */
char *sample_text(const run *r, const char *prompt, rapt_error *err);

#endif
