/* kernels/body/table.h: all bodies, and the macro that makes a table of them. The file of an ISA defines the vector primitives
 * and the geometry of its tile (body/gemm_body.h), includes this, and makes its tables: KERNELS_TABLE(kernels_avx2, "avx2",
 * &gemm_bf16). No other file includes it. With TABLE_OF_FLOATS
 * the table has the scalar table's products in bf16 and of stored weights, which TABLE_LENDS makes public: for ISAs that have no
 * instructions for them, and would be no faster. */
#include "kernels/body/exp.h"
#ifndef RAPT_DOUBLE
#include "kernels/body/bf16.h"
#include "kernels/body/quant_lanes.h"
#endif
#include "kernels/body/gemm_body.h"
#include "kernels/body/pack_body.h"
#include "kernels/body/softmax.h"
#include "kernels/body/attend.h"
#include "kernels/body/layer_norm.h"
#include "kernels/body/rms_norm.h"
#include "kernels/body/rotary.h"
#include "kernels/body/cross_entropy.h"
#include "kernels/body/elementwise.h"
#include "kernels/body/activation_body.h"
#include "kernels/body/softcap.h"
#include "kernels/body/reduce.h"
#include "kernels/body/dropout.h"
#include "kernels/body/adam.h"
#include "kernels/body/sgd_body.h"
#include "kernels/body/stored_rows.h"

#ifndef GEMM_FAR
#define GEMM_FAR 513 /* L2 caches of 1 MiB and more */
#endif

GEMM_TILE(gemm_tile, GEMM_ELEMENTS)
GEMM_ROW(gemm_row, GEMM_ELEMENTS)

#ifndef RAPT_DOUBLE
#include "kernels/body/adam8.h"
#ifdef TABLE_OF_FLOATS
#define BF16_WEIGHTS &kernels_bf16_weights_scalar
#define F16_WEIGHTS &kernels_f16_weights_scalar
#else
#include "kernels/body/pack_bf16.h"
#include "kernels/body/pack_f16.h"
GEMM_TILE(gemm_tile_bf16, GEMM_PAIRS)
GEMM_ROW(gemm_row_bf16, GEMM_PAIRS)
GEMM_TILE(gemm_tile_bf16_weights, GEMM_BF16_WEIGHTS)
GEMM_ROW(gemm_row_bf16_weights, GEMM_BF16_WEIGHTS)
GEMM_TILE(gemm_tile_f16_weights, GEMM_F16_WEIGHTS)
GEMM_ROW(gemm_row_f16_weights, GEMM_F16_WEIGHTS)

/* Products in bf16 by fused multiply-adds: right, and no faster than fp32. */
#define EMULATED_GEMM                                                                                                \
    {                                                                                                                \
        .name = "emulated", .mr = GEMM_MR, .nr = GEMM_NR, .a_stride = GEMM_A_STRIDE, .pair = 2, .step = 1,           \
        .gemm_tile = gemm_tile_bf16, .gemm_row = gemm_row_bf16, .pack_a = pack_a_bf16, .pack_b = pack_b_bf16,        \
    }

/* Weights that are stored in 16 bits. */
#define WIDENED_GEMM(NAME, TILE, ROW, PACK)                                                                               \
    {                                                                                                                     \
        .name = NAME, .mr = GEMM_MR, .nr = GEMM_NR, .a_stride = GEMM_A_STRIDE, .far = GEMM_FAR, .pair = 2, .wide_a = true, \
        .step = 1, .gemm_tile = TILE, .gemm_row = ROW, .pack_a = pack_a, .pack_b = PACK                                    \
    }
#define BF16_WEIGHTS_GEMM WIDENED_GEMM("bf16 weights", gemm_tile_bf16_weights, gemm_row_bf16_weights, pack_b_bf16)
#define F16_WEIGHTS_GEMM WIDENED_GEMM("f16 weights", gemm_tile_f16_weights, gemm_row_f16_weights, pack_b_f16)

