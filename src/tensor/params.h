/* tensor/params.h: what a set of parameters says of its memory. For who counts before it is taken (train/run_memory.c). */
#ifndef TENSOR_PARAMS_H
#define TENSOR_PARAMS_H

#include "rapt/tensor.h"

/* Addresses that a set like this one would take, with gradients: of a set made with RAPT_SEED_SHAPES; else 0. */
size_t params_space(const rapt_params *set);

#endif
