/* rapt/nn.h: the modules of the Transformer, named and cut as in the book (Zhang et al., "Dive into Deep Learning",
 * sections 11.5 to 11.7) and the paper (Vaswani et al. 2017).
 *
 * A module is a plain struct of named parameters that a set owns. `..._init` adds them under `prefix` ("encoder.0.") and fills
 * the struct; failures stay in the set. `..._forward` runs the module on a tape. Activations are [batch, time, feature].
 */
#ifndef RAPT_NN_H
#define RAPT_NN_H

#include "rapt/kv.h"
#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- weight initialization -------------------------------------------------------------------------------- */

/* How the weight matrices of a module or a whole model are initialized:
 *   XAVIER   the book's choice: weights Xavier uniform, biases U(-1/sqrt(in), 1/sqrt(in))
 *   PYTORCH  weights and biases U(-1/sqrt(in), 1/sqrt(in)): nn.Linear's default
 *   GPT2     weights N(0, std^2), biases 0 (Radford et al. 2019, section 2.3); in a model of n sublayers whose results add up,
 *            the last matrix of each is N(0, std^2 / n)
 *   ZEROS    zeros, to be filled afterwards with rapt_param_fill */
#define RAPT_WEIGHT_INITS(X)                                                                       \
    X(RAPT_WEIGHT_INIT_XAVIER)                                                                     \
    X(RAPT_WEIGHT_INIT_PYTORCH)                                                                    \
    X(RAPT_WEIGHT_INIT_GPT2)                                                                       \
    X(RAPT_WEIGHT_INIT_ZEROS)

typedef enum rapt_weight_init {
#define RAPT_WEIGHT_INIT_ENUM(name) name,
    RAPT_WEIGHT_INITS(RAPT_WEIGHT_INIT_ENUM)
#undef RAPT_WEIGHT_INIT_ENUM
} rapt_weight_init;

/* ---- linear: y = x W^T + b ------------------------------------------------------------------------------ */

typedef struct rapt_linear {
    rapt_param *weight; /* [out, in]: "weight" */
    rapt_param *bias;   /* [out]: "bias", or NULL */
    const rapt_lora *lora; /* an adapter that rapt_lora_init made, or NULL */
} rapt_linear;

/* Zeroed: a linear layer of the book. */
typedef struct rapt_linear_options {
    bool no_bias;
    rapt_weight_init init;
    double std; /* for RAPT_WEIGHT_INIT_GPT2; 0: 0.02 */
} rapt_linear_options;

/* Adds the parameters of a linear layer from `in` to `out` features. `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_linear_init(rapt_linear *m, rapt_params *set, const char *prefix, size_t in, size_t out,
                               const rapt_linear_options *options);
/* x [..., in] gives [..., out]. */
RAPT_API rapt_tensor *rapt_linear_forward(rapt_tape *t, const rapt_linear *m, rapt_tensor *x);

/* ---- low-rank adapters of linear layers: y = x W^T + b + (alpha / rank) (dropout(x) A^T) B^T (Hu et al. 2021) ---- */

/* Without a size, because it is a member of rapt_model_lora_options, which has one. */
typedef struct rapt_lora_options {
    size_t rank;        /* 1 or more, at most the layer's features */
    double alpha;       /* 0, with which an adapter would do nothing: rank */
    double dropout;     /* of the layer's input before A, at least 0 and below 1 */
    bool rslora;        /* rank-stabilized: alpha / sqrt(rank) in place of alpha / rank (Kalajdzievski 2023) */
    bool dora;          /* weight-decomposed: rows of the sum get lengths that are trained (Liu et al. 2024; rapt_op_dora) */
    uint8_t reserved[22]; /* zeros, or else refused: the struct cannot grow */
} rapt_lora_options;

/* Gives layer m an adapter and adds its parameters "lora_A.weight" [rank, in] and "lora_B.weight" [out, rank] to `set`. As in
 * PEFT, A is U(-1/sqrt(in), 1/sqrt(in)) and B is zeros, so that the layer's result does not change at first. Does not freeze the
 * layer's own parameters: rapt_params_freeze does. With `dora` there is a "lora_magnitude_vector" [out], too, at first the
 * lengths of the rows of the layer's matrix: it must have its values, and may not change any more. */
RAPT_API void rapt_lora_init(rapt_linear *m, rapt_params *set, const char *prefix, const rapt_lora_options *options);

