/* decode/translate_options.c: fills defaults of translation options and checks their ranges. */
#include "decode/translate_options.h"

#include "tensor/type.h"

#include <math.h>

#define LARGEST_BEAM ((size_t)1 << 16)
enum { LARGEST_PENALTY = 10, DEFAULT_PENALTY = 1 };

static rapt_code refuse_number(const char *what, int value, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: there is no number %d", what, value);
}

/* Checks the ranges that rapt/decode.h states, except `threads`, which the pool checks. */
static rapt_code check_options(const rapt_model *m, const rapt_translate_options *o, rapt_error *err)
{
    if (m->task != RAPT_TASK_TRANSLATION)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s does not translate",
                         m->task == RAPT_TASK_ENCODER ? "an encoder" : "a language model");
    if (o->beam > LARGEST_BEAM)
        return rapt_fail(err, RAPT_ERR_VALUE, "a beam of %zu; the largest is %zu", o->beam, LARGEST_BEAM);
    if (o->n_best > o->beam)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu hypotheses (--n-best) need a beam (--beam) of as many or more, not %zu",
                         o->n_best, o->beam);
    if (!(fabs(o->length_penalty) <= LARGEST_PENALTY))
        return rapt_fail(err, RAPT_ERR_VALUE, "a length penalty of %g is not between -%d and %d", o->length_penalty,
                         LARGEST_PENALTY, LARGEST_PENALTY);
    if (!(o->max_ratio >= 0))
        return rapt_fail(err, RAPT_ERR_VALUE, "a largest ratio of lengths of %g: it is 0 or more", o->max_ratio);
    if (type_check_products(o->compute.type, err) != RAPT_OK || type_check_kv(o->compute.kv_cache, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if ((unsigned)o->detokenize > RAPT_LANGUAGE_PORTUGUESE)
        return refuse_number("language", (int)o->detokenize, err);
    return (unsigned)o->split > RAPT_SENTENCE_SPLIT_ALL ? refuse_number("split", (int)o->split, err) : RAPT_OK;
}

rapt_code translate_options_fill(const rapt_model *m, const rapt_translate_options *options, rapt_translate_options *out,
                                 rapt_error *err)
{
    const rapt_search_policy *p = &m->search;
    const double penalty = p->given ? p->length_penalty : DEFAULT_PENALTY;
    const rapt_translate_options none = {0}, *o = options ? options : &none;
    *out = *o;
    out->beam = o->beam ? o->beam : p->given ? p->beams : 1;
    out->n_best = o->n_best ? o->n_best : 1;
    out->batch = o->batch ? o->batch : RAPT_TRANSLATE_BATCH;
    out->length_penalty = o->no_length_penalty ? 0 : o->length_penalty != 0 ? o->length_penalty : penalty;
    out->no_repeat = o->no_repeat == RAPT_NO_REPEAT_OFF ? 0 : o->no_repeat ? o->no_repeat : p->no_repeat_ngram;
    return check_options(m, out, err);
}
