/* io/hub/hub_rope.h: rotary positions as config.json has them, of transformers 4 ("rope_theta", "rope_scaling") and 5
 * ("rope_parameters"). */
#ifndef IO_HUB_HUB_ROPE_H
#define IO_HUB_HUB_ROPE_H

#include "io/hub/hub_config.h"
#include "rapt/lm.h"

/* What the class of a model says of them. */
typedef struct hub_rope_class {
    double theta;          /* the base where no key has one */
    const char *theta_key; /* of the base; NULL: "rope_theta" */
    const char *share_key; /* of the share of a head's features that is turned; NULL: of such models, all are */
    double share;          /* where no key has one */
    size_t original;       /* where "original_max_position_embeddings" beside the object is missing; 0: the one in it counts */
    bool long_alone;       /* scaled positions are longrope, whose older names are "su" and "yarn" (Phi-3) */
} hub_rope_class;

/* Which of "rope_scaling" and "rope_parameters" says something, for messages. */
const char *hub_rope_key(const hub_config *c);

/* Reads the base, the scaling and how many features are turned into `k`, whose heads are read already. Refuses types and keys
 * that it does not know. */
void hub_rope(hub_config *c, const hub_rope_class *of, rapt_lm_config *k);
/* The same where layers with a window have a base of their own, `theta` where no key has one, and no scaling: of transformers 4
 * ("rope_local_base_freq") and 5 (an object for each type of layer). */
void hub_rope_by_layer(hub_config *c, const hub_rope_class *of, double theta, rapt_lm_config *k);

#endif
