/* search/policy_scores.c: the steps of rapt/policy.h. The steps, their order and what they count follow the logits processors of
 * transformers 5. */
#include "search/policy_scores.h"

#include "base/math.h"
#include "search/candidates.h"

#include <math.h>
#include <string.h>

bool policy_ends(const policy_rules *r, int32_t token)
{
    for (size_t i = 0; i < r->eos_count; i++)
        if (r->eos[i] == token)
            return true;
    return false;
}

/* ---- tokens that are excluded or forced --------------------------------------------------------------------------- */

static void exclude_tokens(const int32_t *ids, size_t count, rapt_real *x)
{
    for (size_t i = 0; i < count; i++)
        x[ids[i]] = -INFINITY;
}

/* Excludes tokens that, after the end of the text, complete an n-gram of the source. */
static void exclude_source_ngrams(size_t n, const policy_text *t, size_t classes, rapt_real *x)
{
    if (n == 0 || t->length + 1 < n)
        return;
    const int32_t *last = t->tokens + t->length + 1 - n;
    for (size_t i = 0; i + n <= t->source_count; i++)
        if (memcmp(t->source + i, last, (n - 1) * sizeof *last) == 0 && (size_t)t->source[i + n - 1] < classes)
            x[t->source[i + n - 1]] = -INFINITY;
}

static void exclude_bad_words(const policy_rules *r, const policy_text *t, rapt_real *x)
{
    const rapt_search_policy *p = r->policy;
    for (size_t i = 0; i < p->bad_word_count; i++) {
        const rapt_token_list *word = &p->bad_words[i];
        if (word->count > 1 || !policy_ends(r, word->ids[0]))
            candidates_ban_sequence(word->ids, word->count, t->tokens, t->length, x);
    }
}

static void force_tokens(const rapt_token_list *list, size_t classes, rapt_real *x)
{
    for (size_t i = 0; i < classes; i++)
        x[i] = -INFINITY;
    for (size_t i = 0; i < list->count; i++)
        x[list->ids[i]] = 0;
}

bool policy_restricts(const rapt_search_policy *p)
{
    return p->no_repeat_ngram || p->encoder_no_repeat_ngram || p->bad_word_count || p->min_length || p->min_new_tokens ||
           p->forced_bos.count || p->forced_eos.count || p->suppressed.count || p->suppressed_first.count;
}

bool policy_restrict(const policy_rules *r, const policy_text *t, size_t classes, rapt_real *x)
{
    const rapt_search_policy *p = r->policy;
    const size_t first = t->prompt + (t->prompt == 1 && p->forced_bos.count > 0);
    const bool first_forced = t->length == 1 && p->forced_bos.count > 0;
    const bool last_forced = t->length + 1 == t->max_length && p->forced_eos.count > 0;
    candidates_ban_repeats(p->no_repeat_ngram, t->tokens, t->length, x);
    exclude_source_ngrams(p->encoder_no_repeat_ngram, t, classes, x);
    exclude_bad_words(r, t, x);
    if (p->min_new_tokens ? t->length - t->prompt < p->min_new_tokens : t->length < p->min_length)
        exclude_tokens(r->eos, r->eos_count, x);
    if (first_forced)
        force_tokens(&p->forced_bos, classes, x);
    if (last_forced)
        force_tokens(&p->forced_eos, classes, x);
    exclude_tokens(p->suppressed.ids, p->suppressed.count, x);
    if (t->length == first)
        exclude_tokens(p->suppressed_first.ids, p->suppressed_first.count, x);
    return first_forced || last_forced;
}

/* ---- scores ------------------------------------------------------------------------------------------------------- */

/* *log_sum = log sum_i exp(x_i); 0 if no token is left. */
static rapt_code scores_log_sum(const kernels *k, size_t classes, const rapt_real *x, double *log_sum, rapt_error *err)
{
    rapt_real max, sum;
    k->log_sum_exp(classes, x, &max, &sum);
    *log_sum = max == -INFINITY ? 0 : (double)max + math_log((double)sum);
    return max == -INFINITY ? RAPT_OK : candidates_check(max, sum, err);
}

/* The sign that counts is the sign of x - log_sum. */
void policy_penalize(double penalty, const int32_t *tokens, size_t length, bool *seen, size_t classes, rapt_real *x,
                     double log_sum)
{
    for (size_t i = 0; i < length; i++) {
        int32_t id = tokens[i];
        if ((size_t)id >= classes || seen[id])
            continue;
        double score = (double)x[id] - log_sum;
        x[id] = (rapt_real)((score < 0 ? score * penalty : score / penalty) + log_sum);
        seen[id] = true;
    }
    for (size_t i = 0; i < length; i++)
        if ((size_t)tokens[i] < classes)
            seen[tokens[i]] = false;
}

rapt_code policy_score(const kernels *k, const policy_rules *r, const policy_text *t, bool *seen, size_t classes, rapt_real *x,
                       double *log_sum, rapt_error *err)
{
    const bool penalized = r->policy->repetition_penalty != 1, last_sum = r->policy->renormalize || r->of_logits;
    rapt_code code = RAPT_OK;
    *log_sum = 0;
    if (!last_sum || (penalized && !r->of_logits))
        code = scores_log_sum(k, classes, x, log_sum, err);
    if (!code && penalized)
        policy_penalize(r->policy->repetition_penalty, t->tokens, t->length, seen, classes, x, *log_sum);
    if (!code && policy_restrict(r, t, classes, x))
        *log_sum = 0;
    return !code && last_sum ? scores_log_sum(k, classes, x, log_sum, err) : code;
}
