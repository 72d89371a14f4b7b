/* rapt/lm.h: decoder-only language models, from the sales-textbook model of one block to GPT-2 and Llama, and cached decoding in
 * a window of tokens. Modules, names and shapes are as in rapt/nn.h.
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

/* A set of layers: bit i % 64 of bits[i / 64] is layer i. A model with a set that is not empty has at most RAPT_LAYER_SET_MAX
 * layers. */
#define RAPT_LAYER_SET_MAX 256
typedef struct rapt_layer_set {
    uint64_t bits[RAPT_LAYER_SET_MAX / 64];
} rapt_layer_set;

typedef struct rapt_lm_config {
    size_t vocab, layers;
    size_t context;          /* positions of the longest row. A program may lower it after the model is made, to bound the KV
                                caches */
    rapt_block_config block; /* in rapt_lm.config every 0 that means a default is replaced by that default */
    rapt_positions_kind positions;
    double rotary_base;   /* 0: 10000 */
    rapt_rotary_scaling rotary_scaling;
    bool parallel;        /* x + attention(norm1 x) + ffn(norm2 x) (GPT-NeoX), pre-norm */
    size_t window;           /* layers in `windowed` attend to the last `window` positions only (rapt_mask.window); 0: to all */
    rapt_layer_set windowed;
    double local_rotary_base; /* rotary base of layers in `windowed`, whose positions are then not scaled (Gemma 3); 0:
                                 rotary_base */
    rapt_layer_set unrotated; /* with rotary positions: layers that have none (SmolLM3) */
    bool tied;            /* the output matrix is the embedding, without a bias */
    bool output_bias;     /* the output matrix has a bias, unless it is tied */
    bool scale_embedding; /* embeddings are multiplied by sqrt(d_model) */
    bool embedding_norm;  /* the sum of embedding and positions is normalized, "embedding_norm." (BLOOM) */
    double embedding_multiplier; /* embeddings are multiplied by this instead, unless it is 0 (Granite) */
    double logits_cap;           /* the cap of rapt_op_softcap on logits (Gemma 2); 0: no cap */
    double logits_divisor;       /* divides logits (Granite); 0: 1 */
    double embedding_std; /* the embedding starts as N(0, embedding_std^2), and so do learned positions, except with
                             RAPT_WEIGHT_INIT_GPT2, where their std is block.std. 0: block.std (GPT-2), else 2 / d_model if tied,
                             else 1 / sqrt(d_model) if scaled, else 1 */
} rapt_lm_config;

/* The configuration of a model that has a name:
 *   seed   one post-norm block of d_model 64 with 4 heads, context 16, ReLU and sinusoidal positions; one layer norm,
 *          used twice; an untied output matrix; PyTorch's initialization. Vocabulary 100,070: the largest id of
 *          cl100k_base in the sales textbook, plus 1; set `vocab` for another text
 *   gpt2   the smallest GPT-2 (Radford et al. 2019), 124,439,808 parameters
 * An unknown name is RAPT_ERR_NOT_FOUND. */
RAPT_API rapt_code rapt_lm_preset(const char *name, rapt_lm_config *config, rapt_error *err);

/* ---- modules ---------------------------------------------------------------------------------------------- */

typedef struct rapt_lm_block {
    rapt_multi_head_attention attention; /* "attention." */
    rapt_add_norm norm1, norm2;          /* "norm1.", "norm2." */
    rapt_ffn ffn;                        /* "ffn." */
    bool parallel;                       /* rapt_lm_block_init sets false, rapt_lm_init sets rapt_lm_config.parallel */
} rapt_lm_block;

/* Adds the parameters of a block. For rotary positions, set m->attention.rotary to a table afterwards. */
RAPT_API void rapt_lm_block_init(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c);
/* x [batch, time, d_model]; gives the shape of x. `kv` NULL: whole rows, under a causal mask. Otherwise x stands at positions
 * past .. past + time - 1 of the rows of `kv`, as in rapt_causal_self_attention. */
RAPT_API rapt_tensor *rapt_lm_block_forward(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past);

