/* search/search_policy.c: the rule of the beam search of transformers 5 (rapt/policy.h): it decides in the same way which
 * hypotheses end, which stay, and when a search is over. transformers fills up the rows of a text that has fewer hypotheses than
 * beams with a score of -1e9; here such a text has fewer rows. Sums are doubles here, floats there. */
#include "search/policy_scores.h"
#include "search/search_rule.h"

#include "base/math.h"

static double policy_score_of(const search *s, double log_prob, size_t length)
{
    const double penalty = s->options.length_penalty;
    return penalty == 0 ? log_prob : log_prob / math_pow((double)(length - s->text.count), penalty);
}

static rapt_code policy_weigh(search *s, const search_row *row, rapt_real *x, double *base, rapt_error *err)
{
    rapt_search_policy policy = *s->options.policy;
    policy.no_repeat_ngram = s->options.no_repeat;
    if (s->options.repetition_penalty != 0)
        policy.repetition_penalty = s->options.repetition_penalty;
    if (s->options.min_length > 0)
        policy.min_length = 0, policy.min_new_tokens = search_min_length(&s->options);
    const policy_rules rules = {&policy, s->text.eos, s->text.eos_count, s->options.beam == 1};
    const policy_text so_far = {row->tokens, s->length, s->text.count, s->text.max_length, s->text.source, s->text.source_count};
    double log_sum = 0;
    rapt_code code = policy_score(s->k, &rules, &so_far, s->seen, s->classes, x, &log_sum, err);
    *base = row->log_prob - log_sum;
    return code;
}

/* Once a text has as many hypotheses as beams, all rows are dropped if the best one is not to improve them. */
static void policy_drop(search *s)
{
    const rapt_early_stopping stopping = s->options.policy->early_stopping;
    if (s->next_count == 0 || s->enough > 0 || s->found.count < s->wanted)
        return;
    const bool at_the_end = stopping == RAPT_EARLY_STOPPING_NEVER && s->options.length_penalty > 0;
    const size_t length = at_the_end ? s->text.max_length : s->length + 1;
    if (s->options.beam == 1 || stopping == RAPT_EARLY_STOPPING_YES ||
        !(policy_score_of(s, s->next[0].log_prob, length) > search_worst(s)))
        s->next_count = 0;
}

const search_rule search_rule_of_policy = {.weigh = policy_weigh, .score = policy_score_of, .drop = policy_drop};
