/* decode/score_watch.h: scoring with somebody who compares the logits, for `rapt eval --compare`. */
#ifndef DECODE_SCORE_WATCH_H
#define DECODE_SCORE_WATCH_H

#include "kernels/kernels.h"
#include "rapt/score.h"

/* What a pass has computed: the logits of a batch, and what it computed them from. */
typedef struct score_batch {
    const rapt_tokens *source;  /* pairs: the sources and their valid lengths */
    const int32_t *source_lens;
    rapt_tokens inputs, labels;
    const int32_t *valid_lens;  /* of the labels */
    const rapt_tensor *logits;  /* of all positions, or of those that count */
    const kernels *k;           /* of the tape */
} score_batch;

/* NULL: nobody. Called after each pass; the logits belong to its tape. */
typedef struct score_watch {
    rapt_code (*fn)(void *context, const score_batch *b, rapt_error *err);
    void *context;
} score_watch;

/* Writes the log-probability of each label of a row that counts. */
void score_row(const score_batch *b, size_t row, double *log_probs);

/* rapt_score_tokens and rapt_score_pairs. */
rapt_code score_tokens(const rapt_model *m, const rapt_token_file *tokens, const rapt_score_options *options,
                       const score_watch *watch, rapt_score *out, rapt_error *err);
/* The labels of conversations that carry loss. Ids must be ones that the model knows. */
rapt_code score_conversations(const rapt_model *m, const rapt_dataset *d, const rapt_score_options *options,
                              const score_watch *watch, rapt_score *out, rapt_error *err);
rapt_code score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options, const score_watch *watch,
                      rapt_score *out, rapt_error *err);

/* Copies the caller's options, which may be NULL, over the defaults. RAPT_ERR_VALUE: a size or reserved members of another
 * version. */
rapt_code score_options_take(const rapt_score_options *given, rapt_score_options *out, rapt_error *err);
/* RAPT_ERR_INTERRUPTED, with the message of scores in place of another one. */
rapt_code score_cancelled(rapt_error *err);
/* score_cancelled if the caller's stop says so. */
rapt_code score_asks(const rapt_score_options *o, rapt_error *err);
/* Fills the means from the sums. RAPT_ERR_NOT_FINITE. */
rapt_code score_finish(rapt_score *out, rapt_error *err);

#endif
