/* decode/generate_options.c: fills defaults of a generator's options and checks them. */
#include "decode/generate_options.h"

#include "base/sized.h"
#include "decode/option_defaults.h"
#include "decode/sampler.h"
#include "decode/schema/constraint.h"
#include "io/model.h"
#include "search/text_stream.h"
#include "tape/compute.h"

#include <string.h>

#define LARGEST_BEAM ((size_t)1 << 16)
#define LONGEST_LOOKUP ((size_t)64)

SIZED_ENDS_WITH(rapt_generate_options, reserved);

void rapt_generate_options_init(rapt_generate_options *o, size_t size)
{
    sized_init(o, size, &(rapt_generate_options){GENERATE_DEFAULTS}, sizeof *o);
}

static rapt_code check_biases(const rapt_model *m, const rapt_sample_options *s, rapt_error *err)
{
    for (size_t i = 0; i < s->bias_count; i++)
        if (s->biases[i].id < 0 || (size_t)s->biases[i].id >= m->language.net->config.vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "logit bias of token %d; the model knows 0 to %zu", (int)s->biases[i].id,
                             m->language.net->config.vocab - 1);
    return RAPT_OK;
}

/* A seed is no such member: each of its values is one. */
static rapt_code check_as_model(const rapt_generate_options *o, rapt_error *err)
{
    const rapt_sample_options *s = &o->sample;
    const char *const unknown = SIZED_AS_MODEL(o->max_tokens) ? "max_tokens" : SIZED_AS_MODEL(o->stop_count) ? "stop_count"
                                : SIZED_AS_MODEL(o->top) ? "top" : SIZED_AS_MODEL(o->lookup) ? "lookup"
                                : SIZED_AS_MODEL(s->repetition_window) ? "repetition_window"
                                : SIZED_AS_MODEL(s->bias_count) ? "bias_count" : NULL;
    return unknown ? sized_refuse_as_model(unknown, err) : RAPT_OK;
}

rapt_code generate_options_check(const rapt_model *m, const rapt_generate_options *o, rapt_error *err)
{
    if (m->task != RAPT_TASK_LANGUAGE_MODEL)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s does not generate text from a prompt", model_task_of(m->task)->what);
    if (rapt_tokenizer_kind_of(m->language.tokenizer) == RAPT_TOKENIZER_WORDS)
        return rapt_fail(err, RAPT_ERR_VALUE, "a tokenizer of words cannot continue a text: its tokens are words without what "
                                              "stands between them");
    if (!SIZED_AS_MODEL(o->beam) && (o->beam < 1 || o->beam > LARGEST_BEAM))
        return rapt_fail(err, RAPT_ERR_VALUE, "a beam of %zu: it is 1 to %zu", o->beam, LARGEST_BEAM);
    if (check_as_model(o, err) != RAPT_OK || compute_check_decoding(&o->compute, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (o->lookup > LONGEST_LOOKUP)
        return rapt_fail(err, RAPT_ERR_VALUE, "a lookup of %zu tokens: it is 0 to %zu", o->lookup, LONGEST_LOOKUP);
    const size_t beam = generate_options_fill(m, o).beam;
    const rapt_sample_options *s = &o->sample;
    const char *unused = s->bias_count ? "logit bias" : s->repetition_window ? "repetition window"
                         : o->constraint ? "constraint" : o->on_logits ? "callback of logits"
                         : s->presence_penalty != 0 ? "presence penalty"
                         : s->frequency_penalty != 0 ? "frequency penalty" : NULL;
    if (beam > 1 && unused)
        return rapt_fail(err, RAPT_ERR_VALUE, "beam search, of %zu beams, takes no %s; --beam 1 turns it off", beam, unused);
    if (o->constraint && !constraint_waits(o->constraint) && o->stop_count > 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "stop sequences beside a constraint would end a text that does not obey it");
    rapt_code code = check_biases(m, &o->sample, err);
    code = code || !o->constraint ? code : constraint_check(o->constraint, m->language.tokenizer, err);
    code = code ? code : sampler_check(&o->sample, err);
    return code ? code : text_stream_check_stops(o->stops, o->stop_count, err);
}

bool generate_options_ask(const rapt_sample_options *s)
{
    return s->greedy || !SIZED_AS_MODEL(s->temperature) || !SIZED_AS_MODEL(s->top_k) || !SIZED_AS_MODEL(s->top_p) ||
           !SIZED_AS_MODEL(s->min_p) || !SIZED_AS_MODEL(s->typical_p);
}

/* The policy's value (0: it has none) in place of RAPT_AS_MODEL. */
static void take_policy(double *value, double policy)
{
    *value = SIZED_AS_MODEL(*value) && policy != 0 ? policy : *value;
}

void generate_options_take_policy(const rapt_search_policy *p, rapt_sample_options *s)
{
    take_policy(&s->temperature, p->temperature);
    if (SIZED_AS_MODEL(s->top_k) && p->top_k != 0)
        s->top_k = p->top_k == SIZE_MAX ? 0 : p->top_k;
    take_policy(&s->top_p, p->top_p);
    take_policy(&s->min_p, p->min_p);
    take_policy(&s->typical_p, p->typical_p);
    take_policy(&s->repetition_penalty, p->repetition_penalty);
}

/* Options that ask for a kind of sampling exclude beam search. */
rapt_generate_options generate_options_fill(const rapt_model *m, const rapt_generate_options *options)
{
    rapt_generate_options o = *options;
    const rapt_search_policy *p = &m->search;
    const bool asked = generate_options_ask(&o.sample);
    o.beam = !SIZED_AS_MODEL(o.beam) ? o.beam : p->given && !asked ? p->beams : 1;
    o.sample.greedy = o.sample.greedy || (p->greedy && !asked);
    generate_options_take_policy(p, &o.sample);
    o.sample = sampler_fill(&o.sample);
    return o;
}

rapt_code generate_options_copy(const rapt_model *m, const rapt_generate_options *o, arena *memory, rapt_generate_options *copy,
                                rapt_error *err)
{
    size_t biases = o->sample.bias_count;
    const char **stops = arena_array(memory, o->stop_count, sizeof *stops);
    rapt_logit_bias *bias = arena_array(memory, biases, sizeof *bias);
    bool ok = stops && bias;
    for (size_t i = 0; i < o->stop_count && ok; i++)
        ok = (stops[i] = arena_string(memory, o->stops[i])) != NULL;
    if (!ok)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the options of a text");
    if (biases > 0)
        memcpy(bias, o->sample.biases, biases * sizeof *bias);
    *copy = generate_options_fill(m, o);
    copy->stops = stops;
    copy->sample.biases = bias;
    return RAPT_OK;
}

rapt_code generate_options_take(const rapt_generate_options *given, rapt_generate_options *out, rapt_error *err)
{
    *out = rapt_generate_options_default();
    return sized_take(out, given, out->reserved, sizeof out->reserved, "generate_options", err);
}