/* ---- layer norm ----------------------------------------------------------------------------------------- */

#define RAPT_NORM_KINDS(X)                                                                         \
    X(RAPT_NORM_KIND_LAYER)                                                                        \
    X(RAPT_NORM_KIND_RMS)

typedef enum rapt_norm_kind {
#define RAPT_NORM_KIND_ENUM(name) name,
    RAPT_NORM_KINDS(RAPT_NORM_KIND_ENUM)
#undef RAPT_NORM_KIND_ENUM
} rapt_norm_kind;

typedef struct rapt_layer_norm {
    rapt_param *weight, *bias; /* gamma and beta, with the shape that is normalized: "weight", "bias" (or NULL) */
    double eps;
    rapt_norm_kind kind; /* RMS: the norm only divides by the root mean square (rapt_op_rms_norm) */
} rapt_layer_norm;

/* Zeroed: a layer norm with bias and PyTorch's eps. */
typedef struct rapt_norm_options {
    rapt_norm_kind kind;
    bool no_bias; /* an RMS norm never has one */
    double eps;   /* 0: 1e-5 */
} rapt_norm_options;

/* Adds the parameters of a norm over the 1 to 4 trailing dimensions `shape`; an RMS norm works over the last dimension only.
 * `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_layer_norm_init(rapt_layer_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                                   const rapt_norm_options *options);
/* Normalizes x over its trailing dimensions; gives x's shape. */
RAPT_API rapt_tensor *rapt_layer_norm_forward(rapt_tape *t, const rapt_layer_norm *m, rapt_tensor *x);

/* ---- embedding ------------------------------------------------------------------------------------------ */

typedef struct rapt_embedding {
    rapt_param *weight; /* [entries, d]: "weight" */
    rapt_embed_options options;
} rapt_embedding;

/* Zeroed: nn.Embedding's defaults. */
typedef struct rapt_embedding_options {
    rapt_embed_options embed; /* for every lookup; row padding_idx is also initialized with zeros */
    bool sparse;             /* gradient and optimizer touch only the rows used: rapt_param_make_sparse */
    const rapt_real *vectors; /* [entries, d] initial values (copied), or NULL: N(0, std^2) */
    bool freeze;             /* never trained, as nn.Embedding.from_pretrained's default is */
    double std;              /* 0: 1 */
} rapt_embedding_options;

/* Adds the table of `entries` rows of d features. `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_embedding_init(rapt_embedding *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                                  const rapt_embedding_options *options);
/* [batch, time] ids give [batch, time, d]; one sentence [time] (rapt_tokens) gives [time, d]. */
RAPT_API rapt_tensor *rapt_embedding_forward(rapt_tape *t, const rapt_embedding *m, rapt_tokens tokens);

/* ---- sinusoidal positions ------------------------------------------------------------------------------- */

/* Which feature is which sine or cosine of a position i. */
typedef enum rapt_sinusoid_layout {
    RAPT_SINUSOID_LAYOUT_INTERLEAVED, /* P[i, 2j] = sin(i / 10000^(2j/d)), P[i, 2j+1] = cos(i / 10000^(2j/d)) (Vaswani et al.
                                         2017, section 3.5); an odd d ends with a sine */
    RAPT_SINUSOID_LAYOUT_HALVES,      /* the same features, all sines before all cosines (Marian) */
    RAPT_SINUSOID_LAYOUT_FAIRSEQ      /* halves, with P[i, j] = sin((i + 2) f) and P[i, d/2 + j] = cos((i + 2) f), where f =
                                         10000^(-j / (d/2 - 1)), both in fp32; an odd d ends with 0 (fairseq; Fan et al. 2021) */
} rapt_sinusoid_layout;

/* Sinusoidal positions. A buffer: never trained. */
typedef struct rapt_positions {
    rapt_param *table; /* [max_len, d]: "table" */
    double dropout;
} rapt_positions;

typedef struct rapt_positions_options {
    double dropout;  /* after the sum */
    rapt_sinusoid_layout layout;
    bool persistent; /* the table is saved with the model */
} rapt_positions_options;

