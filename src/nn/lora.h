/* nn/lora.h: adapters of layers that are one matrix elsewhere. For models of Hugging Face folders. */
#ifndef NN_LORA_H
#define NN_LORA_H

#include "rapt/nn.h"

/* rapt_lora_init for a layer that shares A with another one, which has the same input; NULL: with none yet. Layers whose matrices
 * are rows of one matrix have that matrix's adapter so, and its rank may be more than the features of one of them. */
void lora_init_part(rapt_linear *m, rapt_params *set, const char *prefix, const rapt_lora_options *options, rapt_param *a);

#endif
