/* cli/explain_checkpoints.h: explains one text with all checkpoints of a training run, for `rapt explain --checkpoints`. */
#ifndef CLI_EXPLAIN_CHECKPOINTS_H
#define CLI_EXPLAIN_CHECKPOINTS_H

#include "rapt/explain.h"

typedef struct explain_checkpoints {
    rapt_explained_checkpoint *list; /* [count], in the order of training */
    size_t count;
} explain_checkpoints;

/* Explains the tokens of `like` (attention weights and predictions) with each checkpoint of the model folder, first with its
 * untrained/ if it has one. Call explain_checkpoints_free afterwards in any case. RAPT_ERR_NOT_FOUND: the folder has no
 * checkpoint; other errors as in rapt_model_load_checkpoint and rapt_explanation_new. */
rapt_code explain_checkpoints_read(const char *folder, const rapt_explanation *like, int threads, explain_checkpoints *all,
                                   rapt_error *err);
void explain_checkpoints_free(explain_checkpoints *all);

#endif
