/* tests/ops/ops_table.h: every operation of rapt/tape.h with every option that changes what it computes. For the
 * gradient check, the bit tests and the allocation tests, which walk it; check_table.sh refuses a tape.h with an
 * operation that is missing here. The builders are in ops_build.h.
 *
 * X(operation, row, builder, flags) */
#ifndef TESTS_OPS_TABLE_H
#define TESTS_OPS_TABLE_H

enum {
    OPS_BIAS = 1 << 0,
    OPS_RELU = 1 << 1,
    OPS_LONG = 1 << 2,       /* sums longer than KERNELS_K_BLOCK */
    OPS_TRANSPOSE = 1 << 3,
    OPS_4D = 1 << 4,
    OPS_DROPOUT = 1 << 5,
    OPS_PARAMS = 1 << 6,
    OPS_TWO_DIMS = 1 << 7,   /* layer norm over the last two dimensions */
    OPS_ALL_DIMS = 1 << 8,   /* over all of them */
    OPS_LENS = 1 << 9,
    OPS_LENS_2D = 1 << 10,
    OPS_CAUSAL = 1 << 11,
    OPS_PAST = 1 << 12,      /* queries at positions after the first */
    OPS_KEEP = 1 << 13,
    OPS_KEEP_2D = 1 << 14,
    OPS_DEAD = 1 << 15,      /* a query without any key */
    OPS_HEADS = 1 << 16,
    OPS_DV = 1 << 17,        /* values narrower than keys */
    OPS_TILES = 1 << 18,     /* more queries than the attention takes at once */
    OPS_PADDING = 1 << 19,
    OPS_SCALE = 1 << 20,
    OPS_FREQ = 1 << 21,
    OPS_POSITIONS = 1 << 22, /* of attention: ALiBi */
    OPS_FIRST = 1 << 23,     /* the first position is not 0; of masks: a window */
    OPS_SMOOTH = 1 << 24,
    OPS_NORMALIZER = 1 << 25,
    OPS_SPARSE = 1 << 26,
    OPS_MAX_NORM = 1 << 27,
    OPS_SAME = 1 << 28,      /* one tensor is several operands */
    OPS_RAGGED = 1 << 29,    /* examples of unequal length, without padding */
    OPS_GROUP = 1 << 30,     /* fewer key-value heads than query heads */
    OPS_GELU = OPS_SMOOTH,   /* where there is no loss: the activation, */
    OPS_SILU = OPS_NORMALIZER, /* or, both of these together, GELU's tanh form */
    OPS_GAMMA = OPS_SCALE,   /* norms: gamma and no beta */
    OPS_AGAIN = OPS_TILES    /* blocks are recomputed in the backward pass; the other operations don't mind */
};

