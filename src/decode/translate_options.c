/* decode/translate_options.c: fills defaults of translation options and checks their ranges. */
#include "decode/translate_options.h"

#include "base/min.h"
#include "base/sized.h"
#include "decode/generate_options.h"
#include "decode/option_defaults.h"
#include "decode/sampler.h"
#include "io/model.h"
#include "tape/compute.h"

#include <math.h>

#define LARGEST_BEAM ((size_t)1 << 16)
#define LARGEST_BATCH ((size_t)1 << 16)
#define LARGEST_MIN_LENGTH ((size_t)1 << 16)
enum { LARGEST_PENALTY = 10, DEFAULT_PENALTY = 1 };

static rapt_code refuse_number(const char *what, int value, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: there is no number %d", what, value);
}

/* Members that only texts of language models have. */
static rapt_code check_sample(const rapt_translate_options *o, rapt_error *err)
{
    const rapt_sample_options *s = &o->sample;
    const char *unused = s->bias_count ? "logit bias" : s->repetition_window ? "repetition window"
                         : s->presence_penalty != 0 ? "presence penalty" : s->frequency_penalty != 0 ? "frequency penalty" : NULL;
    if (unused)
        return rapt_fail(err, RAPT_ERR_VALUE, "translations take no %s", unused);
    return sampler_check(s, err);
}

/* Checks the ranges that rapt/decode.h states, except `threads`, which the pool checks. */
static rapt_code check_options(const rapt_model *m, const rapt_translate_options *o, rapt_error *err)
{
    if (m->task != RAPT_TASK_TRANSLATION)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s does not translate", model_task_of(m->task)->what);
    if (o->beam < 1 || o->beam > LARGEST_BEAM)
        return rapt_fail(err, RAPT_ERR_VALUE, "a beam of %zu: it is 1 to %zu", o->beam, LARGEST_BEAM);
    if (SIZED_AS_MODEL(o->n_best) || SIZED_AS_MODEL(o->batch))
        return sized_refuse_as_model(SIZED_AS_MODEL(o->n_best) ? "n_best" : "batch", err);
    if (o->n_best < 1 || o->batch < 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu hypotheses, in batches of %zu: they are 1 or more", o->n_best, o->batch);
    if (o->n_best > o->beam)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu hypotheses (--n-best) need a beam (--beam) of as many or more, not %zu",
                         o->n_best, o->beam);
    if (!(fabs(o->length_penalty) <= LARGEST_PENALTY))
        return rapt_fail(err, RAPT_ERR_VALUE, "a length penalty of %g is not between -%d and %d", o->length_penalty,
                         LARGEST_PENALTY, LARGEST_PENALTY);
    if (o->patience != 0 && !(o->patience >= 0.01 && o->patience <= 16))
        return rapt_fail(err, RAPT_ERR_VALUE, "a patience of %g is not between 0.01 and 16", o->patience);
    if (!(o->coverage_penalty >= 0 && o->coverage_penalty <= LARGEST_PENALTY))
        return rapt_fail(err, RAPT_ERR_VALUE, "a coverage penalty of %g is not between 0 and %d", o->coverage_penalty,
                         LARGEST_PENALTY);
    if (!(o->max_ratio > 0) && !SIZED_AS_MODEL(o->max_ratio))
        return rapt_fail(err, RAPT_ERR_VALUE, "a largest ratio of lengths of %g: it is above 0", o->max_ratio);
    if (o->min_length > LARGEST_MIN_LENGTH && !SIZED_AS_MODEL(o->min_length))
        return rapt_fail(err, RAPT_ERR_VALUE, "a minimum length of %zu: it is 0 to %zu", o->min_length, LARGEST_MIN_LENGTH);
    if (check_sample(o, err) != RAPT_OK || compute_check_decoding(&o->compute, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (o->spans && !o->tokens)
        return rapt_fail(err, RAPT_ERR_VALUE, "spans are of tokens: ask for `tokens`, too");
    if ((unsigned)o->detokenize > RAPT_LANGUAGE_PORTUGUESE)
        return refuse_number("language", (int)o->detokenize, err);
    return (unsigned)o->split > RAPT_SENTENCE_SPLIT_ALL ? refuse_number("split", (int)o->split, err) : RAPT_OK;
}

SIZED_ENDS_WITH(rapt_translate_options, reserved);

void rapt_translate_options_init(rapt_translate_options *o, size_t size)
{
    sized_init(o, size, &(rapt_translate_options){TRANSLATE_DEFAULTS}, sizeof *o);
}

rapt_code translate_options_take(const rapt_translate_options *given, rapt_translate_options *out, rapt_error *err)
{
    *out = rapt_translate_options_default();
    return sized_take(out, given, out->reserved, sizeof out->reserved, "translate_options", err);
}

/* Without a kind of sampling it is greedy; with one, all of the model's distribution is drawn from unless the options or the
 * policy leave out a part. */
static void fill_sample(const rapt_search_policy *p, rapt_sample_options *s)
{
    s->greedy = s->greedy || !generate_options_ask(s);
    generate_options_take_policy(p, s);
    s->temperature = SIZED_AS_MODEL(s->temperature) ? 1 : s->temperature;
    s->top_k = SIZED_AS_MODEL(s->top_k) ? 0 : s->top_k;
    *s = sampler_fill(s);
    s->greedy = s->temperature == 0;
}

rapt_code translate_options_fill(const rapt_model *m, rapt_translate_options *o, rapt_error *err)
{
    const rapt_search_policy *p = &m->search;
    const bool asked = generate_options_ask(&o->sample);
    if (o->alternatives && SIZED_AS_MODEL(o->beam))
        o->beam = o->n_best;
    else if (SIZED_AS_MODEL(o->beam))
        o->beam = p->given && !asked ? p->beams : 1;
    fill_sample(p, &o->sample);
    if (SIZED_AS_MODEL(o->length_penalty))
        o->length_penalty = p->given ? p->length_penalty : DEFAULT_PENALTY;
    if (SIZED_AS_MODEL(o->no_repeat))
        o->no_repeat = p->no_repeat_ngram;
    rapt_code code = check_options(m, o, err);
    if (!code && asked && o->beam > 1)
        code = rapt_fail(err, RAPT_ERR_VALUE, "a beam of %zu does not sample: temperature, greedy, top_k, top_p, min_p and "
                         "typical_p go with a beam of 1", o->beam);
    if (!code && o->alternatives && (asked || o->beam != o->n_best))
        code = rapt_fail(err, RAPT_ERR_VALUE, "alternatives are continued greedily, %zu of them: not with a beam of %zu, nor "
                         "with sampling", o->n_best, o->beam);
    if (!code && o->glossary && (o->alternatives || !o->sample.greedy))
        code = rapt_fail(err, RAPT_ERR_VALUE, "a glossary needs a search: it does not go with sampling or alternatives");
    o->batch = MIN(o->batch, LARGEST_BATCH);
    if (SIZED_AS_MODEL(o->max_ratio))
        o->max_ratio = 0; /* the search's own limit */
    return code;
}