typedef struct rapt_lm {
    rapt_lm_config config;
    rapt_params *params;     /* owned if rapt_lm_new made the model */
    rapt_preprocessor input; /* "embedding.", "positions." */
    rapt_param *rotary;      /* "rotary.table", shared by all blocks; or NULL */
    rapt_param *local_rotary; /* "rotary.local", for layers in config.windowed if they have their own table; or NULL */
    size_t layers;
    rapt_lm_block *blocks;   /* "blocks.0.", ... */
    rapt_layer_norm norm;    /* pre-norm: norm of the last block's output, "norm." */
    bool has_norm;
    rapt_linear output;      /* "output.": [vocab, d_model] */
} rapt_lm;

/* Adds the model's parameters to `set`. It is a failure of the set if the sizes don't fit together. */
RAPT_API void rapt_lm_init(rapt_lm *m, rapt_params *set, const rapt_lm_config *config);
/* Makes a model with a new set, keyed by `seed` (not RAPT_SEED_NONE, _SHAPES or _UNSET, which are reserved). NULL with `err`
 * (which may be NULL) set: a size that does not fit, out of memory. */
RAPT_API rapt_lm *rapt_lm_new(const rapt_lm_config *config, uint64_t seed, rapt_error *err);
/* Frees the model with its parameters; NULL is fine. */
RAPT_API void rapt_lm_free(rapt_lm *m);

/* The hidden states [batch, time, d_model] that the output matrix multiplies, for whole rows; ragged if tokens have lens.
 * Position i attends to tokens 0 .. i of its row. */
RAPT_API rapt_tensor *rapt_lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* Logits [batch, time, vocab] for whole rows; ragged if tokens have lens. */
RAPT_API rapt_tensor *rapt_lm_forward(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* rapt_op_output_loss of rapt_lm_hidden: the cross-entropy of the labels, which are the tokens one position later. */
RAPT_API rapt_tensor *rapt_lm_loss(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                                   const rapt_loss_options *options, rapt_loss_sums *parts);
/* rapt_op_output_log_probs of rapt_lm_hidden: the log-probability [batch] of each row's labels, which are the tokens one position
 * later. */
RAPT_API rapt_tensor *rapt_lm_log_probs(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                                        const int32_t *valid_lens);
/* Sets the dropout probabilities of all modules, for instance before fine-tuning. */
RAPT_API void rapt_lm_set_dropouts(rapt_lm *m, rapt_dropouts dropouts);

/* ---- decoding with a KV cache ------------------------------------------------------------------------------ */

/* The sizes of a KV cache in fp32 for `rows` rows of up to `context` tokens, which grows as tokens come. The caller may change
 * `storage`. */
RAPT_API rapt_kv_sizes rapt_lm_kv_sizes(const rapt_lm *m, size_t rows);

/* Logits for the next tokens [rows, time], one (a decoding step) or many (prefill): [rows, time, vocab], or with `last_only` of
 * the last position only, [rows, 1, vocab]. Appends the keys and values to `cache`, made with rapt_lm_kv_sizes. In fp32, with a
 * cache in fp32, the result equals rapt_lm_forward bit for bit; with any cache, it does not depend on how tokens are divided
 * among steps. Fails (RAPT_ERR_SHAPE) if the number of rows is not the cache's, or if the context has no capacity for the tokens;
 * a failure leaves the cache as it was. Inference only. */
RAPT_API rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, bool last_only);

/* Logits [rows, 1, vocab] after the first `count` tokens of each row of text [rows, stride]. Texts may be longer than the
 * context, which then is a sliding window. `cache`, made with rapt_lm_kv_sizes, holds what earlier calls computed for the same
 * texts: only what is missing is computed (one token, or a prefill), and positions past `count` are dropped. If a text has
 * changed in any other way from token n on, the caller must call rapt_kv_cache_truncate(cache, n). When the context is full, its
 * oldest half (context / 2 tokens, min 1; several times if need be) is dropped and the rest is recomputed from position 0. So the
 * bits are those that rapt_lm_step gives for the visible tokens with an empty cache, and in fp32 those that rapt_lm_forward
 * gives. Which tokens are visible depends on `count` alone, not on how many tokens come at once. Tokens that are refused leave
 * the cache as it was. Inference only. */
RAPT_API rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *text, size_t stride,
                                   size_t count);
/* The number of tokens, at the end of a text of n tokens, that rapt_lm_next attends to. */
RAPT_API size_t rapt_lm_visible(const rapt_lm_config *config, size_t n);

#ifdef __cplusplus
}
#endif

#endif
