/* decode/pair_scoring.h: sentence pairs, encoded, whose scores are computed batch by batch, on any tape of their model. For
 * score_pairs.c, and for requests to a server, which others get between. */
#ifndef DECODE_PAIR_SCORING_H
#define DECODE_PAIR_SCORING_H

#include "decode/score_watch.h"

#include "rapt/data.h"

typedef struct pair_scoring {
    const rapt_model *m;
    const rapt_pairs *pairs;
    rapt_dataset *data;   /* NULL: each pair has an empty side */
    rapt_loader *loader;  /* of data */
    rapt_score sums;      /* nll and tokens of the batches so far, and skipped */
    rapt_pair_scores each; /* of the pairs so far, if `begins` is there */
    size_t ids, log_probs; /* capacities */
} pair_scoring;

enum { PAIR_SCORING_BATCH = 64 };

/* Encodes the pairs, which must last. o->stop and o->strict are read. `each`: log-probabilities of tokens are wanted. `shared`:
 * others use the tape, so that a batch has no more tokens than a few hundred or its longest pair, and logits for 64 MiB or the
 * longest target; else PAIR_SCORING_BATCH pairs. No log-probability depends on it. RAPT_ERR_VALUE, RAPT_ERR_FORMAT: as
 * rapt_score_each_pair; RAPT_ERR_INTERRUPTED; RAPT_ERR_MEMORY. To be freed in any case. */
rapt_code pair_scoring_begin(pair_scoring *s, const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *o,
                             bool each, bool shared, rapt_error *err);
void pair_scoring_free(pair_scoring *s);

size_t pair_scoring_batches(const pair_scoring *s);
/* Bytes of the largest pass; nothing is computed. */
rapt_code pair_scoring_memory(pair_scoring *s, size_t *bytes, rapt_error *err);
/* Scores a batch; batches come in their order. `watch` may be NULL. */
rapt_code pair_scoring_batch(pair_scoring *s, rapt_tape *t, size_t batch, const score_watch *watch, rapt_error *err);
/* After the last batch: the scores of all pairs, which the caller frees. */
rapt_pair_scores pair_scoring_take(pair_scoring *s);

#endif
