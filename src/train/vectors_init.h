/* train/vectors_init.h: embeddings that start from pretrained word vectors, as train.vectors says. For set_up.c. */
#ifndef TRAIN_VECTORS_INIT_H
#define TRAIN_VECTORS_INIT_H

#include "train/run.h"

/* Freezes the embeddings for which the recipe gives vectors, if it says so. With `read`, reads the vectors from their files,
 * warns of tokens without one, and sets vectors_hash. Errors as in rapt_vectors_read. Does nothing without such keys. */
rapt_code vectors_init(run *r, bool read, rapt_error *err);

#endif
