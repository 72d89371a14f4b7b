/* decode/reranker.c: rapt_reranker: pairs to rows of tokens (pair_rows.c), batches by length on all threads (encoder_runner.c),
 * the score of a logit. */
#include "decode/reranker.h"

#include "base/math.h"
#include "base/sized.h"
#include "decode/encoder_runner.h"
#include "decode/option_defaults.h"
#include "io/model.h"
#include "tape/compute.h"

#include <math.h>
#include <stdlib.h>

struct rapt_reranker {
    encoder_runner run;
    rapt_reranker_options o;
};

/* ---- pairs -------------------------------------------------------------------------------------------------------- */

/* Where the scores of a call go. */
typedef struct rerank_results {
    bool sigmoid;
    rapt_pair_score *scores;
} rerank_results;

/* In double precision, without overflow on either side. */
rapt_real reranker_sigmoid(rapt_real logit)
{
    const double e = math_exp(logit < 0 ? (double)logit : -(double)logit);
    return (rapt_real)((logit < 0 ? e : 1) / (1 + e));
}

static void rerank_keep(void *context, const rapt_tensor *x, const text_row *rows, size_t count)
{
    const rerank_results *to = context;
    for (size_t i = 0; i < count; i++)
        to->scores[rows[i].index] =
            (rapt_pair_score){x->data[i], to->sigmoid ? reranker_sigmoid(x->data[i]) : x->data[i], rows[i].cut, rows[i].index};
}

rapt_code reranker_run_rows(rapt_reranker *r, const text_row *rows, size_t count, rapt_pair_score *scores, rapt_error *err)
{
    rerank_results to = {r->run.m->encoder.sigmoid, scores};
    return encoder_runner_run(&r->run, rows, count, &(encoder_work){rapt_encoder_only_labels, rerank_keep, &to}, err);
}

rapt_code rapt_reranker_run(rapt_reranker *r, const rapt_text_pair *pairs, size_t count, rapt_pair_score *scores, rapt_error *err)
{
    rapt_error own = {0};
    text_row *rows = text_rows_of_pairs(&r->run.m->encoder, pairs, count, SIZE_MAX, &own);
    if (!rows) {
        encoder_runner_settle(&r->run);
        return rapt_fail(err, own.code, "%s", own.message);
    }
    rapt_code code = reranker_run_rows(r, rows, count, scores, err);
    text_rows_free(rows, count);
    return code;
}

/* NaN is below all numbers. */
static int scores_compare(const void *a, const void *b)
{
    const rapt_pair_score *x = a, *y = b;
    const bool x_is = !isnan(x->logit), y_is = !isnan(y->logit);
    if (x_is != y_is)
        return x_is ? -1 : 1;
    if (x_is && x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void rapt_pair_scores_rank(rapt_pair_score *scores, size_t count)
{
    qsort(scores, count, sizeof *scores, scores_compare);
}

void rapt_reranker_cancel(rapt_reranker *r)
{
    atomic_store(&r->run.cancelled, true);
}

/* ---- the reranker ------------------------------------------------------------------------------------------------- */

SIZED_ENDS_WITH(rapt_reranker_options, compute);

void rapt_reranker_options_init(rapt_reranker_options *o, size_t size)
{
    sized_init(o, size, &(rapt_reranker_options){RERANKER_DEFAULTS}, sizeof *o);
}

static rapt_code reranker_fill_options(rapt_reranker *r, const rapt_reranker_options *options, rapt_error *err)
{
    if (r->run.m->task != RAPT_TASK_CROSS_ENCODER)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s gives no scores of pairs", model_task_of(r->run.m->task)->what);
    r->o = rapt_reranker_options_default();
    if (sized_take(&r->o, options, NULL, 0, "reranker_options", err) != RAPT_OK || compute_check(&r->o.compute, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (SIZED_AS_MODEL(r->o.batch))
        return sized_refuse_as_model("batch", err);
    if (r->o.batch < 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "a batch of 0 pairs");
    r->run.batch = r->o.batch;
    return text_rows_check_pairs(&r->run.m->encoder, err);
}

rapt_reranker *rapt_reranker_new(const rapt_model *m, const rapt_reranker_options *options, rapt_error *err)
{
    rapt_reranker *r = calloc(1, sizeof *r);
    if (!r) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a reranker");
        return NULL;
    }
    r->run.m = m;
    if (reranker_fill_options(r, options, err) == RAPT_OK && encoder_runner_open(&r->run, &r->o.compute, err) == RAPT_OK)
        return r;
    rapt_reranker_free(r);
    return NULL;
}

void rapt_reranker_free(rapt_reranker *r)
{
    if (!r)
        return;
    encoder_runner_close(&r->run);
    free(r);
}