#include "kernels/body/quant_body.h"
#ifndef TABLE_LENDS
static const kernels_gemm gemm_bf16 = EMULATED_GEMM;
static const kernels_gemm gemm_bf16_weights = BF16_WEIGHTS_GEMM, gemm_f16_weights = F16_WEIGHTS_GEMM;
static const kernels_quantized gemms_quantized = QUANT_TABLES("quantized");
#define BF16_WEIGHTS &gemm_bf16_weights
#define F16_WEIGHTS &gemm_f16_weights
#else
#define BF16_WEIGHTS &kernels_bf16_weights_scalar
#define F16_WEIGHTS &kernels_f16_weights_scalar
#endif
#endif
#define ADAM8 adam8_all
#else
#define ADAM8 NULL
#define BF16_WEIGHTS NULL
#define F16_WEIGHTS NULL
#endif

/* What a program that must be small and only has fp32 leaves out (wasm/module.cmake). */
#ifdef RAPT_FP32_ONLY
#define UNLESS_FP32_ONLY(x) NULL
#else
#define UNLESS_FP32_ONLY(x) x
#endif

#define KERNELS_TABLE(TABLE, NAME, BF16, QUANTIZED)           \
    const kernels TABLE = {                                   \
        .name = NAME,                                         \
        .bf16 = UNLESS_FP32_ONLY(BF16),                       \
        .quantized = UNLESS_FP32_ONLY(QUANTIZED),             \
        .bf16_weights = UNLESS_FP32_ONLY(BF16_WEIGHTS),       \
        .f16_weights = UNLESS_FP32_ONLY(F16_WEIGHTS),         \
        .gemm = {.name = "fp32",                              \
                 .mr = GEMM_MR,                               \
                 .nr = GEMM_NR,                               \
                 .a_stride = GEMM_A_STRIDE,                   \
                 .far = GEMM_FAR,                             \
                 .pair = 1,                                   \
                 .step = 1,                                   \
                 .gemm_tile = gemm_tile,                      \
                 .gemm_row = gemm_row,                        \
                 .pack_a = pack_a,                            \
                 .pack_b = pack_b},                           \
        .softmax = softmax,                                   \
        .attend = attend,                                     \
        .softmax_recompute = softmax_recompute,               \
        .softmax_backward = softmax_backward,                 \
        .layer_norm = layer_norm,                             \
        .layer_norm_backward = layer_norm_backward,           \
        .rms_norm = rms_norm,                                 \
        .rms_norm_backward = rms_norm_backward,               \
        .rotary = rotary,                                     \
        .log_sum_exp = log_sum_exp,                           \
        .softmax_gradient = softmax_gradient,                 \
        .fill = fill_all,                                     \
        .add = add_all,                                       \
        .mul = mul_all,                                       \
        .mul_add = mul_add_all,                               \
        .scale = scale_all,                                   \
        .axpy = axpy_all,                                     \
        .scale_add = scale_add_all,                           \
        .relu = relu_all,                                     \
        .relu_backward = relu_backward_all,                   \
        .gelu = gelu_all,                                     \
        .gelu_tanh = gelu_tanh_all,                           \
        .silu = silu_all,                                     \
        .softcap = softcap_all,                               \
        .swiglu = swiglu_all,                                 \
        .swiglu_backward = swiglu_backward_all,               \
        .exp = exp_all,                                       \
        .sum = sum_row,                                       \
        .sum_squares = sum_squares_row,                       \
        .all_finite = all_finite_row,                         \
        .argmax = argmax_row,                                 \
        .first_at_least = first_at_least_row,                 \
        .column_sums = column_sums,                           \
        .dropout = dropout,                                   \
        .adam = adam_all,                                     \
        .adam_replay = adam_replay,                           \
        .sgd = sgd_all,                                       \
        .round_bf16 = round_bf16,                             \
        .widen_bf16 = widen_bf16,                             \
        .round_q8 = round_q8,                                 \
        .widen_q8 = widen_q8,                                 \
        .adam8 = UNLESS_FP32_ONLY(ADAM8),                     \
    }
