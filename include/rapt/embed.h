/* rapt/embed.h: embeddings of texts: an encoder's hidden states, and one vector for each text (Reimers & Gurevych 2019).
 *
 *    rapt_model *model = rapt_model_load_inference("all-MiniLM-L6-v2", RAPT_TASK_ENCODER, &err);
 *    rapt_embedder *embedder = model ? rapt_embedder_new(model, NULL, &err) : NULL;
 *    rapt_real *vectors = embedder ? malloc(2 * rapt_embedder_features(embedder) * sizeof *vectors) : NULL;
 *    const char *texts[] = {"A cat sits on a mat.", "On the mat there is a cat."};
 *    if (vectors && rapt_embedder_run(embedder, texts, 2, vectors, NULL, &err) == RAPT_OK)
 *        ...
 *    free(vectors);
 *    rapt_embedder_free(embedder);
 *    rapt_model_free(model);
 */
#ifndef RAPT_EMBED_H
#define RAPT_EMBED_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_EMBED_BATCH 32

/* Zeroed: as the model's folder says. */
typedef struct rapt_embedder_options {
    rapt_pooling pooling;
    bool normalize, no_normalize; /* vectors of texts are divided by their Euclidean norms, or not; neither: as the folder says */
    const char *prompt;           /* name of one of the folder's prompts, which is put before each text; "": none */
    size_t batch;                 /* texts that are computed together; 0: RAPT_EMBED_BATCH. The result does not depend on it */
    int threads;                  /* as of rapt_tape_options; nor on them */
    rapt_precision precision;     /* of matrix products, and of the weights that are held for them */
    const char *weights;          /* types of these by name, or NULL: see rapt_tape_options */
} rapt_embedder_options;

/* Computes embeddings with a model, which it only reads and which must live as long; one caller at a time. */
typedef struct rapt_embedder rapt_embedder;

/* `options` may be NULL, which means zeroed ones. NULL with `err` (or NULL) set: RAPT_ERR_VALUE: the model is no encoder, an
 * option out of range, a prompt that the folder does not have, or that its pooling leaves out; RAPT_ERR_MEMORY. */
RAPT_API rapt_embedder *rapt_embedder_new(const rapt_model *m, const rapt_embedder_options *options, rapt_error *err);
/* Frees the embedder; NULL is fine. */
RAPT_API void rapt_embedder_free(rapt_embedder *e);
/* Features of a vector, d. */
RAPT_API size_t rapt_embedder_features(const rapt_embedder *e);

/* Writes one vector for each of `count` texts (UTF-8) to vectors [count, d]. A text is encoded with the special tokens of its
 * tokenizer, and cut to rapt_encoder_model.max_len tokens, special ones included; cut[i], unless `cut` is NULL, says whether text
 * i was. Each vector has the same bits whichever texts it is computed with. Fails, with nothing to be read from `vectors`:
 * RAPT_ERR_FORMAT or RAPT_ERR_VALUE where a text cannot be encoded, naming it; RAPT_ERR_INTERRUPTED; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_embedder_run(rapt_embedder *e, const char *const *texts, size_t count, rapt_real *vectors, bool *cut,
                                     rapt_error *err);
/* From any thread: the run that is under way, or the next one, fails with RAPT_ERR_INTERRUPTED. */
RAPT_API void rapt_embedder_cancel(rapt_embedder *e);

/* The vectors of a text's tokens: the encoder's output, before any pooling. */
typedef struct rapt_token_vectors {
    size_t count;       /* tokens, special ones included */
    int32_t *ids;       /* [count] */
    rapt_real *vectors; /* [count, d] */
    bool cut;           /* the text has more tokens */
} rapt_token_vectors;

/* Fills *out, which rapt_token_vectors_free frees. Fails as rapt_embedder_run does, with *out zeroed. */
RAPT_API rapt_code rapt_embedder_tokens(rapt_embedder *e, const char *text, rapt_token_vectors *out, rapt_error *err);
/* Frees what is in *v, and zeroes it. */
RAPT_API void rapt_token_vectors_free(rapt_token_vectors *v);

#ifdef __cplusplus
}
#endif

#endif