/* Adds the table of max_len positions of d features. `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_positions_init(rapt_positions *m, rapt_params *set, const char *prefix, size_t max_len, size_t d,
                                  const rapt_positions_options *options);
/* dropout(x + P[first .. first + time - 1]), x [batch, time, d]. */
RAPT_API rapt_tensor *rapt_positions_forward(rapt_tape *t, const rapt_positions *m, rapt_tensor *x, size_t first);

/* ---- rotary positions ----------------------------------------------------------------------------------- */

/* The table of rapt_op_rotary for heads of d features, d even: cosines and sines of i / base^(2j/d) (Su et al. 2021,
 * eq. 15); `base` 0: 10000. A buffer named `name` that is not saved with the model. */
RAPT_API rapt_param *rapt_rotary_init(rapt_params *set, const char *name, size_t max_len, size_t d, double base);

/* How the frequencies 1 / base^(2j/d) are changed for longer texts, in fp32 like the code that defines them. LINEAR (Chen et al.
 * 2023) divides all of them by `factor`. LLAMA3 divides the frequencies whose wavelength is above original / low_factor and keeps
 * those whose wavelength is below original / high_factor. YARN (Peng et al. 2023) keeps a frequency that turns more than
 * `high_factor` times in `original` positions, and divides one that turns less than `low_factor` times by `factor`, with a ramp
 * between the two. LONG (Ding et al. 2024) divides each frequency by its own factor. */
#define RAPT_ROTARY_KINDS(X)                                                                       \
    X(RAPT_ROTARY_PLAIN)                                                                           \
    X(RAPT_ROTARY_LINEAR)                                                                          \
    X(RAPT_ROTARY_LLAMA3)                                                                          \
    X(RAPT_ROTARY_YARN)                                                                            \
    X(RAPT_ROTARY_LONG)

typedef enum rapt_rotary_kind {
#define RAPT_ROTARY_KIND_ENUM(name) name,
    RAPT_ROTARY_KINDS(RAPT_ROTARY_KIND_ENUM)
#undef RAPT_ROTARY_KIND_ENUM
} rapt_rotary_kind;

#define RAPT_ROTARY_FACTORS_MAX 128

typedef struct rapt_rotary_scaling {
    rapt_rotary_kind kind;
    double factor, low_factor, high_factor;
    size_t original; /* context length that the model was first trained for */
    bool exact_range; /* YARN: the ends of the ramp are not rounded to whole pairs */
    double magnitude; /* multiplies cosines and sines; 0: 1 */
    float factors[RAPT_ROTARY_FACTORS_MAX]; /* LONG: factors[j] divides the frequency of pair j */
    bool fp32;       /* PLAIN frequencies are computed in fp32 too, as in the models of Hugging Face; else in double */
    size_t features; /* features of a head that are rotated: the pairs (j, j + d/2) with j < features / 2, with frequencies 1 /
                        base^(2j/features); 0: all */
} rapt_rotary_scaling;

/* rapt_rotary_init with scaled frequencies; `scaling` NULL: plain ones. */
RAPT_API rapt_param *rapt_rotary_init_scaled(rapt_params *set, const char *name, size_t max_len, size_t d, double base,
                                             const rapt_rotary_scaling *scaling);

/* ---- attention with linear biases ------------------------------------------------------------------------- */

/* Sets m to the slopes of ALiBi (Press et al. 2022, section 3), in memory of the set: 2^(-8 h / heads) for head h = 1, 2, ... if
 * their number is a power of two; else the slopes of the largest power of two below it, and then every other slope of twice that
 * number of heads, from the first on. A failed allocation is recorded in the set. */
RAPT_API void rapt_alibi_init(rapt_relative_bias *m, rapt_params *set, size_t heads);

/* ---- preprocessor: dropout(scale * embedding + positions), fused ------------------------------------------ */

/* How a model knows the order of its tokens:
 *   SINUSOIDAL  rapt_positions, added to the embedding
 *   LEARNED     a trained row for each position, added to the embedding (Gehring et al. 2017)
 *   ROTARY      queries and keys of self-attention are rotated by their positions: rapt_op_rotary
 *   NONE        only through a causal mask: to an encoder, a sentence is a set of tokens
 *   ALIBI       a score of self-attention loses slope times distance, with a constant slope for each head: rapt_alibi_init
 *   RELATIVE    scores of self-attention get a bias that depends on the distance (T5); only in imported encoder-decoders */
