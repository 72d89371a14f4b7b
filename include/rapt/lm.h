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

typedef enum rapt_positions_kind {
    RAPT_POSITIONS_SINUSOIDAL, /* rapt_positions, added to the embedding */
    RAPT_POSITIONS_LEARNED,    /* a trained row for each position, added to the embedding */
    RAPT_POSITIONS_ROTARY      /* queries and keys are turned by their positions: rapt_op_rotary */
} rapt_positions_kind;

typedef struct rapt_lm_config {
    size_t vocab, layers, d_model, heads;
    size_t kv_heads; /* heads of keys and values, which divide heads (grouped-query attention); 0: heads */
    size_t ffn;      /* hidden features of the feed-forward network */
    size_t context;  /* positions: the longest row */
    rapt_norm_place norm_place; /* post: norm(x + f(x)); pre: x + f(norm(x)), and a norm of what comes out at the end */
    rapt_norm_kind norm_kind;
    double norm_eps;     /* 0: 1e-5 */
    rapt_ffn_kind ffn_kind;
    rapt_positions_kind positions;
    double rotary_base;  /* 0: 10000 */
    bool tied;           /* the output matrix is the embedding, without a bias */
    bool bias;           /* of all linear layers in the blocks, and of layer norms */
    bool output_bias;    /* of the output matrix, where it is not tied */
    bool shared_norm;    /* a block uses its first norm twice and has no second one */
    bool scale_embedding; /* times sqrt(d_model) */
    double dropout;      /* after the embedding, on attention weights, on the output of each sublayer */
    rapt_weight_init init; /* of all linear layers */
    double std;           /* of RAPT_WEIGHT_INIT_GPT2, for learned positions, too; 0: 0.02 */
    double embedding_std; /* embedding N(0, embedding_std^2), and learned positions unless GPT-2's; 0: std (GPT-2), else
                             2 / d_model where tied, else 1 / sqrt(d_model) where scaled, else 1 */
} rapt_lm_config;

/* The model that `name` stands for:
 *   seed   one post-norm block of d_model 64 with 4 heads, context 16, ReLU and sinusoidal positions; one layer norm
 *          used twice; an output matrix of its own; as PyTorch initialises. Vocabulary 100,070: the largest id of
 *          cl100k_base in the sales textbook, plus 1; set `vocab` for another text
 *   gpt2   the smallest GPT-2 (Radford et al. 2019), 124,439,808 parameters
 * An unknown name is RAPT_ERR_NOT_FOUND. */
rapt_code rapt_lm_preset(const char *name, rapt_lm_config *config, rapt_error *err);

/* ---- modules ---------------------------------------------------------------------------------------------- */

/* The table of rapt_op_rotary for heads of d features, d even: cosines and sines of i / base^(2j/d) (Su et al. 2021,
 * eq. 15). A buffer named `name` that is not saved with the model. */
rapt_param *rapt_rotary_init(rapt_params *set, const char *name, size_t max_len, size_t d, double base);

typedef struct rapt_lm_block {
    rapt_multi_head_attention attention; /* "attention." */
    rapt_add_norm norm1, norm2;          /* "norm1.", "norm2." */
    rapt_ffn ffn;                        /* "ffn." */
} rapt_lm_block;

/* `rotary` is the table that all blocks share, or NULL. With RAPT_WEIGHT_INIT_GPT2 matrices are zeros, to be filled: rapt_lm_init
 * does that, as it depends on how many blocks there are. */
void rapt_lm_block_init(rapt_lm_block *m, rapt_params *set, const char *prefix, const rapt_lm_config *config,
                        rapt_param *rotary);
/* x [batch, time, d_model]. `kv` NULL: whole rows, each position seeing those up to its own. Otherwise x stands at
 * positions past .. past + time - 1, and sees what `kv` holds of those before (rapt_cached_self_attention). */
rapt_tensor *rapt_lm_block_forward(rapt_tape *t, const rapt_lm_block *m, rapt_tensor *x, rapt_kv *kv, size_t past);

typedef struct rapt_lm {
    rapt_lm_config config;
    rapt_params *params;     /* owned where rapt_lm_new made it */
    rapt_preprocessor input; /* "embedding.", "positions." */
    size_t layers;
    rapt_lm_block *blocks;   /* "blocks.0.", ... */
    rapt_layer_norm norm;    /* pre-norm: of the last block's output, "norm." */
    bool has_norm;
    rapt_linear output;      /* "output.": [vocab, d_model] */
} rapt_lm;

/* Adds the model's parameters to `set`, which fails where the sizes don't fit together. */
void rapt_lm_init(rapt_lm *m, rapt_params *set, const rapt_lm_config *config);
/* The same in a set of its own. NULL with `err` set: a size that doesn't fit, out of memory. */
rapt_lm *rapt_lm_new(const rapt_lm_config *config, uint64_t seed, rapt_error *err);
void rapt_lm_free(rapt_lm *m);

/* Of whole rows of one length, position i seeing tokens 0 .. i: [batch, time, d_model], what the output matrix multiplies. */
rapt_tensor *rapt_lm_hidden(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* Logits [batch, time, vocab]. */
rapt_tensor *rapt_lm_forward(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens);
/* rapt_op_output_loss of rapt_lm_hidden: the cross-entropy of the labels, which are the tokens one position later. */
rapt_tensor *rapt_lm_loss(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens, rapt_tokens labels,
                          const rapt_loss_options *options, rapt_loss_sums *parts);
/* Changes the dropout of all modules, as fine-tuning may. */
void rapt_lm_set_dropouts(rapt_lm *m, rapt_dropouts dropouts);

/* ---- decoding with kept keys and values ------------------------------------------------------------------- */

/* Keys and values of up to `context` positions of `batch` rows that grow together. Own memory. */
typedef struct rapt_lm_state rapt_lm_state;

rapt_lm_state *rapt_lm_state_new(const rapt_lm *m, size_t batch, rapt_error *err);
void rapt_lm_state_free(rapt_lm_state *s);
size_t rapt_lm_state_past(const rapt_lm_state *s); /* positions that it holds */
void rapt_lm_state_clear(rapt_lm_state *s);        /* back to none */

/* Logits of the next tokens [batch, time], one or many: [batch, time, vocab], or of the last position only,
 * [batch, 1, vocab]. Equals rapt_lm_forward bit for bit. More tokens than the context has room for are a failure. A
 * failure leaves the state as it was. Inference only. */
rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_lm_state *s, rapt_tokens tokens, bool last_only);

/* Logits [batch, 1, vocab] after the next tokens of a text without end. Where the context is full, its oldest half
 * (context / 2 tokens, at least 1; several times if need be) is dropped and the rest computed again from position 0,
 * so that rapt_lm_forward of the same visible tokens gives the same bits. What is visible depends on the number of
 * tokens alone, not on how many come at once. Tokens that are refused leave the state as it was; where memory runs
 * out, it may be left empty. */
rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_lm_state *s, rapt_tokens tokens);
/* Of n tokens, those that rapt_lm_next leaves visible: the last ones. */
size_t rapt_lm_visible(const rapt_lm_config *config, size_t n);

#ifdef __cplusplus
}
#endif

#endif
