/* search/candidates.c: keeps the best candidates of a step, sorted, and says which tokens are none. */
#include "search/candidates.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The log-probability that a candidate must exceed to get a place. */
static double candidates_worst(const candidate_list *l)
{
    return l->count == l->max ? l->best[l->count - 1].log_prob : -INFINITY;
}

void candidates_insert(candidate_list *l, candidate c)
{
    size_t at = l->count < l->max ? l->count++ : l->count - 1;
    for (; at > 0 && c.log_prob > l->best[at - 1].log_prob; at--)
        l->best[at] = l->best[at - 1];
    l->best[at] = c;
}

/* A token with a logit below this cannot get a place; there is a margin because sums are rounded. While there are free places,
 * only banned tokens (-inf) are below it. */
static rapt_real candidates_limit(const candidate_list *l, double base)
{
    const double worst = candidates_worst(l);
    return l->count < l->max ? -FLT_MAX : (rapt_real)(worst - base - 1e-6 * (1 + fabs(worst) + fabs(base)));
}

/* Nearly all logits are below the limit: the kernel skips them. One place is for the first of the largest logits, even if sums
 * with `base` are equal. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row)
{
    if (l->max == 1) {
        const size_t best = k->argmax(classes, x);
        if (base + (double)x[best] > candidates_worst(l))
            candidates_insert(l, (candidate){base + (double)x[best], row, (int32_t)best});
        return;
    }
    for (size_t j = 0; (j += k->first_at_least(classes - j, x + j, candidates_limit(l, base))) < classes; j++)
        if (base + (double)x[j] > candidates_worst(l))
            candidates_insert(l, (candidate){base + (double)x[j], row, (int32_t)j});
}

void candidates_ban_repeats(size_t n, const int32_t *tokens, size_t length, rapt_real *logits)
{
    if (n == 0 || length < n)
        return;
    const int32_t *last = tokens + length - (n - 1);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(tokens + i, last, (n - 1) * sizeof *last) == 0)
            logits[tokens[i + n - 1]] = -INFINITY;
}

void candidates_ban_sequence(const int32_t *ids, size_t count, const int32_t *tokens, size_t length, rapt_real *logits)
{
    const size_t before = count - 1;
    if (before <= length && memcmp(ids, tokens + length - before, before * sizeof *ids) == 0)
        logits[ids[before]] = -INFINITY;
}

rapt_code candidates_check(rapt_real max, rapt_real sum, rapt_error *err)
{
    bool finite = isfinite(max) && isfinite(sum);
    return finite ? RAPT_OK : rapt_fail(err, RAPT_ERR_NOT_FINITE, "the model computes what is not a finite number");
}