#define OPS(X)                                                                                               \
    X(rapt_op_linear, linear, build_linear, 0)                                                               \
    X(rapt_op_linear, linear_bias, build_linear, OPS_BIAS)                                                   \
    X(rapt_op_linear, linear_relu, build_linear, OPS_RELU)                                                   \
    X(rapt_op_linear, linear_bias_relu, build_linear, OPS_BIAS | OPS_RELU)                                   \
    X(rapt_op_linear, linear_long, build_linear, OPS_BIAS | OPS_LONG)                                        \
    X(rapt_op_linear, linear_gelu, build_linear, OPS_GELU)                                                   \
    X(rapt_op_linear, linear_bias_gelu_tanh, build_linear, OPS_BIAS | OPS_GELU | OPS_SILU)                   \
    X(rapt_op_linear, linear_bias_silu, build_linear, OPS_BIAS | OPS_SILU)                                   \
    X(rapt_op_linears, linears, build_linears, OPS_BIAS)                                                     \
    X(rapt_op_linears, linears_same, build_linears, OPS_SAME)                                                \
    X(rapt_op_linears, linears_apart, build_linears, OPS_LONG)                                               \
    X(rapt_op_lora, lora, build_lora, 0)                                                                     \
    X(rapt_op_lora, lora_long, build_lora, OPS_LONG)                                                         \
    X(rapt_op_lora, lora_dropout, build_lora, OPS_DROPOUT)                                                   \
    X(rapt_op_lora, lora_frozen, build_lora, OPS_DEAD)                                                       \
    X(rapt_op_dora, dora, build_dora, 0)                                                                     \
    X(rapt_op_dora, dora_bias, build_dora, OPS_BIAS)                                                         \
    X(rapt_op_dora, dora_long, build_dora, OPS_LONG)                                                         \
    X(rapt_op_matmul, matmul, build_matmul, 0)                                                                  \
    X(rapt_op_matmul, matmul_transpose, build_matmul, OPS_TRANSPOSE)                                            \
    X(rapt_op_matmul, matmul_4d, build_matmul, OPS_4D)                                                          \
    X(rapt_op_matmul, matmul_4d_transpose, build_matmul, OPS_4D | OPS_TRANSPOSE)                                \
    X(rapt_op_matmul, matmul_group, build_matmul, OPS_4D | OPS_GROUP)                                           \
    X(rapt_op_matmul, matmul_group_transpose, build_matmul, OPS_4D | OPS_GROUP | OPS_TRANSPOSE)                 \
    X(rapt_op_matmul, matmul_same, build_matmul, OPS_SAME | OPS_TRANSPOSE)                                      \
    X(rapt_op_matmul, matmul_long, build_matmul, OPS_LONG)                                                      \
    X(rapt_op_add, add, build_add, 0)                                                                           \
    X(rapt_op_add, add_same, build_add, OPS_SAME)                                                               \
    X(rapt_op_add, add_features, build_add, OPS_BIAS)                                                           \
    X(rapt_op_add, add_positions_alone, build_add, OPS_POSITIONS)                                               \
    X(rapt_op_add, add_column, build_add, OPS_DV)                                                               \
    X(rapt_op_add, add_outer, build_add, OPS_TWO_DIMS)                                                          \
    X(rapt_op_subtract, subtract, build_subtract, 0)                                                            \
    X(rapt_op_subtract, subtract_features, build_subtract, OPS_BIAS)                                            \
    X(rapt_op_scale, scale, build_scale, 0)                                                                     \
    X(rapt_op_relu, relu, build_relu, 0)                                                                        \
    X(rapt_op_activate, activate_identity, build_activate, 0)                                                   \
    X(rapt_op_activate, activate_relu, build_activate, OPS_RELU)                                                \
    X(rapt_op_activate, activate_gelu, build_activate, OPS_GELU)                                                \
    X(rapt_op_activate, activate_gelu_tanh, build_activate, OPS_GELU | OPS_SILU | OPS_4D)                       \
    X(rapt_op_activate, activate_silu, build_activate, OPS_SILU)                                                \
    X(rapt_op_softcap, softcap, build_softcap, 0)                                                               \
    X(rapt_op_multiply, multiply, build_multiply, 0)                                                            \
    X(rapt_op_multiply, multiply_same, build_multiply, OPS_SAME)                                                \
    X(rapt_op_multiply, multiply_features, build_multiply, OPS_BIAS)                                            \
    X(rapt_op_multiply, multiply_outer, build_multiply, OPS_TWO_DIMS)                                           \
    X(rapt_op_tanh, tanh, build_tanh, 0)                                                                        \
    X(rapt_op_exp, exp, build_exp, 0)                                                                           \
    X(rapt_op_log, log, build_log, 0)                                                                           \
    X(rapt_op_swiglu, swiglu, build_swiglu, 0)                                                                  \
    X(rapt_op_swiglu, swiglu_same, build_swiglu, OPS_SAME)                                                      \
    X(rapt_op_rotary, rotary, build_rotary, 0)                                                               \
    X(rapt_op_rotary, rotary_first, build_rotary, OPS_FIRST | OPS_HEADS)                                     \
    X(rapt_op_rotary, rotary_ragged, build_rotary, OPS_FIRST | OPS_HEADS | OPS_RAGGED)                       \
    X(rapt_op_dropout, dropout, build_dropout, 0)                                                               \
    X(rapt_op_dropout, dropout_4d, build_dropout, OPS_4D)                                                       \
    X(rapt_op_layer_norm, layer_norm, build_norm, OPS_PARAMS)                                                \
    X(rapt_op_layer_norm, layer_norm_bare, build_norm, 0)                                                    \
    X(rapt_op_layer_norm, layer_norm_gamma, build_norm, OPS_GAMMA)                                           \
    X(rapt_op_layer_norm, layer_norm_gamma_2, build_norm, OPS_GAMMA | OPS_TWO_DIMS)                          \
    X(rapt_op_layer_norm, layer_norm_2, build_norm, OPS_PARAMS | OPS_TWO_DIMS)                               \
    X(rapt_op_layer_norm, layer_norm_all, build_norm, OPS_PARAMS | OPS_ALL_DIMS)                             \
    X(rapt_op_layer_norm, layer_norm_4d, build_norm, OPS_PARAMS | OPS_4D)                                    \
    X(rapt_op_layer_norm, layer_norm_4d_2, build_norm, OPS_PARAMS | OPS_4D | OPS_TWO_DIMS)                   \
    X(rapt_op_rms_norm, rms_norm, build_rms_norm, OPS_GAMMA)                                                 \
    X(rapt_op_rms_norm, rms_norm_bare, build_rms_norm, 0)                                                    \
    X(rapt_op_rms_norm, rms_norm_4d, build_rms_norm, OPS_GAMMA | OPS_4D)                                     \
    X(rapt_op_add_norm, add_norm, build_add_norm, OPS_PARAMS)                                                \
    X(rapt_op_add_norm, add_norm_gamma, build_add_norm, OPS_GAMMA | OPS_DROPOUT)                             \
    X(rapt_op_add_norm, add_norm_bare, build_add_norm, 0)                                                    \
    X(rapt_op_add_norm, add_norm_same, build_add_norm, OPS_PARAMS | OPS_SAME)                                \
    X(rapt_op_add_norm, add_norm_dropout, build_add_norm, OPS_PARAMS | OPS_DROPOUT)                          \
    X(rapt_op_add_norm, add_norm_dropout_same, build_add_norm, OPS_PARAMS | OPS_DROPOUT | OPS_SAME)          \
    X(rapt_op_add_norm, add_norm_dropout_2, build_add_norm, OPS_PARAMS | OPS_DROPOUT | OPS_TWO_DIMS)         \
    X(rapt_op_add_norm, add_norm_dropout_all, build_add_norm, OPS_PARAMS | OPS_DROPOUT | OPS_ALL_DIMS)       \
    X(rapt_op_add_norm, add_norm_dropout_4d, build_add_norm, OPS_PARAMS | OPS_DROPOUT | OPS_4D)              \
    X(rapt_op_residual, residual, build_residual, 0)                                                            \
    X(rapt_op_residual, residual_same, build_residual, OPS_SAME | OPS_DROPOUT)                                  \
    X(rapt_op_residual, residual_dropout, build_residual, OPS_DROPOUT)                                          \
    X(rapt_op_residual, residual_over, build_residual, OPS_SCALE)                                               \
    X(rapt_op_residual, residual_dropout_over, build_residual, OPS_DROPOUT | OPS_SCALE)                         \
    X(rapt_op_masked_softmax, softmax, build_softmax, 0)                                                        \
    X(rapt_op_masked_softmax, softmax_4d, build_softmax, OPS_4D)                                                \
    X(rapt_op_masked_softmax, softmax_2d, build_softmax, OPS_TWO_DIMS | OPS_LENS)                               \
    X(rapt_op_masked_softmax, softmax_lens, build_softmax, OPS_4D | OPS_LENS)                                   \
    X(rapt_op_masked_softmax, softmax_lens_2d, build_softmax, OPS_LENS_2D)                                      \
    X(rapt_op_masked_softmax, softmax_causal, build_softmax, OPS_CAUSAL)                                        \
    X(rapt_op_masked_softmax, softmax_past, build_softmax, OPS_CAUSAL | OPS_PAST)                               \
    X(rapt_op_masked_softmax, softmax_window, build_softmax, OPS_CAUSAL | OPS_PAST | OPS_FIRST)                 \
    X(rapt_op_masked_softmax, softmax_keep, build_softmax, OPS_4D | OPS_KEEP)                                   \
    X(rapt_op_masked_softmax, softmax_keep_2d, build_softmax, OPS_4D | OPS_KEEP_2D)                             \
    X(rapt_op_masked_softmax, softmax_dead, build_softmax, OPS_KEEP_2D | OPS_LENS | OPS_CAUSAL | OPS_DEAD)      \
    X(rapt_op_attention, attention, build_attention, 0)                                                      \
    X(rapt_op_attention, attention_heads, build_attention, OPS_HEADS)                                        \
    X(rapt_op_attention, attention_dv, build_attention, OPS_HEADS | OPS_DV)                                  \
    X(rapt_op_attention, attention_same, build_attention, OPS_HEADS | OPS_SAME | OPS_CAUSAL)                 \
    X(rapt_op_attention, attention_lens, build_attention, OPS_HEADS | OPS_LENS)                              \
    X(rapt_op_attention, attention_lens_2d, build_attention, OPS_HEADS | OPS_LENS_2D)                        \
    X(rapt_op_attention, attention_causal, build_attention, OPS_HEADS | OPS_CAUSAL)                          \
    X(rapt_op_attention, attention_past, build_attention, OPS_HEADS | OPS_CAUSAL | OPS_PAST | OPS_DROPOUT)   \
    X(rapt_op_attention, attention_window, build_attention, OPS_HEADS | OPS_CAUSAL | OPS_PAST | OPS_FIRST)   \
    X(rapt_op_attention, attention_window_tiles, build_attention, OPS_TILES | OPS_CAUSAL | OPS_FIRST)        \
    X(rapt_op_attention, attention_keep, build_attention, OPS_HEADS | OPS_KEEP)                              \
    X(rapt_op_attention, attention_keep_2d, build_attention, OPS_HEADS | OPS_KEEP_2D)                        \
    X(rapt_op_attention, attention_dead, build_attention,                                                    \
      OPS_HEADS | OPS_KEEP_2D | OPS_LENS | OPS_CAUSAL | OPS_DEAD)                                            \
    X(rapt_op_attention, attention_dropout, build_attention, OPS_HEADS | OPS_DROPOUT | OPS_DV)               \
    X(rapt_op_attention, attention_all, build_attention,                                                     \
      OPS_HEADS | OPS_DROPOUT | OPS_DV | OPS_LENS_2D | OPS_CAUSAL | OPS_KEEP_2D | OPS_DEAD)                  \
    X(rapt_op_attention, attention_group, build_attention, OPS_HEADS | OPS_GROUP | OPS_CAUSAL | OPS_DROPOUT) \
    X(rapt_op_attention, attention_group_tiles, build_attention, OPS_HEADS | OPS_GROUP | OPS_TILES)          \
    X(rapt_op_attention, attention_long, build_attention, OPS_LONG | OPS_DROPOUT)                            \
    X(rapt_op_attention, attention_tiles, build_attention, OPS_TILES | OPS_CAUSAL | OPS_DROPOUT)             \
    X(rapt_op_attention, attention_scale, build_attention, OPS_GROUP | OPS_CAUSAL | OPS_SCALE | OPS_DROPOUT) \
    X(rapt_op_attention, attention_alibi, build_attention, OPS_GROUP | OPS_CAUSAL | OPS_POSITIONS | OPS_DROPOUT) \
    X(rapt_op_attention, attention_alibi_lens, build_attention, OPS_HEADS | OPS_LENS | OPS_POSITIONS)        \
    X(rapt_op_attention, attention_alibi_tiles, build_attention,                                             \
      OPS_TILES | OPS_CAUSAL | OPS_PAST | OPS_SCALE | OPS_POSITIONS)                                         \
    X(rapt_op_attention, attention_cap, build_attention, OPS_GROUP | OPS_CAUSAL | OPS_MAX_NORM)          \
    X(rapt_op_attention, attention_cap_tiles, build_attention, OPS_TILES | OPS_SCALE | OPS_MAX_NORM)     \
    X(rapt_op_reshape, reshape, build_reshape, 0)                                                               \
    X(rapt_op_reshape, reshape_ragged, build_reshape, OPS_RAGGED)                                               \
    X(rapt_op_reshape, reshape_same, build_reshape, OPS_SAME)                                                   \
    X(rapt_op_expand, expand, build_expand, 0)                                                                  \
    X(rapt_op_expand, expand_column, build_expand, OPS_DV)                                                      \
    X(rapt_op_expand, expand_same, build_expand, OPS_SAME)                                                      \
    X(rapt_op_sum_axis, sum_axis_last, build_sum_axis, 0)                                                       \
    X(rapt_op_sum_axis, sum_axis_first, build_sum_axis, OPS_FIRST)                                              \
    X(rapt_op_sum_axis, sum_axis_4d, build_sum_axis, OPS_4D)                                                    \
    X(rapt_op_sum_axis, sum_axis_vector, build_sum_axis, OPS_BIAS)                                              \
    X(rapt_op_mean_axis, mean_axis, build_mean_axis, 0)                                                         \
    X(rapt_op_permute, permute, build_permute, OPS_4D)                                                          \
    X(rapt_op_transpose, transpose, build_transpose, 0)                                                         \
    X(rapt_op_transpose, transpose_same, build_transpose, OPS_SAME)                                             \
    X(rapt_op_transpose, transpose_rows, build_transpose, OPS_FIRST)                                            \
    X(rapt_op_slice, slice_last, build_slice, 0)                                                                \
    X(rapt_op_slice, slice_first, build_slice, OPS_FIRST)                                                       \
    X(rapt_op_slice, slice_4d, build_slice, OPS_4D)                                                             \
    X(rapt_op_concat, concat_last, build_concat_axis, 0)                                                        \
    X(rapt_op_concat, concat_first, build_concat_axis, OPS_FIRST)                                               \
    X(rapt_op_concat, concat_same, build_concat_axis, OPS_SAME)                                                 \
    X(rapt_op_split_heads, split_heads, build_split, 0)                                                         \
    X(rapt_op_concat_heads, concat_heads, build_concat, 0)                                                      \
    X(rapt_op_embed, embed, build_embed, 0)                                                                  \
    X(rapt_op_embed, embed_sentence, build_embed, OPS_TWO_DIMS | OPS_POSITIONS | OPS_DROPOUT)                \
    X(rapt_op_embed, embed_padding, build_embed, OPS_PADDING)                                                \
    X(rapt_op_embed, embed_scale, build_embed, OPS_SCALE)                                                    \
    X(rapt_op_embed, embed_freq, build_embed, OPS_FREQ)                                                      \
    X(rapt_op_embed, embed_positions, build_embed, OPS_POSITIONS)                                            \
    X(rapt_op_embed, embed_first, build_embed, OPS_POSITIONS | OPS_FIRST | OPS_DROPOUT)                      \
    X(rapt_op_embed, embed_dropout, build_embed, OPS_DROPOUT)                                                \
    X(rapt_op_embed, embed_sparse, build_embed, OPS_SPARSE)                                                  \
    X(rapt_op_embed, embed_max_norm, build_embed, OPS_MAX_NORM)                                              \
    X(rapt_op_embed, embed_all, build_embed,                                                                 \
      OPS_PADDING | OPS_SCALE | OPS_FREQ | OPS_POSITIONS | OPS_FIRST | OPS_DROPOUT | OPS_SPARSE)             \
    X(rapt_op_add_positions, add_positions, build_add_positions, 0)                                             \
    X(rapt_op_add_positions, add_positions_2d, build_add_positions, OPS_TWO_DIMS | OPS_FIRST)                   \
    X(rapt_op_add_positions, add_positions_first, build_add_positions, OPS_FIRST | OPS_DROPOUT)                 \
    X(rapt_op_cross_entropy, cross_entropy, build_cross_entropy, 0)                                             \
    X(rapt_op_cross_entropy, cross_entropy_lens, build_cross_entropy, OPS_LENS)                                 \
    X(rapt_op_cross_entropy, cross_entropy_smooth, build_cross_entropy, OPS_SMOOTH)                             \
    X(rapt_op_cross_entropy, cross_entropy_normalizer, build_cross_entropy, OPS_LENS | OPS_NORMALIZER)          \
    X(rapt_op_cross_entropy, cross_entropy_all, build_cross_entropy, OPS_LENS | OPS_SMOOTH | OPS_NORMALIZER)    \
    X(rapt_op_cross_entropy, cross_entropy_dead, build_cross_entropy, OPS_LENS | OPS_DEAD)                      \
    X(rapt_op_output_loss, output_loss, build_output_loss, OPS_BIAS | OPS_LENS)                                 \
    X(rapt_op_output_loss, output_loss_fused, build_output_loss, OPS_LONG)                                      \
    X(rapt_op_output_loss, output_loss_bias, build_output_loss, OPS_LONG | OPS_BIAS | OPS_NORMALIZER)           \
    X(rapt_op_output_loss, output_loss_lens, build_output_loss, OPS_LONG | OPS_BIAS | OPS_LENS | OPS_SMOOTH)    \
    X(rapt_op_output_loss, output_loss_dead, build_output_loss, OPS_LONG | OPS_LENS | OPS_DEAD | OPS_SPARSE)    \
    X(rapt_op_log_probs, log_probs, build_log_probs, 0)                                                      \
    X(rapt_op_log_probs, log_probs_lens, build_log_probs, OPS_LENS)                                          \
    X(rapt_op_log_probs, log_probs_dead, build_log_probs, OPS_LENS | OPS_DEAD)                               \
    X(rapt_op_output_log_probs, output_log_probs, build_output_log_probs, OPS_BIAS | OPS_LENS)               \
    X(rapt_op_output_log_probs, output_log_probs_fused, build_output_log_probs, OPS_LONG)                    \
    X(rapt_op_output_log_probs, output_log_probs_lens, build_output_log_probs, OPS_LONG | OPS_BIAS | OPS_LENS) \
    X(rapt_op_output_log_probs, output_log_probs_dead, build_output_log_probs, OPS_LONG | OPS_LENS | OPS_DEAD | OPS_SPARSE) \
    X(rapt_op_dpo_loss, dpo_loss, build_dpo_loss, 0)                                                         \
    X(rapt_op_dpo_loss, dpo_loss_all, build_dpo_loss, OPS_SMOOTH | OPS_NORMALIZER)                           \
    X(rapt_run_block, block, build_block, OPS_LENS | OPS_DROPOUT)                                            \
    X(rapt_run_block, block_again, build_block, OPS_LENS | OPS_DROPOUT | OPS_AGAIN)                          \
    X(rapt_run_block, block_again_same, build_block, OPS_LENS | OPS_DROPOUT | OPS_AGAIN | OPS_SAME)          \
    X(rapt_run_block, block_again_twice, build_block, OPS_DROPOUT | OPS_AGAIN | OPS_HEADS)                   \
    X(rapt_op_sum, sum, build_sum, 0)                                                                           \
    X(rapt_op_weighted_sum, weighted_sum, build_weighted_sum, 0)

