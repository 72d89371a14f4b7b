/* nn/lm_init.h: a language model's configuration, filled up with its defaults and checked. For lm.c. */
#ifndef NN_LM_INIT_H
#define NN_LM_INIT_H

#include "rapt/lm.h"

/* The same with a number in place of each 0 that stands for one. */
rapt_lm_config lm_init_defaults(const rapt_lm_config *config);
/* Leaves a failure in the set where the sizes don't fit together. */
void lm_init_check(rapt_params *set, const rapt_lm_config *c);

#endif
