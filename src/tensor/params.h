/* tensor/params.h: a set of parameters from inside: its memory, before it is taken (train/run_memory.c), and access for those
 * who look at parameters, not at their elements. */
#ifndef TENSOR_PARAMS_H
#define TENSOR_PARAMS_H

#include "tensor/param_state.h"

/* Addresses that a set like this one would take, with gradients: of a set made with RAPT_SEED_SHAPES; else 0. */
size_t params_space(const rapt_params *set);

/* Parameter `index` as it is: unlike rapt_params_at, rows of a sparse one may lack updates that Adam has deferred. */
rapt_param *params_at(const rapt_params *set, size_t index);

/* Applies all deferred updates of the set, with the threads of a pool (or NULL): once before many reads. Whoever reads only a
 * few rows, or one parameter, need not call it: rapt_op_embed and rapt_params_at see to what they read. */
void params_sync(const rapt_params *set, pool *threads);

#endif
