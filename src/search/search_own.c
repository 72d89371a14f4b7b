/* search/search_own.c: rapt's own rule of a search: probabilities are of all tokens, forced prefixes count, and a hypothesis
 * stays as long as it can still beat the worst result. Also the max length of a translation. */
#include "search/search_rule.h"

#include "base/math.h"
#include "io/model_core.h"
#include "search/policy_scores.h"
#include "search/whole_text.h"

#include <math.h>

/* The length penalty (Wu et al. 2016, eq. 14). */
static double own_penalty(double a, size_t length)
{
    return a == 0 ? 1 : math_pow((5 + (double)length) / 6, a);
}

/* The start token is not counted. */
static double own_score(const search *s, double log_prob, size_t length)
{
    return log_prob / own_penalty(s->options.length_penalty, length - s->text.known);
}

/* Bans tokens that would complete an n-gram that is there already (never <eos>), tokens that would not form whole characters, and
 * <eos> before the least length; within a character repeats are allowed. */
static void own_ban(const search *s, const search_row *row, rapt_real *x)
{
    const search_options *o = &s->options;
    const int32_t *tokens = row->tokens + s->text.known;
    const size_t length = s->length - s->text.known;
    if (!o->whole || !whole_text_is_open(o->whole, tokens, length))
        candidates_ban_repeats(o->no_repeat, tokens, length, x);
    if (o->whole)
        whole_text_ban(o->whole, tokens, length, s->classes, x);
    for (size_t i = 0; i < s->text.eos_count && s->length - s->text.count < search_min_length(o); i++)
        x[s->text.eos[i]] = -INFINITY;
}

/* The softmax is over all tokens, including banned ones, with their penalties. */
static rapt_code own_weigh(search *s, const search_row *row, rapt_real *x, double *base, rapt_error *err)
{
    rapt_real max, sum;
    const size_t known = s->text.known;
    if (search_penalizes(&s->options))
        policy_penalize(s->options.repetition_penalty, row->tokens + known, s->length - known, s->seen, s->classes, x, 0);
    s->k->log_sum_exp(s->classes, x, &max, &sum);
    *base = row->log_prob - (double)max - math_log((double)sum);
    if (candidates_check(max, sum, err))
        return RAPT_ERR_NOT_FINITE;
    if (s->length >= s->text.count)
        own_ban(s, row, x);
    return RAPT_OK;
}

/* The best score that an unfinished hypothesis can reach: log p only falls, and the penalty is largest at one end of the
 * remaining lengths. */
static double own_bound(const search *s, double log_prob)
{
    return fmax(own_score(s, log_prob, s->length + 2), own_score(s, log_prob, s->text.max_length));
}

/* The bound rises with log p, so the rows that it drops are the last ones. */
static void own_drop(search *s)
{
    const double worst = search_worst(s);
    while (s->next_count > 0 && s->found.count == s->wanted &&
           !(own_bound(s, s->next[s->next_count - 1].log_prob) > worst))
        s->next_count--;
}

const search_rule search_rule_own = {own_weigh, own_score, own_drop, .weighs_prompt = true, .late_ends = true};

/* ---- the max length of a translation ------------------------------------------------------------------------------ */

static size_t search_requested_limit(const rapt_model *m, size_t source_count, double ratio, size_t prefix_count)
{
    double requested = (ratio > 0 ? ratio : 2) * (double)source_count + 10 + (double)prefix_count;
    double positions = (double)m->translation.net->config.max_positions;
    size_t max_len = m->translation.max_len;
    if (ratio <= 0 && m->search.max_new_tokens > 0)
        requested = (double)m->search.max_new_tokens + (double)prefix_count;
    else if (ratio <= 0 && m->search.max_length > 1)
        requested = (double)m->search.max_length - 1; /* without the start token */
    bool padded = m->translation.pad_to_max && (ratio <= 0 || requested > (double)max_len);
    return padded ? max_len : (size_t)fmin(requested, positions);
}

/* It depends on the sentence alone. */
size_t search_limit(const rapt_model *m, const search_options *o, size_t source_count, size_t prefix_count)
{
    size_t max = m->translation.net->config.max_positions, min = prefix_count + 1;
    if (prefix_count > 0 && o->policy) /* the prefix comes after the token that is forced */
        min += o->policy->forced_bos.count;
    size_t limit = search_requested_limit(m, source_count, o->max_ratio, prefix_count);
    limit = limit > min ? limit : min;
    return limit < max ? limit : max;
}
