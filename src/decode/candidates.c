/* decode/candidates.c: see candidates.h. */
#include "decode/candidates.h"

#include <math.h>

#define BLOCK 64 /* logits whose maximum is compared with the worst candidate */

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

/* Nearly all are far below the worst: blocks whose maximum is certainly not above it are skipped, with a margin since sums are
 * rounded. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row)
{
    for (size_t first = 0; first < classes; first += BLOCK) {
        size_t end = first + BLOCK < classes ? first + BLOCK : classes;
        double worst = candidates_worst(l);
        rapt_real limit = (rapt_real)(worst - base - 1e-6 * (1 + fabs(worst) + fabs(base)));
        if (l->count == l->max && !(x[first + k->argmax(end - first, x + first)] > limit))
            continue;
        for (size_t j = first; j < end; j++)
            if (base + (double)x[j] > candidates_worst(l))
                candidates_insert(l, (candidate){base + (double)x[j], row, (int32_t)j});
    }
}
