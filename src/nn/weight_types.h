/* nn/weight_types.h: the type that each weight matrix is held in for inference, by a list as rapt_tape_options.weights has it.
 * For nn/pack.c, and options of commands. */
#ifndef NN_WEIGHT_TYPES_H
#define NN_WEIGHT_TYPES_H

#include "rapt/tape.h"

/* The name of a type: "fp32", "bf16", "q8_0" or "q4_0". */
const char *weight_types_name(rapt_precision type);

/* Whether a list is one; *all: the type that it has for all, RAPT_PRECISION_FP32 where there is none. RAPT_ERR_VALUE. */
rapt_code weight_types_check(const char *list, rapt_precision *all, rapt_error *err);

/* Sets *type to what a list (NULL: an empty one) says of a parameter, `output` for the output matrix. False: nothing. The list is
 * right, as weight_types_check sees it. */
bool weight_types_find(const char *list, const char *name, bool output, rapt_precision *type);

#endif
