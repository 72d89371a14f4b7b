/* nn/weight_types.h: the type that each weight matrix is held in for inference, by a list as rapt_compute.weights has it.
 * For nn/pack.c, and options of commands. */
#ifndef NN_WEIGHT_TYPES_H
#define NN_WEIGHT_TYPES_H

#include "rapt/tape.h"

#include <stdint.h>

enum { WEIGHT_TYPES_MAX = 64 }; /* in a list */

/* Whether a list is valid, else RAPT_ERR_VALUE. *all is the type that it gives to all matrices, RAPT_TYPE_FP32 if it gives
 * none. */
rapt_code weight_types_check(const char *list, rapt_type *all, rapt_error *err);

/* Sets *type to the type that a list (NULL: an empty one) gives to a matrix, `output` for the output matrix. False: it gives
 * none. A pattern is matched with the matrix's name, and with the tensor's name in another program's file (rapt_param.origin).
 * Sets bits of *used for the items that match. The list must have passed weight_types_check. */
bool weight_types_find(const char *list, const rapt_param *p, bool output, uint64_t *used, rapt_type *type);

/* Refuses a list with a pattern that matched no matrix so far (RAPT_ERR_VALUE). */
rapt_code weight_types_check_used(const char *list, uint64_t used, rapt_error *err);

#endif