#define RAPT_POSITIONS_KINDS(X)                                                                    \
    X(RAPT_POSITIONS_SINUSOIDAL)                                                                   \
    X(RAPT_POSITIONS_LEARNED)                                                                      \
    X(RAPT_POSITIONS_ROTARY)                                                                       \
    X(RAPT_POSITIONS_NONE)                                                                         \
    X(RAPT_POSITIONS_ALIBI)                                                                        \
    X(RAPT_POSITIONS_RELATIVE)

typedef enum rapt_positions_kind {
#define RAPT_POSITIONS_ENUM(name) name,
    RAPT_POSITIONS_KINDS(RAPT_POSITIONS_ENUM)
#undef RAPT_POSITIONS_ENUM
} rapt_positions_kind;

typedef struct rapt_preprocessor {
    const char *name; /* "encoder"; "" if its parameters have no prefix */
    rapt_embedding embedding;
    rapt_positions positions; /* the table is a buffer (sinusoidal), trained (learned), or NULL: nothing is added */
    bool scale; /* embeddings are multiplied by sqrt(d), */
    double multiplier; /* or by this number unless it is 0 */
    bool has_norm;
    rapt_layer_norm norm; /* applied to the sum of embedding and positions if has_norm (Lewis et al. 2020) */
    rapt_embedding types; /* the row of a token's type is added before that norm (Devlin et al. 2019, section 3); weight NULL:
                             no token types */
} rapt_preprocessor;

/* Zeroed: as in the book. */
typedef struct rapt_preprocessor_options {
    rapt_embedding_options embedding;
    rapt_param *shared; /* the embedding matrix of another module, to be used instead of a new one; or NULL */
    rapt_positions_kind positions;
    rapt_sinusoid_layout sinusoid_layout;
    double positions_std; /* learned positions start as N(0, positions_std^2); 0: 0.02 */
    bool no_scale;  /* embeddings are not multiplied by sqrt(d) */
    double multiplier; /* embeddings are multiplied by it instead, unless it is 0 */
    double dropout; /* after the sum */
    bool has_norm;  /* a norm over the sum of embedding and positions, "embedding_norm." */
    rapt_norm_options norm;
    size_t types;   /* number of token types, "types.weight" [types, d], for rapt_tokens.types; 0: none */
} rapt_preprocessor_options;

/* Adds an embedding of `entries` rows, "embedding.weight", and positions for rows of up to max_len tokens, d features each:
 * sinusoidal ones are the buffer "positions.table", saved with the model; learned ones are "positions.weight"; rotary ones add
 * nothing here (rapt_multi_head_attention.rotary). `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_preprocessor_init(rapt_preprocessor *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                                     size_t max_len, const rapt_preprocessor_options *options);
/* tokens [batch, time], with the first column at position `first`; gives [batch, time, d], ragged if tokens have lens. */
RAPT_API rapt_tensor *rapt_preprocess(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens, size_t first);
/* rapt_preprocess for rows that begin at different positions: example b begins at rows[b].past. Inference only. */
RAPT_API rapt_tensor *rapt_preprocess_cached(rapt_tape *t, const rapt_preprocessor *m, rapt_tokens tokens,
                                             const rapt_cached_row *rows);

/* ---- multi-head attention ------------------------------------------------------------------------------- */

typedef struct rapt_multi_head_attention {
    const char *name; /* the prefix without its last dot; captured weights are stored under it */
    rapt_linear q, k, v, o; /* "q.", "k.", "v.", "o." */
    size_t heads, kv_heads; /* query heads; key-value heads, each of which heads / kv_heads query heads share */
    double dropout; /* of the attention weights */
    rapt_layer_norm q_norm, k_norm; /* applied to projected queries and keys before they are rotated; weight NULL: no norm */
    const rapt_param *rotary; /* the table of rapt_op_rotary for queries and keys, or NULL */
    rapt_attention_scores scores;
    size_t window; /* rapt_mask.window of causal self-attention; rapt_multi_head_attention_init sets 0 */
    const uint8_t *off; /* [heads], not 0: the head is switched off, and the output projection gets zeros from it; NULL: none is.
                           For inference only (rapt/heads.h) */
} rapt_multi_head_attention;

/* Root mean square norms of queries and keys (Henry et al. 2020, section 3.1, has another norm): over each head, with one weight
 * for all heads (Qwen3), or over all heads together (OLMo 2). "q_norm.weight", "k_norm.weight". */
