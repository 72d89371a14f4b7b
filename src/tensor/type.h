/* tensor/type.h: which numeric types a place takes. For options of models and tapes, KV caches, and files of weights. */
#ifndef TENSOR_TYPE_H
#define TENSOR_TYPE_H

#include "rapt/tensor.h"

/* RAPT_ERR_VALUE: matrix products are not computed in this type. */
rapt_code type_check_products(rapt_type type, rapt_error *err);
/* RAPT_ERR_VALUE: keys and values are not stored in this type. */
rapt_code type_check_kv(rapt_type type, rapt_error *err);

/* Whether numbers are stored in blocks with a scale. */
static inline bool type_has_blocks(rapt_type type)
{
    return type == RAPT_TYPE_Q8_0 || type == RAPT_TYPE_Q4_0;
}

#endif
