/* rapt/transformer.h: the encoder-decoder of Vaswani et al. 2017 and its variants, made of the modules of rapt/nn.h, and the
 * state of its decoding. Part of rapt/nn.h, which includes it. */
#ifndef RAPT_TRANSFORMER_H
#define RAPT_TRANSFORMER_H

#include "rapt/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- encoder, decoder, both --------------------------------------------------------------------------------- */

/* ---- relative position biases -------------------------------------------------------------------------------- */

enum { RAPT_RELATIVE_BUCKETS_MAX = 1 << 12, RAPT_RELATIVE_FARTHEST_MAX = 1 << 16 };

/* Buckets of distances (Raffel et al. 2020, section 2.1): half of the buckets hold one distance each, the others cover
 * logarithmically growing ranges up to `farthest`; all larger distances are in the last bucket. */
typedef struct rapt_relative_options {
    size_t buckets, farthest; /* 4 or more; more than `buckets` */
    bool both_ways; /* half of the buckets are for keys after the query; if false, such keys are in bucket 0 */
} rapt_relative_options;

/* The bucket of a key that is `distance` positions after its query (negative: before it). */
RAPT_API size_t rapt_relative_bucket(ptrdiff_t distance, const rapt_relative_options *options);
/* Adds "weight" [buckets, heads] and fills *m; options out of range are a failure of the set. */
RAPT_API void rapt_relative_bias_init(rapt_relative_bias *m, rapt_params *set, const char *prefix, size_t heads,
                                      const rapt_relative_options *options);

/* ---- both ---------------------------------------------------------------------------------------------------- */

/* When a bias is added to the logits. */
typedef enum rapt_output_bias {
    RAPT_OUTPUT_BIAS_UNTIED, /* unless the output projection is tied to an embedding */
    RAPT_OUTPUT_BIAS_ALWAYS,
    RAPT_OUTPUT_BIAS_NEVER
} rapt_output_bias;

typedef struct rapt_transformer_config {
    size_t source_vocab, target_vocab, layers, max_positions;
    rapt_block_config block;
    bool scale_embedding; /* times sqrt(d_model) */
    bool tied;            /* both embeddings and the output projection are one matrix; source and target share a vocabulary */
    bool tied_embeddings; /* the two embeddings are one matrix; source and target share a vocabulary. Implied by `tied` */
    bool tied_output;     /* the decoder's embedding and the output projection are one matrix. Implied by `tied` */
    rapt_output_bias output_bias;
    size_t decoder_layers, decoder_heads, decoder_ffn; /* sizes of the decoder; 0: layers, block.heads, block.ffn. If
                                                          decoder_heads differs from block.heads, each decoder head has its own
                                                          keys and values */
    double embedding_std; /* 0: std (GPT-2), else 1 / sqrt(2 d_model) if tied, else 1 / sqrt(d_model) if scaled, else 1, so that
                             the first loss is about ln V. Learned positions start with the same std, or with std (GPT-2) */
    rapt_positions_kind positions; /* rotary: only in self-attention, because the positions of a cross-attention belong to two
                                      texts */
    rapt_sinusoid_layout sinusoid_layout;
    rapt_relative_options relative; /* for RAPT_POSITIONS_RELATIVE; both ways in the encoder, one way in the decoder */
    bool relative_in_blocks; /* each block has its own biases, "encoder.0.relative.", ... (UMT5); else all blocks share them */
    double output_scale;  /* multiplies hidden states before the output projection (T5: d_model^-0.5); 0: 1 */
    bool embedding_norm;  /* the sum of embedding and positions is normalized, in encoder and decoder */
    size_t token_types;   /* number of the encoder's token types (rapt_preprocessor_options.types); 0: none */
    size_t labels;        /* rapt_encoder_only: outputs of a head over the first token; 0: there is none */
    bool head_relu;       /* the head has ReLU (DistilBERT), else tanh (BERT, RoBERTa) */
    double rotary_base;   /* 0: 10000 */
} rapt_transformer_config;

