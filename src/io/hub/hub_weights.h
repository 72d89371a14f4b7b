/* io/hub/hub_weights.h: fills a model's parameters from the tensors of a Hugging Face model. */
#ifndef IO_HUB_HF_WEIGHTS_H
#define IO_HUB_HF_WEIGHTS_H

#include "io/hub/hub_family.h"
#include "io/weights/weights.h"

/* Every parameter gets its tensor, and every tensor is one's or named by the family as unused; of a tied model "lm_head.weight"
 * may be a copy of the embedding. RAPT_ERR_FORMAT: a tensor that is missing, left over, of another shape; RAPT_ERR_NOT_FINITE. */
rapt_code hub_fill(rapt_lm *net, const hub_family *family, const weights *w, const char *folder, rapt_error *err);

#endif
