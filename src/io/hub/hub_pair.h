/* io/hub/hub_pair.h: keys that the configurations of encoder-decoders share which descend from fairseq's: Marian, BART and
 * others. For the families. */
#ifndef IO_HUB_HUB_PAIR_H
#define IO_HUB_HUB_PAIR_H

#include "io/hub/hub_family.h"

/* Properties of a class that no key has, and the defaults that differ. */
typedef struct hub_pair_class {
    rapt_norm_place place;
    rapt_positions_kind positions;
    rapt_sinusoid_layout layout;
    bool embedding_norm;
    rapt_output_bias bias;
    const char *activation; /* default of "activation_function" */
    bool scale;             /* default of "scale_embedding" */
} hub_pair_class;

/* Fills *k: one vocabulary, and one matrix for both embeddings and the output. */
void hub_pair_read(hub_config *c, rapt_transformer_config *k, hub_pair_class of);

extern const place_table HUB_PAIR_PLACES;

#endif
