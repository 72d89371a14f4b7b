/* nn/pack.h: weights packed once for inference; what rapt_transformer_pack and rapt_lm_pack are made of. Not for
 * training: the optimizer forgets packed weights. */
#ifndef NN_PACK_H
#define NN_PACK_H

#include "rapt/nn.h"

/* Packs what is not packed yet for the kernels of `t`. Memory comes from the set. RAPT_ERR_MEMORY or RAPT_OK. */
rapt_code pack_linear(rapt_params *set, const rapt_tape *t, const rapt_linear *l, rapt_error *err);
rapt_code pack_attention(rapt_params *set, const rapt_tape *t, const rapt_multi_head_attention *a, rapt_error *err);
rapt_code pack_ffn(rapt_params *set, const rapt_tape *t, const rapt_ffn *f, rapt_error *err);

#endif
