/* tensor/source_panels.h: packs a matrix for products from where it is stored, a few rows at a time. For weights that
 * are packed once for inference, and for the base of adapters, which training reads from its file in each pass. */
#ifndef TENSOR_SOURCE_PANELS_H
#define TENSOR_SOURCE_PANELS_H

#include "base/pool.h"
#include "kernels/kernels.h"
#include "rapt/tensor.h"

/* Whether the kernels take the stored blocks of w unchanged, as source_panels_turned and products with gemm_job.stored do. */
bool source_panels_takes_blocks(const kernels_gemm *gemm, const rapt_param *w);

/* Pack W^T [in, out] or W [out, in] of a parameter [out, in] as operand B of these kernels, panels_size elements: from its
 * source, if it has one, a few rows at a time; blocks that the kernels take unchanged are not even numbers in between. False: out
 * of memory. */
bool source_panels_turned(const kernels_gemm *gemm, const rapt_param *w, pool *threads, rapt_real *panels);
bool source_panels_straight(const kernels_gemm *gemm, const rapt_param *w, pool *threads, rapt_real *panels);

#endif
