/* rapt/lm.h: decoder-only language models, from the sales-textbook model of one block to GPT-2 and the Llama shape, and
 * cached decoding in a window of tokens. Modules, names and shapes are as in rapt/nn.h.
 *
 * Parameters: "embedding.weight", "positions.weight" (learned) or the buffer "positions.table" (sinusoidal),
 * "blocks.0.norm1.weight", "blocks.0.attention.q.weight", "blocks.0.norm2.weight", "blocks.0.ffn.dense1.weight" (SwiGLU:
 * "gate", "up", "down"), ..., "norm.weight" (pre-norm), "output.weight" (not tied); each may have a ".bias" beside it.
 */
#ifndef RAPT_LM_H
#define RAPT_LM_H

#include "rapt/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape ------------------------------------------------------------------------------------------------ */

/* A set of layers, of which bit i % 64 of bits[i / 64] is layer i; models with other sets than empty ones have at most
 * RAPT_LAYER_SET_MAX layers. */
#define RAPT_LAYER_SET_MAX 256
typedef struct rapt_layer_set {
    uint64_t bits[RAPT_LAYER_SET_MAX / 64];
} rapt_layer_set;

typedef struct rapt_lm_config {
    size_t vocab, layers;
    size_t context;          /* positions: the longest row. It may be lowered once the model is made: a bound of its KV caches */
    rapt_block_config block; /* with the default in place of each 0 that means one in rapt_lm.config */
    rapt_positions_kind positions;
    double rotary_base;   /* 0: 10000 */
    rapt_rotary_scaling rotary_scaling;
    bool parallel;        /* x + attention(norm1 x) + ffn(norm2 x) (GPT-NeoX), pre-norm */
    size_t window;           /* layers of `windowed` attend to the last `window` positions (rapt_mask.window); 0: to all */
    rapt_layer_set windowed;
    double local_rotary_base; /* of layers of `windowed`, whose positions are not scaled then (Gemma 3); 0: rotary_base */
    rapt_layer_set unrotated; /* rotary: layers without positions (SmolLM3) */
    bool tied;            /* the output matrix is the embedding, without a bias */
    bool output_bias;     /* of the output matrix, where it is not tied */
    bool scale_embedding; /* times sqrt(d_model) */
    double embedding_multiplier; /* times this, in place of sqrt(d_model), unless it is 0 (Granite) */
    double logits_cap;           /* logits are rapt_op_softcap of it (Gemma 2); 0: no cap */
    double logits_divisor;       /* logits are divided by it; 0: 1 (Granite) */
    double embedding_std; /* embedding N(0, embedding_std^2), and learned positions unless GPT-2's, whose std is block.std; 0:
                             block.std (GPT-2), else 2 / d_model where tied, else 1 / sqrt(d_model) where scaled, else 1 */
} rapt_lm_config;

/* The model that `name` stands for:
 *   seed   one post-norm block of d_model 64 with 4 heads, context 16, ReLU and sinusoidal positions; one layer norm
 *          used twice; an output matrix of its own; as PyTorch initializes. Vocabulary 100,070: the largest id of
 *          cl100k_base in the sales textbook, plus 1; set `vocab` for another text
 *   gpt2   the smallest GPT-2 (Radford et al. 2019), 124,439,808 parameters
 * An unknown name is RAPT_ERR_NOT_FOUND. */
RAPT_API rapt_code rapt_lm_preset(const char *name, rapt_lm_config *config, rapt_error *err);

/* ---- modules ---------------------------------------------------------------------------------------------- */

typedef struct rapt_lm_block {
    rapt_multi_head_attention attention; /* "attention." */
    rapt_add_norm norm1, norm2;          /* "norm1.", "norm2." */
    rapt_ffn ffn;                        /* "ffn." */
    bool parallel;                       /* false at first; set by the model: see rapt_lm_config */
} rapt_lm_block;

/* Adds the parameters of a block. For rotary positions, set m->attention.rotary to a table afterwards. */
RAPT_API void rapt_lm_block_init(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c);
/* x [batch, time, d_model]; gives the same shape. `kv` NULL: whole rows, under a causal mask. Otherwise x stands at positions
 * past .. past + time - 1 of the rows of `kv` (see rapt_causal_self_attention). */
