/* decode/score_pairs.c: the loss of a translation model on the targets of sentence pairs, in all or token by token. */
#include "decode/pair_scoring.h"

#include "data/dataset.h"
#include "decode/model_tapes.h"
#include "io/model_core.h"

/* All batches, one after the other. */
static rapt_code score_batches(pair_scoring *s, const rapt_score_options *o, const score_watch *watch, rapt_error *err)
{
    model_tapes tapes = {0};
    const size_t batches = pair_scoring_batches(s);
    rapt_code code = batches ? model_tapes_make(&tapes, s->m, &o->compute, MODEL_TAPES_ALL | MODEL_TAPES_PACK_IF_NEEDED, err)
                             : RAPT_OK;
    for (size_t i = 0; i < batches && !code; i++)
        if (!(code = score_asks(o, err)))
            code = pair_scoring_batch(s, tapes.all, i, watch, err);
    model_tapes_free(&tapes);
    return code;
}

/* The mean over no pairs is no number. */
static rapt_code score_check_pairs(const rapt_pairs *pairs, rapt_error *err)
{
    for (size_t i = 0; i < rapt_pairs_count(pairs); i++)
        if (!dataset_has_empty_side(pairs, i))
            return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "no pair is left to score: all %zu have an empty side", rapt_pairs_count(pairs));
}

rapt_code score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options, const score_watch *watch,
                      rapt_score *out, rapt_error *err)
{
    rapt_error own = {0};
    pair_scoring s;
    rapt_code code = pair_scoring_begin(&s, m, pairs, options, false, false, &own);
    code = code ? code : score_check_pairs(pairs, &own);
    code = code ? code : score_batches(&s, options, watch, &own);
    *out = code ? (rapt_score){0} : s.sums;
    code = code ? code : score_finish(out, &own);
    pair_scoring_free(&s);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

rapt_code rapt_score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options, rapt_score *out,
                           rapt_error *err)
{
    rapt_score_options o;
    *out = (rapt_score){0};
    rapt_code code = score_options_take(options, &o, err);
    return code ? code : score_pairs(m, pairs, &o, NULL, out, err);
}

rapt_code rapt_score_each_pair(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options,
                               rapt_pair_scores *out, rapt_error *err)
{
    rapt_score_options o;
    rapt_error own = {0};
    pair_scoring s = {0};
    *out = (rapt_pair_scores){0};
    rapt_code code = score_options_take(options, &o, &own);
    code = code ? code : pair_scoring_begin(&s, m, pairs, &o, true, false, &own);
    code = code ? code : score_batches(&s, &o, NULL, &own);
    if (!code)
        *out = pair_scoring_take(&s);
    pair_scoring_free(&s);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
