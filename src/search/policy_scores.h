/* search/policy_scores.h: from the logits of a position to the scores of its tokens, as rapt/policy.h describes it. For searches
 * and sampling with models of Hugging Face. */
#ifndef SEARCH_POLICY_SCORES_H
#define SEARCH_POLICY_SCORES_H

#include "kernels/kernels.h"
#include "rapt/policy.h"

typedef struct policy_rules {
    const rapt_search_policy *policy;
    const int32_t *eos; /* [eos_count] tokens that end a text */
    size_t eos_count;
    bool of_logits;     /* greedy search: the rules apply to logits, not to log-probabilities */
} policy_rules;

/* The text so far, and what rules need to know about it. */
typedef struct policy_text {
    const int32_t *tokens; /* [length] */
    size_t length, prompt; /* `prompt` of them were given */
    size_t max_length;
    const int32_t *source; /* [source_count] of a translation */
    size_t source_count;
} policy_text;

bool policy_ends(const policy_rules *r, int32_t token);

/* Whether policy_restrict may change anything. */
bool policy_restricts(const rapt_search_policy *p);

/* Step 2 for tokens[length], each penalized once, however often it occurs; log_sum 0: of logits. `seen` [classes] is scratch
 * memory, false before and after. */
void policy_penalize(double penalty, const int32_t *tokens, size_t length, bool *seen, size_t classes, rapt_real *x,
                     double log_sum);

/* Steps 3 to 5 of rapt/policy.h, which need no probabilities: sets x[classes] to -inf for excluded tokens. If a token is forced,
 * sets its x to 0 and all others to -inf. Returns whether a token is forced. */
bool policy_restrict(const policy_rules *r, const policy_text *t, size_t classes, rapt_real *x);

/* All steps, in place: afterwards the score of token i is x[i] - *log_sum, which is a log-probability for greedy search too.
 * `seen` [classes] is scratch memory, false before and after. RAPT_ERR_NOT_FINITE as in candidates_check. */
rapt_code policy_score(const kernels *k, const policy_rules *r, const policy_text *t, bool *seen, size_t classes, rapt_real *x,
                       double *log_sum, rapt_error *err);

#endif
