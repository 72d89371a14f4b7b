/* engine/lm_job.h: a text that an engine continues: a copy of the request, its run, and its callbacks. The lane computes the
 * logits (lm_lane.c). */
#ifndef ENGINE_LM_JOB_H
#define ENGINE_LM_JOB_H

#include "decode/continuation.h"
#include "decode/lookup.h"
#include "engine/engine_core.h"

typedef struct lm_job {
    rapt_engine_job job;
    rapt_engine_generation request; /* only its functions and `context` may be read, not its other pointers */
    continuation run;
    lookup lookup;      /* while a proposal is judged, the slot's row of the cache holds positions of it behind the text */
    size_t scored;      /* tokens of the prompt that were reported */
    int32_t *top_ids;   /* [request.top] and as many probabilities, for the token that is reported */
    double *top;
    int32_t chosen;     /* the next token, its log-probability, and how choosing it went */
    double log_prob;
    rapt_error error;
    size_t slot;        /* its slot in the lane, while it runs */
    size_t reserved;    /* positions of the KV cache */
    size_t cached;      /* tokens of the prompt that were found in cached prefixes */
    double admitted, first; /* clock_seconds: got its slot; first token */
} lm_job;

/* Whether tokens of its prompt are still to be reported. */
static inline bool lm_job_scores(const lm_job *j)
{
    return j->request.score_prompt && j->scored < j->request.count;
}

/* A job for `request`; errors as in rapt_engine_generate. `k`: kernels of the lane's tape. */
lm_job *lm_job_new(rapt_engine_model *m, const rapt_engine_generation *request, const kernels *k, rapt_error *err);

/* Reports the next token of the prompt: `logits` [vocab] are those before it, NULL for the first. */
void lm_job_score(lm_job *j, const rapt_real *logits, arena *scratch);
/* Chooses the next token by logits [vocab] after the text: its result is in the job. Jobs may choose in several threads. */
void lm_job_choose(lm_job *j, const rapt_real *logits, arena *scratch);
/* Keeps and reports the token that was chosen. False: the text is complete, or failed (j->error). */
bool lm_job_take(lm_job *j, const rapt_real *logits, arena *scratch);
/* Calls on_done, with `code` and `message` from j->error if it failed, and hands the job back to the engine. */
void lm_job_end(lm_job *j);

#endif
