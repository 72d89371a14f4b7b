/* nn/lm_core.h: what the language model and its decoding share. */
#ifndef NN_LM_CORE_H
#define NN_LM_CORE_H

#include "rapt/lm.h"

/* NULL where rows are of one length and all ids in the vocabulary; else the poison tensor, with a failure that names
 * row, position and id. `first` is the position of the first token. */
rapt_tensor *lm_check_ids(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, size_t first);

/* What the output matrix multiplies, [batch, time, d_model]. `cache` NULL: of whole rows. Otherwise of the tokens behind the
 * positions that it holds; their keys and values are appended, and rapt_kv_cache_advance is the caller's. */
rapt_tensor *lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_kv_cache *cache);
/* Logits of that. */
rapt_tensor *lm_logits(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden);

#endif
