/* nn/pack.h: packs the weights of a model's linear layers for inference (tensor/packed_weights.h). For translators, generators
 * and other inference. */
#ifndef NN_PACK_H
#define NN_PACK_H

#include "rapt/lm.h"

#include "tensor/packed_weights.h"

/* Packs for the GEMM kernels of `t`, and tapes like it, with the threads of a pool; tapes then use the result with
 * tape_use_packed. t's options give the numeric type of each matrix. `waits`: matrices whose stored blocks the kernels take are
 * read from there until packed_weights_complete. NULL with `err` set: RAPT_ERR_VALUE: the options are wrong; RAPT_ERR_MEMORY. */
packed_weights *pack_transformer(const rapt_transformer *m, const rapt_tape *t, pool *threads, rapt_error *err);
packed_weights *pack_encoder_only(const rapt_encoder_only *m, const rapt_tape *t, pool *threads, rapt_error *err);
packed_weights *pack_lm(const rapt_lm *m, const rapt_tape *t, pool *threads, bool waits, rapt_error *err);

/* Whether a tape must read packed weights, to compute with the types that are wanted or stored: not only because it is faster. */
bool pack_is_needed(const rapt_params *set, const rapt_tape *t);

#endif
