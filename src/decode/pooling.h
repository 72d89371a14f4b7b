/* decode/pooling.h: turns the vectors of a text's tokens into one vector. For embedder.c. */
#ifndef DECODE_POOLING_H
#define DECODE_POOLING_H

#include "rapt/io.h"

/* to[features], from the first `features` of x [count, d], count > 0: the mean, the first row, or the maximum of each. */
void pooling_run(rapt_pooling kind, const rapt_real *x, size_t count, size_t d, size_t features, rapt_real *to);
/* x / max(|x|, 1e-12), |x| being the Euclidean norm, as PyTorch's normalize has it. */
void pooling_normalize(rapt_real *x, size_t d);

#endif
