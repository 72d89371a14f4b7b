/* rapt/embed.h: embeddings of texts: an encoder's hidden states, and one vector for each text (Reimers & Gurevych 2019).
 *
 *    rapt_model *model = rapt_model_load("all-MiniLM-L6-v2", NULL, &err);
 *    rapt_embedder *embedder = model ? rapt_embedder_new(model, NULL, &err) : NULL;
 *    rapt_real *vectors = embedder ? malloc(2 * rapt_embedder_features(embedder) * sizeof *vectors) : NULL;
 *    const rapt_text texts[] = {rapt_text_of("A cat sits on a mat."), rapt_text_of("On the mat there is a cat.")};
 *    if (vectors && rapt_embedder_run(embedder, texts, 2, vectors, NULL, &err) == RAPT_OK)
 *        ...
 *    free(vectors);
 *    rapt_embedder_free(embedder);
 *    rapt_model_free(model);
 */
#ifndef RAPT_EMBED_H
#define RAPT_EMBED_H

#include "rapt/defaults.h"
#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_EMBED_BATCH 32

typedef struct rapt_embedder_options {
    size_t size;                  /* of this struct; set by rapt_embedder_options_default */
    rapt_pooling pooling;
    int normalize;                /* 1: the vector of a text is divided by its Euclidean norm; 0: it is not; RAPT_AS_MODEL */
    const char *prompt;           /* name of one of the folder's prompts, which goes before each text; NULL: the folder's default;
                                     "": none */
    size_t batch;                 /* texts that are computed together, 1 or more. Results don't depend on it */
    size_t dimensions;            /* features that a vector keeps, from the first one, before it is normalized: for models that
                                     were trained for it (Kusupati et al. 2022, Matryoshka); 1 to d_model; 0: all */
    rapt_compute compute;         /* `kv_cache` is not read */
} rapt_embedder_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_embedder_options_init(rapt_embedder_options *o, size_t size);
/* pooling RAPT_POOLING_AS_STORED, normalize RAPT_AS_MODEL, the folder's prompt, batch RAPT_EMBED_BATCH, all
 * dimensions, `compute` zeroed. */
static inline rapt_embedder_options rapt_embedder_options_default(void)
{
    rapt_embedder_options o;
    rapt_embedder_options_init(&o, sizeof o);
    return o;
}

/* Computes embeddings with a model, which it only reads and which must outlive it. One caller at a time. */
typedef struct rapt_embedder rapt_embedder;

/* `options` may be NULL: the defaults. NULL with `err` (which may be NULL) set. RAPT_ERR_VALUE: the model is not an
 * encoder, an option is out of range, the folder does not have the prompt, or it excludes prompts from pooling;
 * RAPT_ERR_MEMORY. */
RAPT_API rapt_embedder *rapt_embedder_new(const rapt_model *m, const rapt_embedder_options *options, rapt_error *err);
/* Frees the embedder; NULL is fine. */
RAPT_API void rapt_embedder_free(rapt_embedder *e);
/* The number of features of a text's vector, d: d_model, or `dimensions` of the options. */
RAPT_API size_t rapt_embedder_features(const rapt_embedder *e);

/* Writes one vector for each of `count` texts (UTF-8) to vectors [count, d]. A text is encoded with the special tokens of its
 * tokenizer and truncated to rapt_encoder_model.max_len tokens, special tokens included; cut[i], unless `cut` is NULL, says
 * whether text i was truncated. A text's vector has the same bits whichever texts are computed with it. After a failure `vectors`
 * is undefined: RAPT_ERR_FORMAT or RAPT_ERR_VALUE: a text cannot be encoded (the message names it); RAPT_ERR_INTERRUPTED;
 * RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_embedder_run(rapt_embedder *e, const rapt_text *texts, size_t count, rapt_real *vectors, bool *cut,
                                     rapt_error *err);
/* Makes the run in progress, or else the next run, fail with RAPT_ERR_INTERRUPTED. May be called from any thread. */
RAPT_API void rapt_embedder_cancel(rapt_embedder *e);

/* The vectors of a text's tokens: the encoder's output, before any pooling. */
typedef struct rapt_token_vectors {
    size_t count;       /* tokens, special ones included */
    int32_t *ids;       /* [count] */
    rapt_real *vectors; /* [count, d_model] */
    bool cut;           /* the text has more tokens: it was truncated */
} rapt_token_vectors;

/* Computes the vectors of the tokens of `size` bytes of text into *out, which rapt_token_vectors_free frees. Fails as
 * rapt_embedder_run does, and then zeroes *out. */
RAPT_API rapt_code rapt_embedder_tokens(rapt_embedder *e, const char *text, size_t size, rapt_token_vectors *out,
                                        rapt_error *err);
/* Frees the contents of *v and zeroes it. */
RAPT_API void rapt_token_vectors_free(rapt_token_vectors *v);

#ifdef __cplusplus
}
#endif

#endif
