/* nn/lm_init.h: the numbers that a language model starts from: its configuration, filled up and checked, and GPT-2's
 * initial values. For lm.c. */
#ifndef NN_LM_INIT_H
#define NN_LM_INIT_H

#include "rapt/lm.h"

/* The same with a number in place of each 0 that stands for one. */
rapt_lm_config lm_init_defaults(const rapt_lm_config *config);
/* Leaves a failure in the set where the sizes don't fit together. */
void lm_init_check(rapt_params *set, const rapt_lm_config *c);
/* Fills the matrices of a model that is otherwise complete. */
void lm_init_gpt2(rapt_lm *m);

#endif
