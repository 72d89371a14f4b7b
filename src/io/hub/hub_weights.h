/* io/hub/hub_weights.h: fills a model's parameters from the tensors of a Hugging Face model. */
#ifndef IO_HUB_HUB_WEIGHTS_H
#define IO_HUB_HUB_WEIGHTS_H

#include "io/place/place.h"
#include "io/model.h"
#include "io/weights/weights.h"

/* Fills every parameter from its tensor, a buffer only if there is a tensor. Every tensor must belong to a parameter, be a copy
 * of such a tensor, or be listed as unused by the family. RAPT_ERR_FORMAT: a tensor is missing, left over, of another shape, or
 * not a copy; RAPT_ERR_NOT_FINITE. In a set made with RAPT_SEED_UNSET, matrices are checked and stay in the files until they are
 * needed: `w` must then live as long as `params`, and so must the adapter of `from`, which is added to the matrices that it
 * names. `rows` [rapt_params_count], zeroed, or NULL, gets the row of each parameter's tensor (NULL: a buffer without one). In a
 * set made with RAPT_SEED_SHAPES, only names, types and shapes are checked. The table of `from`, if it has one, counts in place
 * of the family's. */
rapt_code hub_fill(rapt_params *params, const place_model *of, const weights *w, const model_source *from, const place_row **rows,
                   rapt_error *err);

/* Whether the files, whose names have no prefix, have an output matrix of a T5, and an embedding of other values: otherwise
 * transformers ties the two. */
rapt_code hub_find_output(const weights *w, const place_table *of, const char *folder, bool *own, rapt_error *err);

#endif