typedef enum rapt_qk_norm { RAPT_QK_NORM_NONE, RAPT_QK_NORM_HEAD, RAPT_QK_NORM_ALL } rapt_qk_norm;

typedef struct rapt_attention_options {
    size_t hidden;   /* features of the output */
    size_t heads;
    size_t head_dim; /* features of a head; 0: hidden / heads, which must divide evenly */
    size_t kv_heads; /* key-value heads, which divide heads; 0: heads */
    size_t query, key, value; /* features of the inputs; 0: hidden */
    bool bias;       /* biases in the four projections; the book has none */
    bool no_o_bias;  /* but none in the last projection, as in Qwen2 */
    rapt_qk_norm qk_norm;
    double qk_norm_eps; /* 0: 1e-5 */
    double dropout;  /* of attention weights */
    rapt_attention_scores scores;
    rapt_weight_init init;
    double std, output_std; /* for RAPT_WEIGHT_INIT_GPT2: std of q, k and v, output_std of o; 0: 0.02 */
} rapt_attention_options;

/* Adds the four projections: q [heads * head_dim, query], k and v [kv_heads * head_dim, key or value], o [hidden, heads *
 * head_dim]. It is a failure of the set if heads don't divide hidden, or kv_heads don't divide heads. */
RAPT_API void rapt_multi_head_attention_init(rapt_multi_head_attention *m, rapt_params *set, const char *prefix,
                                             const rapt_attention_options *options);
/* q [batch, queries, query], k [batch, keys, key], v [batch, keys, value]; gives [batch, queries, hidden].
 * `mask` may be NULL. */
RAPT_API rapt_tensor *rapt_multi_head_attention_forward(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *q,
                                                        rapt_tensor *k, rapt_tensor *v, const rapt_mask *mask);

/* ---- attention with a KV cache (rapt/kv.h) ---------------------------------------------------------------- */

/* Causal self-attention of x [batch, time, hidden]; gives [batch, time, hidden]. `kv` NULL: x holds whole rows. Otherwise,
 * inference only, x stands at positions past .. past + time - 1 of the rows of `kv`: its keys and values are appended there, and
 * a query attends to all keys up to its own, in the numeric type that `kv` stores. In fp32 this equals the pass over whole rows
 * bit for bit. Fails (RAPT_ERR_SHAPE) if `kv` differs in rows, features or heads, or has no capacity for the positions. If
 * kv->cached is set, it says which row and position each example has: x may then be ragged, and `past` is not read. */
RAPT_API rapt_tensor *rapt_causal_self_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                                 size_t past);
/* Attention of x, [batch, time, hidden] or ragged, to keys and values that are already projected: to all positions of `kv`, or
 * for example i to the first valid_lens[i]; `valid_lens` [batch] may be NULL. Gives the shape of x. Fails (RAPT_ERR_SHAPE) if
 * `kv` is not stored in fp32 and has other heads. Inference only. */
RAPT_API rapt_tensor *rapt_cached_cross_attention(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, rapt_kv *kv,
                                                  const int32_t *valid_lens);

/* Dropout probabilities. residual: for a sublayer's result before it is added, and for the embedded input (Vaswani et al. 2017,
 * section 5.4); attention: for attention weights; activation: for the hidden features of feed-forward networks. */
typedef struct rapt_dropouts {
    double residual, attention, activation;
} rapt_dropouts;

/* ---- position-wise FFN: W2 relu(W1 x + b1) + b2, or a later variant -------------------------------------- */

/* SWIGLU: W2 (silu(Wg x + bg) * (W1 x + b1)) + b2 (Shazeer 2020, eq. 6); GEGLU_TANH: the same with gelu_tanh, as in Gemma; the
 * others: W2 f(W1 x + b1) + b2. */
#define RAPT_FFN_KINDS(X)                                                                          \
    X(RAPT_FFN_RELU)                                                                               \
    X(RAPT_FFN_GELU)                                                                               \
    X(RAPT_FFN_GELU_TANH)                                                                          \
    X(RAPT_FFN_SWIGLU)                                                                             \
    X(RAPT_FFN_SILU)                                                                               \
    X(RAPT_FFN_GEGLU_TANH)

typedef enum rapt_ffn_kind {
#define RAPT_FFN_ENUM(name) name,
    RAPT_FFN_KINDS(RAPT_FFN_ENUM)
#undef RAPT_FFN_ENUM
} rapt_ffn_kind;

