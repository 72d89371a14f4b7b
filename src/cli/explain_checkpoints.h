/* cli/explain_checkpoints.h: what the checkpoints of a training run make of one text, for `rapt explain --checkpoints`. */
#ifndef CLI_EXPLAIN_CHECKPOINTS_H
#define CLI_EXPLAIN_CHECKPOINTS_H

#include "rapt/explain.h"

typedef struct explain_checkpoints {
    rapt_explained_checkpoint *list; /* [count], in the order of training */
    size_t count;
} explain_checkpoints;

/* Explains the tokens of `like` with each checkpoint of the model folder, first with its untrained/ where there is one: attention
 * weights and predictions. explain_checkpoints_free() after either. RAPT_ERR_NOT_FOUND: there is none; else as
 * rapt_model_load_checkpoint and rapt_explanation_new. */
rapt_code explain_checkpoints_read(const char *folder, const rapt_explanation *like, int threads, explain_checkpoints *all,
                                   rapt_error *err);
void explain_checkpoints_free(explain_checkpoints *all);

#endif
