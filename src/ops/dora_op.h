/* ops/dora_op.h: lengths of the rows of a matrix that gets a weight-decomposed adapter (DoRA). For nn/lora.c. */
#ifndef OPS_DORA_OP_H
#define OPS_DORA_OP_H

#include "rapt/tensor.h"

/* squares[i] = the sum of the squares of row i of w [out, in], in double: in 16 sums, element j in sum j % 16, added in order.
 * lengths[i] = its square root, as rapt_op_dora rounds it. Reads w from its source, if it has one, and leaves its memory
 * untouched. False: out of memory. */
bool dora_squares(const rapt_param *w, double *squares, rapt_real *lengths);

#endif
