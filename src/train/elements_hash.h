/* train/elements_hash.h: a hash of parameters' elements, by which runs and processes compare models. */
#ifndef TRAIN_ELEMENTS_HASH_H
#define TRAIN_ELEMENTS_HASH_H

#include "rapt/tensor.h"

/* Mixes the hashes (XXH3) of all parameters' elements into *hash, buffers' too if `buffers`. Elements that stay in a file in
 * fewer bits are read from there a few rows at a time (tensor/param_source.h), and the hash is the same. RAPT_ERR_MEMORY. */
rapt_code elements_hash(const rapt_params *set, bool buffers, uint64_t *hash, rapt_error *err);

#endif
