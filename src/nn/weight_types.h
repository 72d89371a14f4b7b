/* nn/weight_types.h: the type that each weight matrix is held in for inference, by a list as rapt_tape_options.weights has it.
 * For nn/pack.c, and options of commands. */
#ifndef NN_WEIGHT_TYPES_H
#define NN_WEIGHT_TYPES_H

#include "rapt/tape.h"

#include <stdint.h>

/* The name of a type: "fp32", "bf16", "q8_0" or "q4_0". */
const char *weight_types_name(rapt_precision type);

enum { WEIGHT_TYPES_MAX = 64 }; /* in a list */

/* Whether a list is one; *all: the type that it has for all, RAPT_PRECISION_FP32 where there is none. RAPT_ERR_VALUE. */
rapt_code weight_types_check(const char *list, rapt_precision *all, rapt_error *err);

/* Sets *type to what a list (NULL: an empty one) says of a matrix, `output` for the output matrix. False: nothing. A pattern fits
 * its name, or that of the tensor in another program's file (rapt_param.origin). Bits of *used are set for the items that fit.
 * The list is right, as weight_types_check sees it. */
bool weight_types_find(const char *list, const rapt_param *p, bool output, uint64_t *used, rapt_precision *type);

/* Refuses a list with a pattern that fits none of the matrices it was asked about (RAPT_ERR_VALUE). */
rapt_code weight_types_check_used(const char *list, uint64_t used, rapt_error *err);

#endif