typedef struct rapt_ffn {
    rapt_linear dense1, dense2; /* "dense1.", "dense2."; gated: "up.", "down." */
    rapt_linear gate;           /* SwiGLU, GEGLU: "gate." */
    rapt_ffn_kind kind;
    double dropout; /* of the hidden features; rapt_ffn_init sets 0 */
} rapt_ffn;

/* Zeroed: as in the book, ReLU with biases. */
typedef struct rapt_ffn_options {
    rapt_ffn_kind kind;
    bool no_bias;
    rapt_weight_init init;
    double std, output_std; /* for RAPT_WEIGHT_INIT_GPT2: std of the hidden layer, output_std of the output layer; 0: 0.02 */
} rapt_ffn_options;

/* Adds the layers of a feed-forward network. `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_ffn_init(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                            const rapt_ffn_options *options);
/* x [..., in] gives [..., out]. */
RAPT_API rapt_tensor *rapt_ffn_forward(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x);

/* ---- add & norm ------------------------------------------------------------------------------------------- */

/* Where the norm of a sublayer f stands: norm(x + f(x)) (Vaswani et al. 2017), x + f(norm(x)) (Xiong et al. 2020), x + norm(f(x))
 * (OLMo 2), or x + norm'(f(norm(x))) with two norms (Gemma 2). All but the first leave the residual stream unnormalized, so a
 * model that uses them ends with a norm. */
#define RAPT_NORM_PLACES(X)                                                                        \
    X(RAPT_NORM_PLACE_POST)                                                                        \
    X(RAPT_NORM_PLACE_PRE)                                                                         \
    X(RAPT_NORM_PLACE_OUTPUT)                                                                      \
    X(RAPT_NORM_PLACE_SANDWICH)

typedef enum rapt_norm_place {
#define RAPT_NORM_PLACE_ENUM(name) name,
    RAPT_NORM_PLACES(RAPT_NORM_PLACE_ENUM)
#undef RAPT_NORM_PLACE_ENUM
} rapt_norm_place;

typedef struct rapt_add_norm {
    rapt_layer_norm norm;
    rapt_layer_norm output; /* sandwich: norm of the sublayer's result, "output." after the prefix of `norm` */
    double dropout;
    rapt_norm_place place;
    double scale;     /* multiplies y before it is added; 0: 1 */
    const char *name; /* of its intermediates (rapt/observe.h); NULL: the name of the norm's weight */
} rapt_add_norm;

/* Zeroed: as in the book, post-norm with a layer norm, without dropout. */
typedef struct rapt_add_norm_options {
    rapt_norm_options norm;
    double dropout; /* of the sublayer's output */
    rapt_norm_place place;
    double scale;   /* multiplies the output (Granite); 0: 1 */
} rapt_add_norm_options;

/* Adds the parameters of the norm over the trailing dimensions `shape`. `options` may be NULL, which means zeroed ones. */
RAPT_API void rapt_add_norm_init(rapt_add_norm *m, rapt_params *set, const char *prefix, int ndim, const size_t *shape,
                                 const rapt_add_norm_options *options);
/* The input of the sublayer: x (post-norm, norm of the output) or norm(x) (pre-norm, sandwich). */
RAPT_API rapt_tensor *rapt_add_norm_before(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x);
/* The result after the sublayer: norm(x + dropout(y)) (post-norm) or x + dropout(y), with y normalized if m->place says so. y is
 * the sublayer's result; its memory may be overwritten (rapt_residual.overwrite_y), so a caller that reads y later must copy it
 * first or observe the pass. */
RAPT_API rapt_tensor *rapt_add_norm_after(rapt_tape *t, const rapt_add_norm *m, rapt_tensor *x, rapt_tensor *y);

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* The parts of a Transformer block: an encoder block, a decoder block or a block of a language model. With the first three sizes
 * set and all else zeroed: a block of the book.
 *
 * The book's EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
 * dropout, use_bias) is .key, .query, .value, .d_model, .norm_shape, .ffn_input, .ffn, .heads, .dropout, .bias. As in the book,
 * sizes that do not fit the input fail when the block runs (RAPT_ERR_SHAPE, with the name of the parameter). In a whole model all
 * of them must be d_model. */
