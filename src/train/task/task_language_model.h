/* train/task/task_language_model.h: what runs on a text and on conversations share: the model, and what depends on it alone. */
#ifndef TRAIN_TASK_TASK_LANGUAGE_MODEL_H
#define TRAIN_TASK_TASK_LANGUAGE_MODEL_H

#include "train/run.h"

/* Loads the model to fine-tune, and checks that it has the recipe's context. */
rapt_code task_language_model_load_init(run *r, rapt_error *err);
/* Whether the prompt of samples can be encoded: fails now instead of at the first sample. */
rapt_code task_language_model_check_prompt(const run *r, rapt_error *err);
/* A model that is fine-tuned may lack ids that its tokenizer has and the data, called `name`, use. */
rapt_code task_language_model_check_ids(const run *r, const char *name, int32_t largest, rapt_error *err);
/* A matrix whose rows are hardly used touches only those: with exact AdamW the result is bit-identical. */
void task_language_model_make_sparse(run *r);
rapt_tensor *task_language_model_loss(const run *r, const train_batch *b, const rapt_loss_options *o, pass_sums *sums);
/* The members of a plan that depend on the model, and on full batches. */
void task_language_model_describe(const run *r, rapt_memory_plan *plan);
char *task_language_model_sample(run *r, rapt_error *err); /* train_task.sample */

#endif
