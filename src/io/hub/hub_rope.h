/* io/hub/hub_rope.h: rotary positions as config.json has them, of transformers 4 ("rope_theta", "rope_scaling") and 5
 * ("rope_parameters"). */
#ifndef IO_HUB_HF_ROPE_H
#define IO_HUB_HF_ROPE_H

#include "io/hub/hub_config.h"
#include "rapt/nn.h"

/* `theta`: the base of the model's class. Refuses types and keys that it does not know. */
void hub_rope(hub_config *c, double theta, double *base, rapt_rotary_scaling *scaling);

#endif