typedef struct rapt_block_config {
    size_t d_model; /* features of the block's input and output: num_hiddens */
    size_t heads;   /* attention heads */
    size_t ffn;     /* hidden features of the feed-forward network */
    size_t kv_heads; /* key-value heads, which divide heads (grouped-query attention); 0: heads */
    size_t head_dim; /* features of a head; 0: d_model / heads, which must divide evenly */
    size_t rotary_dim; /* features of a head that are rotated (rapt_rotary_scaling.features); 0: all */
    rapt_attention_scores scores;
    size_t query, key, value; /* input features of the projections, in each attention; 0: d_model */
    size_t ffn_input;         /* input features of the feed-forward network; 0: d_model */
    int norm_ndim;                      /* 0: norms work over the features, [d_model] */
    size_t norm_shape[RAPT_MAX_DIMS];   /* the norm_ndim trailing dimensions that norms work over */
    rapt_norm_kind norm_kind;
    rapt_norm_place norm_place;
    double norm_eps;  /* 0: 1e-5 */
    bool shared_norm; /* the block uses its first norm everywhere and has no other */
    rapt_qk_norm qk_norm; /* with norm_eps */
    double residual_scale; /* multiplies the result of each sublayer; 0: 1 */
    rapt_ffn_kind ffn_kind;
    bool bias;         /* the attention projections have biases */
    bool no_o_bias;    /* except o */
    bool no_ffn_bias;  /* the feed-forward network has no biases */
    bool no_norm_bias; /* layer norms have no biases; RMS norms never have any */
    double dropout;    /* of the result of each sublayer, and of attention weights */
    rapt_weight_init init;
    double std;        /* for RAPT_WEIGHT_INIT_GPT2; 0: 0.02 */
    double output_std; /* for the last matrix of each sublayer; 0: std. A model sets std / sqrt(n), where n is the number of
                          sublayers whose results add up (Radford et al. 2019, section 2.3) */
} rapt_block_config;

typedef struct rapt_encoder_block {
    rapt_multi_head_attention attention; /* "attention." */
    rapt_add_norm norm1, norm2;
    rapt_ffn ffn;
} rapt_encoder_block;

/* Adds the parameters of an encoder block. For rotary positions, set m->attention.rotary to a table afterwards. */
RAPT_API void rapt_encoder_block_init(rapt_encoder_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c);
/* x [batch, time, d_model] or ragged; gives the shape of x. `valid_lens` [batch] may be NULL: no padding. */
RAPT_API rapt_tensor *rapt_encoder_block_forward(rapt_tape *t, const rapt_encoder_block *m, rapt_tensor *x,
                                                 const int32_t *valid_lens);

typedef struct rapt_decoder_block {
    rapt_multi_head_attention self_attention, cross_attention; /* "self_attention.", "cross_attention." */
    rapt_add_norm norm1, norm2, norm3;
    rapt_ffn ffn;
} rapt_decoder_block;

/* Adds the parameters of a decoder block. For rotary positions, set m->self_attention.rotary to a table afterwards. */
RAPT_API void rapt_decoder_block_init(rapt_decoder_block *m, rapt_params *set, const char *prefix, const rapt_block_config *c);

/* The encoder's output in the form in which a decoder block attends to it. */
typedef struct rapt_decoder_memory {
    rapt_tensor *output;       /* [batch, source time, d_model], or ragged; NULL if `kv` is set */
    rapt_kv *kv;               /* keys and values of the output, already projected, [sentences, source time, features]; inference
                                  only */
    const int32_t *lens;       /* [rows of the sources] valid lengths, or NULL */
    const rapt_ragged *shared; /* with `kv` and rows of one token each: rows start[i] .. start[i + 1] - 1 read sentence i; NULL:
                                  row i reads sentence i */
} rapt_decoder_memory;

/* x [batch, time, d_model], or ragged; gives the shape of x. `kv` NULL: whole rows, under a causal mask. Otherwise x stands at
 * positions past .. past + time - 1 of the rows of `kv`, as in rapt_causal_self_attention. */
RAPT_API rapt_tensor *rapt_decoder_block_forward(rapt_tape *t, const rapt_decoder_block *m, rapt_tensor *x,
                                                 const rapt_decoder_memory *memory, rapt_kv *kv, size_t past);

#ifdef __cplusplus
}
#endif

#include "rapt/transformer.h"

#endif