typedef struct rapt_encoder {
    rapt_preprocessor input; /* "encoder." */
    rapt_param *rotary;      /* "encoder.rotary.table", shared by all blocks; or NULL */
    rapt_relative_bias relative; /* "encoder.relative.", shared by all blocks; zeroed if each block has its own biases, or if
                                    there are none */
    size_t layers;
    rapt_encoder_block *blocks; /* "encoder.0.", ... */
    rapt_layer_norm norm;       /* pre-norm: norm of the output, "encoder.norm." */
    bool has_norm;
} rapt_encoder;

/* Adds the encoder's parameters to `set`. */
RAPT_API void rapt_encoder_init(rapt_encoder *m, rapt_params *set, const rapt_transformer_config *c);
/* tokens [batch, time]; gives [batch, time, d_model]. `valid_lens` NULL: tokens.lens. */
RAPT_API rapt_tensor *rapt_encoder_forward(rapt_tape *t, const rapt_encoder *m, rapt_tokens tokens, const int32_t *valid_lens);

/* An encoder without a decoder, such as BERT (Devlin et al. 2019). */
typedef struct rapt_encoder_only {
    rapt_transformer_config config; /* members that describe the decoder are not read */
    rapt_params *params;            /* owned */
    rapt_encoder encoder;
    rapt_linear head_dense, head_output; /* "head.dense." [d_model, d_model], "head.output." [labels, d_model]; weight NULL:
                                            none */
} rapt_encoder_only;

/* Makes an encoder as rapt_transformer_new makes a model, with its ownership and errors. */
RAPT_API rapt_encoder_only *rapt_encoder_only_new(const rapt_transformer_config *config, uint64_t seed, rapt_error *err);
/* The head over the first token h of each text: output(tanh(dense(h))), [batch, labels] (Devlin et al. 2019, section 4.1).
 * Without a head it is a failure of the tape (RAPT_ERR_VALUE). */
RAPT_API rapt_tensor *rapt_encoder_only_labels(rapt_tape *t, const rapt_encoder_only *m, rapt_tokens tokens);
/* Frees the model with its parameters; NULL is fine. */
RAPT_API void rapt_encoder_only_free(rapt_encoder_only *m);

typedef struct rapt_decoder {
    rapt_preprocessor input; /* "decoder." */
    rapt_param *rotary;      /* "decoder.rotary.table", shared by all blocks; or NULL */
    rapt_relative_bias relative; /* "decoder.relative.", shared by all blocks; zeroed if each block has its own biases, or if
                                    there are none */
    double output_scale;
    size_t layers;
    rapt_decoder_block *blocks; /* "decoder.0.", ... */
    rapt_layer_norm norm;
    bool has_norm;
    rapt_linear output;         /* "decoder.output.": [target_vocab, d_model]; the weight may be an embedding's */
} rapt_decoder;

/* Adds the decoder's parameters to `set`. `shared` is the encoder's embedding matrix if both embeddings are one matrix, else
 * NULL. */
RAPT_API void rapt_decoder_init(rapt_decoder *m, rapt_params *set, const rapt_transformer_config *c, rapt_param *shared);
/* The hidden states [batch, time, d_model] that the output matrix multiplies, for whole rows of target tokens [batch, time].
 * Position i attends to tokens 0 .. i. `memory` [batch, source time, d_model] is the encoder's output; its first memory_lens[b]
 * positions are valid; memory_lens NULL: all. */
RAPT_API rapt_tensor *rapt_decoder_hidden(rapt_tape *t, const rapt_decoder *m, rapt_tokens tokens, rapt_tensor *memory,
                                          const int32_t *memory_lens);
/* Logits [batch, time, target_vocab] for whole rows: the output projection of rapt_decoder_hidden. */
RAPT_API rapt_tensor *rapt_decoder_forward(rapt_tape *t, const rapt_decoder *m, rapt_tokens tokens, rapt_tensor *memory,
                                           const int32_t *memory_lens);

/* The state of decoding between steps: the KV caches of self-attention and cross-attention (the encoder's output, projected
 * once), and which rows translate which sentence. Owns its memory and reuses it for later batches. One thread at a time may use a
 * state. */
