/* train/task/sample.h: a sample of a language model in training. */
#ifndef TRAIN_TASK_SAMPLE_H
#define TRAIN_TASK_SAMPLE_H

#include "train/run.h"

/* `prompt` and at most train.sample_tokens tokens that continue it; the caller frees the text. NULL on failure, including
 * RAPT_ERR_INTERRUPTED. */
char *sample_text(const run *r, const char *prompt, rapt_error *err);

#endif
