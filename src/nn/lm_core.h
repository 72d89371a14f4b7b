/* nn/lm_core.h: what the language model and its decoding state share. */
#ifndef NN_LM_CORE_H
#define NN_LM_CORE_H

#include "rapt/lm.h"

/* NULL where rows are of one length and all ids in the vocabulary; else the poison tensor, with a failure that names
 * row, position and id. `first` is the position of the first token. */
rapt_tensor *lm_check_ids(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, size_t first);

/* rapt_lm_hidden, or with `kv` of each block the same for positions past .. past + time - 1. */
rapt_tensor *lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_kv *kv, size_t past);
/* The output matrix times what that gave. */
rapt_tensor *lm_logits(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden);

#endif