RAPT_API rapt_tensor *rapt_lm_block_forward(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past);

typedef struct rapt_lm {
    rapt_lm_config config;
    rapt_params *params;     /* owned where rapt_lm_new made it */
    rapt_preprocessor input; /* "embedding.", "positions." */
    rapt_param *rotary;      /* "rotary.table", of all blocks; or NULL */
    rapt_param *local_rotary; /* "rotary.local", of layers of config.windowed where they have their own; or NULL */
    size_t layers;
    rapt_lm_block *blocks;   /* "blocks.0.", ... */
    rapt_layer_norm norm;    /* pre-norm: of the last block's output, "norm." */
    bool has_norm;
    rapt_linear output;      /* "output.": [vocab, d_model] */
} rapt_lm;

/* Adds the model's parameters to `set`, which fails where the sizes don't fit together. */
RAPT_API void rapt_lm_init(rapt_lm *m, rapt_params *set, const rapt_lm_config *config);
/* Makes a model with a set of its own, keyed by `seed`; the seeds that tensor.h names are reserved. NULL with
 * `err` (which may be NULL) set: a size that does not fit, out of memory. */
RAPT_API rapt_lm *rapt_lm_new(const rapt_lm_config *config, uint64_t seed, rapt_error *err);
/* Frees the model with its parameters; NULL is fine. */
RAPT_API void rapt_lm_free(rapt_lm *m);

/* Hidden states [batch, time, d_model], which the output matrix multiplies, of whole rows of one length; position i attends to
 * tokens 0 .. i. */
RAPT_API rapt_tensor *rapt_lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* Logits [batch, time, vocab] of whole rows of one length. */
RAPT_API rapt_tensor *rapt_lm_forward(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* rapt_op_output_loss of rapt_lm_hidden: the cross-entropy of the labels, which are the tokens one position later. */
RAPT_API rapt_tensor *rapt_lm_loss(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                                   const rapt_loss_options *options, rapt_loss_sums *parts);
/* Sets the dropout probabilities of all modules, for instance before fine-tuning. */
RAPT_API void rapt_lm_set_dropouts(rapt_lm *m, rapt_dropouts dropouts);

/* ---- decoding with a KV cache ------------------------------------------------------------------------------ */

/* The sizes of a KV cache for `rows` rows of up to `context` tokens, which grows as they come, in fp32: `storage` is the caller's
 * to change. */
RAPT_API rapt_kv_sizes rapt_lm_kv_sizes(const rapt_lm *m, size_t rows);

/* Logits of the next tokens [rows, time], one (a decoding step) or many (prefill): [rows, time, vocab], or with `last_only` of
 * the last position, [rows, 1, vocab]. Appends their keys and values to `cache`, made with rapt_lm_kv_sizes. In fp32, with a
 * cache in fp32, equal to rapt_lm_forward bit for bit; with another one, too, the same however tokens are divided among steps.
 * Fails (RAPT_ERR_SHAPE) where the rows are not the cache's or the context has no capacity for the tokens; a failure leaves the
 * cache as it was. Inference only. */
RAPT_API rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, bool last_only);

/* Logits [rows, 1, vocab] after the first `count` tokens of each row of text [rows, stride], which may be longer than the
 * context: a sliding window. `cache`, made with rapt_lm_kv_sizes, holds what earlier calls computed of the same texts; what is
 * missing is computed (one token, or a prefill), what it holds of tokens past `count` is dropped. After another change of a
 * text from token n on, rapt_kv_cache_truncate(cache, n) is the caller's. Where the context is full, its oldest half (context
 * / 2 tokens, min 1; several times if need be) is dropped and the rest recomputed from position 0, so that rapt_lm_step of the
 * visible tokens with an empty cache gives the same bits, and in fp32 rapt_lm_forward. What is visible depends on `count` alone,
 * not on how many tokens come at once. Tokens that are refused leave the cache as it was. Inference only. */
RAPT_API rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *text, size_t stride,
                                   size_t count);
/* How many tokens of a text of n tokens rapt_lm_next attends to: the last ones. */
RAPT_API size_t rapt_lm_visible(const rapt_lm_config *config, size_t n);

#ifdef __cplusplus
}
#endif

#endif