/* Whole modules of rapt/nn.h. X(row, builder, flags) */
#define MODULES(X)                                                                                           \
    X(multi_head_attention, build_multi_head, OPS_LENS | OPS_DROPOUT)                                        \
    X(multi_head_attention_observed, build_multi_head, OPS_LENS | OPS_DROPOUT | OPS_4D)                         \
    X(positions, build_positions, OPS_DROPOUT)                                                               \
    X(encoder_block_post, build_encoder_block, OPS_LENS | OPS_DROPOUT)                                       \
    X(encoder_block_pre, build_encoder_block, OPS_LENS | OPS_DROPOUT | OPS_PRE)                              \
    X(decoder_block_post, build_decoder_block, OPS_LENS | OPS_DROPOUT)                                       \
    X(decoder_block_pre, build_decoder_block, OPS_LENS | OPS_DROPOUT | OPS_PRE)                              \
    X(encoder_block_llama, build_encoder_block, OPS_HEADS | OPS_LENS | OPS_DROPOUT | OPS_PRE)                \
    X(decoder_block_llama, build_decoder_block, OPS_HEADS | OPS_LENS | OPS_DROPOUT | OPS_PRE)                \
    X(transformer_post, build_transformer, OPS_LENS | OPS_DROPOUT)                                           \
    X(transformer_pre, build_transformer, OPS_LENS | OPS_DROPOUT | OPS_PRE)                                  \
    X(transformer_tied, build_transformer, OPS_LENS | OPS_DROPOUT | OPS_SAME)                                \
    X(transformer_plain, build_transformer, OPS_LENS)                                                        \
    X(transformer_ragged, build_transformer, OPS_LENS | OPS_RAGGED | OPS_DROPOUT)                            \
    X(transformer_ragged_pre, build_transformer, OPS_LENS | OPS_RAGGED | OPS_DROPOUT | OPS_PRE)              \
    X(transformer_again, build_transformer, OPS_LENS | OPS_RAGGED | OPS_DROPOUT | OPS_PRE | OPS_AGAIN)       \
    X(transformer_llama, build_transformer, OPS_HEADS | OPS_LENS | OPS_RAGGED | OPS_DROPOUT | OPS_PRE)       \
    X(transformer_learned, build_transformer, OPS_HEADS | OPS_LENS | OPS_RAGGED | OPS_DROPOUT | OPS_SAME)    \
    X(lm_textbook, build_lm, OPS_DROPOUT)                                                                    \
    X(lm_gpt2, build_lm, OPS_DROPOUT | OPS_PRE | OPS_SAME)                                                   \
    X(lm_llama, build_lm, OPS_HEADS | OPS_PRE)                                                               \
    X(lm_llama_post, build_lm, OPS_HEADS | OPS_DROPOUT)                                                      \
    X(lm_gpt2_again, build_lm, OPS_DROPOUT | OPS_PRE | OPS_SAME | OPS_AGAIN)

#define OPS_PRE OPS_FIRST /* modules have no first position: the bit means norm before the sublayer */

#endif
