/* decode/candidates.c: keeps the best candidates of a step, sorted. */
#include "decode/candidates.h"

#include <float.h>
#include <math.h>

double candidates_worst(const candidate_list *l)
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

/* Nearly all logits are below the limit: the kernel skips them. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row)
{
    for (size_t j = 0; (j += k->first_at_least(classes - j, x + j, candidates_limit(l, base))) < classes; j++)
        if (base + (double)x[j] > candidates_worst(l))
            candidates_insert(l, (candidate){base + (double)x[j], row, (int32_t)j});
}
