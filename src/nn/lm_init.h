/* nn/lm_init.h: defaults and checks of a language model's configuration. For lm.c. */
#ifndef NN_LM_INIT_H
#define NN_LM_INIT_H

#include "rapt/lm.h"

/* The configuration with its default in place of each 0 that means one. */
rapt_lm_config lm_init_defaults(const rapt_lm_config *config);
/* Whether a layer is in a set; false from RAPT_LAYER_SET_MAX on. */
bool lm_init_has_layer(const rapt_layer_set *set, size_t layer);
/* Records a failure in the set if the sizes don't fit together. */
void lm_init_check(rapt_params *set, const rapt_lm_config *c);

#endif
