/* tensor/params.h: internals of a set of parameters: its memory, before it is allocated (train/run_memory.c), and access to
 * parameters without their deferred updates. */
#ifndef TENSOR_PARAMS_H
#define TENSOR_PARAMS_H

#include "tensor/param_state.h"

/* For a set made with RAPT_SEED_SHAPES, the bytes that such a set would allocate, gradients included; else 0. */
size_t params_space(const rapt_params *set);

/* Parameter `index` as it is: unlike rapt_params_at, rows of a sparse one may lack updates that Adam has deferred, and values
 * that come when they are needed may not be there. */
rapt_param *params_at(const rapt_params *set, size_t index);

/* The parameter with this name as it is, or NULL. */
rapt_param *params_find(const rapt_params *set, const char *name);

/* Parameters that are added from now on are random by this seed. */
void params_reseed(rapt_params *set, uint64_t seed);

/* Stores gradients of large matrices in bf16 (rapt_tensor.grad_bf16) from now on, in half the memory. These are matrices that are
 * trained and dense, have at least 4096 elements, rows of at most GRAD_STORE_WIDTH, and at most an eighth of the set's elements:
 * a larger gradient is needed in fp32 as a whole while an operation adds to it, which takes more memory than is saved. Not for
 * gradients that are accumulated over several passes. Call it once, before the first pass, because gradients move.
 * RAPT_ERR_MEMORY: the set has failed. */
rapt_code params_store_gradients_bf16(rapt_params *set, rapt_error *err);

/* Gives trained dense parameter i the gradient memory places[i] (borrowed), which several may share, and frees what they had;
 * NULL: the tape allocates it in each pass. Sparse parameters get memory of the set. For a set whose gradients are not in bf16.
 * RAPT_ERR_MEMORY: the set has failed. */
rapt_code params_place_gradients(rapt_params *set, rapt_real *const *places, rapt_error *err);

/* Applies all deferred updates of the set, with the threads of a pool (or NULL), before many reads. Not needed to read a few rows
 * or one parameter: rapt_op_embed and rapt_params_at update what they read. */
void params_sync(const rapt_params *set, pool *threads);

#endif
