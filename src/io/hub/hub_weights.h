/* io/hub/hub_weights.h: fills a model's parameters from the tensors of a Hugging Face model. */
#ifndef IO_HUB_HUB_WEIGHTS_H
#define IO_HUB_HUB_WEIGHTS_H

#include "io/hub/hub_names.h"
#include "io/model.h"

/* Every parameter gets its tensor, a buffer where there is one, and every tensor is one's, a copy of one's, or unused as the
 * family has it. RAPT_ERR_FORMAT: a tensor that is missing, left over, of another shape, or no copy; RAPT_ERR_NOT_FINITE.
 * Matrices of a set made with RAPT_SEED_UNSET are checked, and stay in the files until they are needed: `w` lives as long as
 * `params` then, and so does the adapter of `from`, which is added to the matrices that it names. `rows` [rapt_params_count],
 * zeroed, or NULL: gets the row of each parameter's tensor; NULL: a buffer without. Of a set made with RAPT_SEED_SHAPES names,
 * types and shapes are checked alone. Where `from` has a layout, tensors have its names. */
rapt_code hub_fill(rapt_params *params, const hub_naming *of, const weights *w, const model_source *from, const hub_name **rows,
                   rapt_error *err);

/* Whether the files have an output matrix of a T5, and an embedding of other values: transformers ties the two otherwise. */
rapt_code hub_find_output(const weights *w, const char *folder, bool *own, rapt_error *err);

#endif
