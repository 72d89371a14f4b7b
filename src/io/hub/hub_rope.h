/* io/hub/hub_rope.h: rotary positions in config.json, of transformers 4 ("rope_theta", "rope_scaling") and 5
 * ("rope_parameters"). */
#ifndef IO_HUB_HUB_ROPE_H
#define IO_HUB_HUB_ROPE_H

#include "io/hub/hub_config.h"
#include "rapt/lm.h"

/* The properties of a model's class. */
typedef struct hub_rope_class {
    double theta;          /* the base if no key has one */
    const char *theta_key; /* key of the base; NULL: "rope_theta" */
    const char *share_key; /* key of the share of a head's features that is rotated; NULL: all are */
    double share;          /* the share if no key has one */
    size_t original;       /* used if "original_max_position_embeddings" outside the object is missing; 0: the one inside
                              counts */
    bool long_alone;       /* scaled positions are longrope, whose older names are "su" and "yarn" (Phi-3) */
} hub_rope_class;

/* The key that has the settings, "rope_scaling" or "rope_parameters", for messages. */
const char *hub_rope_key(const hub_config *c);

/* Reads the base, the scaling and how many features are turned into `k`, whose heads are read already. Refuses types and keys
 * that it does not know. */
void hub_rope(hub_config *c, const hub_rope_class *of, rapt_lm_config *k);
/* Reads settings in which layers with a window have their own base (`theta` if no key has one) and no scaling: of transformers 4
 * ("rope_local_base_freq") and 5 (an object for each type of layer). */
void hub_rope_by_layer(hub_config *c, const hub_rope_class *of, double theta, rapt_lm_config *k);

#endif
