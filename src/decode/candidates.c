/* decode/candidates.c: see candidates.h. */
#include "decode/candidates.h"

#include <math.h>

enum { BLOCK = 64, BLOCKS = 16 }; /* logits whose maximum is compared with the worst candidate, first of BLOCKS blocks at once */

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

static size_t candidates_end(size_t first, size_t count, size_t end)
{
    return count < end - first ? first + count : end;
}

/* Whether one of x[n] may get a place: certainly not where their maximum is below the worst, with a margin since sums are
 * rounded. */
static bool candidates_may_hold(const kernels *k, const candidate_list *l, size_t n, const rapt_real *x, double base)
{
    const double worst = candidates_worst(l);
    const rapt_real limit = (rapt_real)(worst - base - 1e-6 * (1 + fabs(worst) + fabs(base)));
    return l->count < l->max || x[k->argmax(n, x)] > limit;
}

/* Nearly all are far below the worst. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row)
{
    for (size_t at = 0, end; at < classes; at = end) {
        end = candidates_end(at, BLOCKS * BLOCK, classes);
        const bool some = candidates_may_hold(k, l, end - at, x + at, base);
        for (size_t first = at, last; some && first < end; first = last) {
            last = candidates_end(first, BLOCK, end);
            if (!candidates_may_hold(k, l, last - first, x + first, base))
                continue;
            for (size_t j = first; j < last; j++)
                if (base + (double)x[j] > candidates_worst(l))
                    candidates_insert(l, (candidate){base + (double)x[j], row, (int32_t)j});
        }
    }
}
