/* rapt/score.h: how well a model predicts given texts or translations: loss, perplexity, bits per byte. `rapt eval` prints the
 * same figures. BLEU and chrF of translations are in rapt/metrics.h.
 *
 *     rapt_score score;
 *     if (rapt_score_text(model, text, strlen(text), NULL, &score, &err) == RAPT_OK)
 *         printf("perplexity %.2f\n", score.perplexity);
 */
#ifndef RAPT_SCORE_H
#define RAPT_SCORE_H

#include "rapt/data.h"
#include "rapt/defaults.h"
#include "rapt/io.h"
#include "rapt/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rapt_score_options {
    size_t size;          /* of this struct; set by rapt_score_options_default */
    rapt_compute compute; /* `kv_cache` is read for language models */
    rapt_stop_fn *stop;   /* asked before each batch of windows or pairs, and before each pair is encoded: true cancels it
                             (RAPT_ERR_INTERRUPTED); or NULL */
    void *context;        /* of stop */
    bool strict;          /* translation models: a sentence that is too long is an error; if false, it is truncated as in
                             training */
    uint8_t reserved[7];  /* zeros, or else refused */
} rapt_score_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_score_options_init(rapt_score_options *o, size_t size);
/* fp32 on all threads, not strict, no stop. */
static inline rapt_score_options rapt_score_options_default(void)
{
    rapt_score_options o;
    rapt_score_options_init(&o, sizeof o);
    return o;
}

typedef struct rapt_score {
    double nll;           /* in nats, summed over the tokens */
    size_t tokens, bytes; /* that count, and their bytes (of texts; 0 for pairs) */
    size_t skipped;       /* pairs with an empty side, which have no loss */
    double loss;          /* nll / tokens */
    double perplexity;    /* e^loss, at most DBL_MAX */
    double bits_per_byte; /* of texts */
} rapt_score;

/* Scores a text of `size` bytes with a language model, in consecutive windows of the context length. Every token except the
 * first counts once. `options` may be NULL; on failure *out is zeroed. RAPT_ERR_VALUE: not a language model, fewer than two
 * tokens, or a token that the model does not know; RAPT_ERR_FORMAT: not UTF-8; RAPT_ERR_NOT_FINITE: the loss is not a finite
 * number; RAPT_ERR_INTERRUPTED; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_score_text(const rapt_model *m, const char *text, size_t size, const rapt_score_options *options,
                                   rapt_score *out, rapt_error *err);
/* rapt_score_text for a token file of the model's tokenizer. */
RAPT_API rapt_code rapt_score_tokens(const rapt_model *m, const rapt_token_file *tokens, const rapt_score_options *options,
                                     rapt_score *out, rapt_error *err);
/* rapt_score_tokens token by token: log_probs[count - 1], the log-probability in nats of each of `count` tokens except the first.
 * Their sum is -nll but for rounding. Undefined after a failure. A log-probability that is not finite is no failure. */
RAPT_API rapt_code rapt_score_each(const rapt_model *m, const rapt_token_file *tokens, const rapt_score_options *options,
                                   double *log_probs, rapt_error *err);
/* Scores the targets of sentence pairs with a translation model, each with its <eos> unless it is truncated. Errors as above;
 * RAPT_ERR_VALUE too if each pair has an empty side, and for models of Hugging Face whose sentences begin with tokens of their
 * own. */
RAPT_API rapt_code rapt_score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options,
                                    rapt_score *out, rapt_error *err);

/* Pairs token by token. The caller frees the arrays with rapt_pair_scores_free. */
typedef struct rapt_pair_scores {
    size_t count;      /* pairs */
    size_t *begins;    /* [count + 1] tokens begins[i] .. begins[i + 1] - 1 belong to pair i; none do if a side of it is empty */
    int32_t *tokens;   /* ids of the target; the last one is <eos> unless the target is truncated */
    double *log_probs; /* of each token, given the source and the tokens before it, in nats */
} rapt_pair_scores;

/* rapt_score_pairs token by token: the sum of all log-probabilities is -nll but for rounding. A log-probability that is not
 * finite is no failure, nor are pairs that all have an empty side. *out is always filled, zeroed after a failure. Other errors as
 * in rapt_score_pairs. */
RAPT_API rapt_code rapt_score_each_pair(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options,
                                        rapt_pair_scores *out, rapt_error *err);
/* Frees the arrays and zeroes *s; a zeroed one is fine. */
RAPT_API void rapt_pair_scores_free(rapt_pair_scores *s);

#ifdef __cplusplus
}
#endif

#endif
