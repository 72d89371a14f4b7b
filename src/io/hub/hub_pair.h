/* io/hub/hub_pair.h: what the configurations of Hugging Face's encoder-decoders have in common that descend from fairseq's:
 * Marian, BART and others. For the families. */
#ifndef IO_HUB_HF_PAIR_H
#define IO_HUB_HF_PAIR_H

#include "io/hub/hub_config.h"
#include "rapt/nn.h"

/* Fills *k, of which families change what is different. One vocabulary, post-norm, learned positions, tied. */
void hub_pair_read(hub_config *c, rapt_transformer_config *k);

#endif
