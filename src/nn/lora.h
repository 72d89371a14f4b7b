/* nn/lora.h: adapters of layers that are one matrix elsewhere. For models of Hugging Face folders. */
#ifndef NN_LORA_H
#define NN_LORA_H

#include "rapt/nn.h"

/* What B A is multiplied by: alpha / rank; rank-stabilized (Kalajdzievski 2023) alpha / sqrt(rank). */
double lora_scale_of(size_t rank, double alpha, bool rslora);

/* rapt_lora_init for a layer that shares A with another layer of the same input; NULL: it shares with none yet. Layers whose
 * matrices are rows of one matrix thus have the adapter of that matrix, whose rank may be larger than the features of one
 * layer. */
void lora_init_part(rapt_linear *m, rapt_params *set, const char *prefix, const rapt_lora_options *options, rapt_param *a);

#endif