typedef struct rapt_decoder_state rapt_decoder_state;

/* An empty state, for rapt_decoder_start. NULL with `err` (or NULL) set when out of memory. */
RAPT_API rapt_decoder_state *rapt_decoder_state_new(rapt_error *err);
/* Frees the state; it may be NULL. */
RAPT_API void rapt_decoder_state_free(rapt_decoder_state *s);

typedef struct rapt_decoder_sizes {
    size_t beam;     /* max rows of a sentence; 0: 1 */
    size_t capacity; /* max target positions */
    rapt_type storage; /* numeric type of both caches (rapt_kv_sizes) */
} rapt_decoder_sizes;

/* Starts a batch and discards what the state held: projects `memory` [sentences, source time, d_model] or ragged, the encoder's
 * output, for all blocks, and copies what it needs, so that the tape may begin another pass. There is one row for each sentence.
 * `memory_lens` [sentences], copied, are the valid lengths, limited to the rows that a sentence has; NULL: all. Fails in the
 * tape, after which a step is refused: RAPT_ERR_SHAPE if `memory` has another shape, RAPT_ERR_VALUE for an unknown storage,
 * RAPT_ERR_MEMORY. */
RAPT_API void rapt_decoder_start(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tensor *memory,
                                 const int32_t *memory_lens, rapt_decoder_sizes sizes);
/* Logits [rows, time, target_vocab] for the next tokens [rows, time], the same number in each row (no lens). In fp32, with caches
 * in fp32, they equal rapt_decoder_forward bit for bit. A failure leaves the state as it was: RAPT_ERR_SHAPE if the state has
 * another number of rows, or no capacity for the positions; RAPT_ERR_VALUE if it was not started. Inference only. */
RAPT_API rapt_tensor *rapt_decoder_step(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tokens tokens);
/* Target positions that the state holds. */
RAPT_API size_t rapt_decoder_state_past(const rapt_decoder_state *s);
/* Replaces the rows by `rows` rows: row i becomes what row parents[i] was (beam search). Sentences stay in order; each has 0 to
 * `beam` adjacent rows, which share one copy of its keys and values, and a sentence without rows costs nothing. Later steps must
 * have one token per row. Nothing is checked: rapt_decoder_start must have succeeded before. */
RAPT_API void rapt_decoder_state_select(rapt_decoder_state *s, const int32_t *parents, size_t rows);

typedef struct rapt_transformer {
    rapt_transformer_config config;
    rapt_params *params; /* owned */
    rapt_encoder encoder;
    rapt_decoder decoder;
} rapt_transformer;

/* Makes a model with a new set, keyed by `seed` (not RAPT_SEED_NONE, _SHAPES or _UNSET, which are reserved). NULL with `err`
 * (which may be NULL) set: a size that doesn't fit, out of memory. */
RAPT_API rapt_transformer *rapt_transformer_new(const rapt_transformer_config *config, uint64_t seed, rapt_error *err);
/* Frees the model with its parameters; NULL is fine. */
RAPT_API void rapt_transformer_free(rapt_transformer *m);
/* Logits [batch, target time, target_vocab] under teacher forcing, for source [batch, source time] and target [batch, target
 * time] tokens. `source_lens` [batch]; NULL: source.lens. */
RAPT_API rapt_tensor *rapt_transformer_forward(rapt_tape *t, const rapt_transformer *m, rapt_tokens source,
                                               const int32_t *source_lens, rapt_tokens target);
/* The cross-entropy of the labels, which are the target's tokens one position later: rapt_op_output_loss of the decoder's
 * hidden states. */
RAPT_API rapt_tensor *rapt_transformer_loss(rapt_tape *t, const rapt_transformer *m, rapt_tokens source,
                                            const int32_t *source_lens, rapt_tokens target, rapt_tokens labels,
                                            const rapt_loss_options *options, rapt_loss_sums *parts);
/* Sets the dropout probabilities of all modules, for instance before fine-tuning. */
RAPT_API void rapt_transformer_set_dropouts(rapt_transformer *m, rapt_dropouts dropouts);

#ifdef __cplusplus
}
#endif

#endif
