/* rapt/rerank.h: scores of pairs of texts by a cross-encoder (Nogueira & Cho 2019), which reads both texts at once: how well a
 * document answers a query.
 *
 *    rapt_model *model = rapt_model_load("ms-marco-MiniLM-L6-v2", NULL, &err);
 *    rapt_reranker *reranker = model ? rapt_reranker_new(model, NULL, &err) : NULL;
 *    const rapt_text query = rapt_text_of("How many people live in Berlin?");
 *    const rapt_text_pair pairs[] = {{query, rapt_text_of("Berlin is known for its museums.")},
 *                                    {query, rapt_text_of("Berlin had 3,520,031 inhabitants in 2019.")}};
 *    rapt_pair_score scores[2];
 *    if (reranker && rapt_reranker_run(reranker, pairs, 2, scores, &err) == RAPT_OK)
 *        ...
 *    rapt_reranker_free(reranker);
 *    rapt_model_free(model);
 */
#ifndef RAPT_RERANK_H
#define RAPT_RERANK_H

#include "rapt/defaults.h"
#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_RERANK_BATCH 32

typedef struct rapt_reranker_options {
    size_t size;          /* of this struct; set by rapt_reranker_options_default */
    size_t batch;         /* pairs that are computed together, 1 or more. Results don't depend on it */
    rapt_compute compute; /* `kv_cache` is not read */
} rapt_reranker_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_reranker_options_init(rapt_reranker_options *o, size_t size);
/* Batch RAPT_RERANK_BATCH, `compute` zeroed. */
static inline rapt_reranker_options rapt_reranker_options_default(void)
{
    rapt_reranker_options o;
    rapt_reranker_options_init(&o, sizeof o);
    return o;
}

/* Two texts (UTF-8), such as a query and a document; borrowed. */
typedef struct rapt_text_pair {
    rapt_text first, second;
} rapt_text_pair;

typedef struct rapt_pair_score {
    rapt_real logit; /* what the model's head computes */
    rapt_real score; /* of it, as the folder says (rapt_encoder_model.sigmoid): between 0 and 1, or the logit itself */
    bool cut;        /* the pair has more tokens than the model takes: the longer text was truncated on the right, or both */
    size_t index;    /* the place of the pair among those that were given */
} rapt_pair_score;

/* Computes scores with a model, which it only reads and which must outlive it. One caller at a time. */
typedef struct rapt_reranker rapt_reranker;

/* `options` may be NULL: the defaults. NULL with `err` (which may be NULL) set. RAPT_ERR_VALUE: the model is not a
 * cross-encoder, its tokenizer does not say how two texts become one, or an option is out of range; RAPT_ERR_MEMORY. */
RAPT_API rapt_reranker *rapt_reranker_new(const rapt_model *m, const rapt_reranker_options *options, rapt_error *err);
/* Frees the reranker; NULL is fine. */
RAPT_API void rapt_reranker_free(rapt_reranker *r);

/* Writes scores[count], one for each of `count` pairs, in their order. Both texts become one row with the special tokens of the
 * tokenizer, of at most rapt_encoder_model.max_len tokens. Pairs that follow each other may share the bytes of their first
 * text, which is then encoded once. A score has the same bits whichever pairs are computed with it. After a failure `scores` is
 * undefined: RAPT_ERR_FORMAT or RAPT_ERR_VALUE: a text cannot be encoded (the message names it); RAPT_ERR_INTERRUPTED;
 * RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_reranker_run(rapt_reranker *r, const rapt_text_pair *pairs, size_t count, rapt_pair_score *scores,
                                     rapt_error *err);
/* Sorts scores: the greatest logit first, equal ones by their index, what is no number last. */
RAPT_API void rapt_pair_scores_rank(rapt_pair_score *scores, size_t count);
/* Makes the run in progress, or else the next run, fail with RAPT_ERR_INTERRUPTED. May be called from any thread. */
RAPT_API void rapt_reranker_cancel(rapt_reranker *r);

#ifdef __cplusplus
}
#endif

#endif
