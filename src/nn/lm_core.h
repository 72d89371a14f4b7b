/* nn/lm_core.h: functions that the language model and its decoding share. */
#ifndef NN_LM_CORE_H
#define NN_LM_CORE_H

#include "rapt/lm.h"

/* NULL if all ids of a row are in the vocabulary; else the poison tensor, with a failure that names row, position and id. `first`
 * is the position of the row's first token. */
rapt_tensor *lm_check_ids(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, size_t row, size_t first);

/* Hidden states [batch, time, d_model], which the output matrix multiplies, for x, the embedded tokens. `layers` NULL: x holds
 * whole rows. Otherwise the tokens are at positions from `past` on, or where layers[i].cached says, of the rows of
 * layers[m->layers] (rapt_causal_self_attention). */
rapt_tensor *lm_blocks(rapt_tape *t, const rapt_lm *m, rapt_tensor *x, rapt_kv *layers, size_t past);
/* Hidden states from x, the output of the last block, or of any other. */
rapt_tensor *lm_last_norm(rapt_tape *t, const rapt_lm *m, rapt_tensor *x);
/* Logits [batch, time, vocab] of hidden states [batch, time, d_model]. */
rapt_tensor *lm_logits(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden);
/* rapt_lm_loss of hidden states [batch, time, d_model] in place of the rows that they are of. */
rapt_tensor *lm_loss_of(rapt_tape *t, const rapt_lm *m, rapt_tensor *hidden, rapt_tokens labels,
                        const rapt_loss_options *options, rapt_loss_sums *parts);
/* rapt_lm_loss for rows that attend to keys and values in the numeric type of `cache`; in fp32 it equals rapt_lm_loss. Drops the
 * contents of the cache. Inference only. */
rapt_tensor *lm_cached_loss(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, rapt_tokens labels,
                            const rapt_loss_options *options, rapt_loss_sums *parts);

#endif
