/* nn/block.h: the parts that the blocks of all models share, made from a rapt_block_config. For encoder.c, decoder.c and
 * lm_block.c, and for the models around them. */
#ifndef NN_BLOCK_H
#define NN_BLOCK_H

#include "rapt/nn.h"

/* The description with every 0 that means a default replaced, except the sizes of inputs. */
rapt_block_config block_defaults(const rapt_block_config *c);
/* The description of a block in a stack whose residual connections add up the results of `sublayers`. */
rapt_block_config block_of_stack(const rapt_block_config *c, size_t sublayers);
/* Records a failure in the set if a block of a whole model can't have this description. Defaults must be in place. */
void block_check(rapt_params *set, const rapt_block_config *c);

/* The description of a decoder's blocks, which may have other sizes than the encoder's. */
rapt_block_config block_of_decoder(const rapt_transformer_config *c);

/* Features of a head; 0 if there are no heads, or if they do not divide d_model. */
size_t block_head_features(const rapt_block_config *c);
/* Features of a key or value, over all heads. Defaults must be in place. */
size_t block_kv_features(const rapt_block_config *c);

/* Whether a stack of such blocks ends with a norm. */
bool block_ends_with_norm(const rapt_block_config *c);
/* The rotary positions of all blocks, a buffer of the name `table`; `scaling` may be NULL. */
rapt_param *block_init_rotary(rapt_params *set, const char *table, size_t max_len, const rapt_block_config *c, double base,
                              const rapt_rotary_scaling *scaling);
/* Options for the norms of a block, and for the norm after the last block. */
rapt_norm_options block_norm_options(const rapt_block_config *c);

/* These functions add the parameters of a part. */
void block_init_attention(rapt_multi_head_attention *m, rapt_params *set, const char *prefix, const rapt_block_config *c);
void block_init_ffn(rapt_ffn *m, rapt_params *set, const char *prefix, const rapt_block_config *c);
/* `first` is the block's first norm, whose parameters are reused if the block shares it; NULL for the first norm itself. */
void block_init_norm(rapt_add_norm *m, const rapt_add_norm *first, rapt_params *set, const char *prefix,
                     const rapt_block_config *c);

#endif
